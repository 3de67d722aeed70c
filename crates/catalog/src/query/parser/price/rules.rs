//! Recognises the price conditions of a query.
//!
//! ```text
//! condition = [lead] cue amount [trailer]        for under $50
//!           | [lead] amount joiner amount        $20-$50, price 20 to 50
//!           | [lead] between amount and amount   between 20 and 50
//!           | [lead] amount and amount closing   100 ja 200 euron välillä
//!           | amount suffix                      $50 or less
//!           | lead amount                        for $12, budget 50
//!           | [lead] negation cue amount         can't pay more than 80
//!           | [lead] negation amount suffix      nothing $80 or more
//! ```
//!
//! A negated comparison becomes its opposite where that is clear, and is ignored otherwise. An
//! amount without a currency is a price only where it can be nothing else.

use rust_decimal::Decimal;

use super::{
    PriceConstraint, PriceKind,
    amount::{Amount, Amounts},
    context::{Following, following, is_measure, is_name_with_max, is_person},
    cues::{
        BETWEEN_WORDS, Bare, CLOSING_WORDS, CUE_WORDS, Cue, FILLER_WORDS, JOINER_WORDS, LEAD_WORDS,
        Lead, NEGATED_AT_END, NEGATED_WORDS, PARTICLE_WORDS, SUFFIX_WORDS, TRAILER_WORDS,
    },
    negation::{Negation, comparison_at, continued_at, negation_at, rejected_noun_at, takes_noun},
};
use crate::{
    query::parser::{lexicon::Lexicon, query_tokens::QueryTokens, segmentation::is_unspaced},
    text::{
        lexer::{Span, TokenKind},
        vocabulary::TermLookup,
    },
};

const MAX_LEADS: usize = 3;
const MAX_FILLERS: usize = 2;
/// Smaller numbers before a noun are ages ("under 14 squad") rather than prices.
const MIN_BEFORE_NOUN: i64 = 25;
/// "kids under 18" are an age, "kids under 20" a price.
const OLDEST_CHILD: i64 = 18;
const OLDEST_PERSON: i64 = 100;
/// Smaller numbers in words are idioms: "under one roof", "over two shoulders".
const MIN_IN_WORDS: i64 = 10;
/// The most words of a negation at the end of a query.
const MAX_NEGATION_AT_END: usize = 3;
const MIN_WITH_SUFFIX: i64 = 20;
const MIN_WITH_UNSPACED_SUFFIX: i64 = 100;
const YEARS: std::ops::RangeInclusive<i64> = 1900..=2099;

/// A condition and the exclusive end of its tokens.
type Match = (PriceConstraint, usize);

/// The result of a negated comparison.
enum Negated {
    /// The opposite of the comparison.
    Inverted(Match),
    /// No definite condition; the exclusive end of its tokens.
    Unclear(usize),
}

/// The price conditions of a query.
#[derive(Debug, Default)]
pub(in crate::query::parser) struct Prices {
    /// All conditions, in order, each with its tokens.
    pub(in crate::query::parser) conditions: Vec<(PriceConstraint, Span)>,
    /// The tokens of negated comparisons without a definite meaning.
    pub(in crate::query::parser) unclear: Vec<Span>,
}

/// Finds the price conditions among the tokens.
pub(in crate::query::parser) fn parse(tokens: &QueryTokens, knows: TermLookup) -> Prices {
    let parser = Parser { tokens, amounts: Amounts::of(tokens, knows), knows };
    let mut prices = Prices::default();
    let mut at = 0;
    let mut follows_negated = false;
    while at < tokens.len() {
        let negated = parser.negated(at, follows_negated);
        follows_negated = negated.is_some();
        let found = match negated {
            Some(Negated::Unclear(end)) => {
                prices.unclear.push(at..end);
                at = end;
                continue;
            }
            Some(Negated::Inverted(found)) => Some(found),
            None => parser.at(at),
        };
        at = match found {
            Some((constraint, end)) => {
                prices.conditions.push((constraint, at..end));
                end
            }
            None => at + 1,
        };
    }
    prices
}

struct Parser<'a> {
    tokens: &'a QueryTokens<'a>,
    amounts: Amounts<'a>,
    knows: TermLookup<'a>,
}

impl Parser<'_> {
    /// The negated comparison that begins at a token. After another one, an alternative without a
    /// negator of its own is negated as well: "not under 20 or over 80".
    fn negated(&self, start: usize, follows_negated: bool) -> Option<Negated> {
        if self.is_in_a_name(start) {
            return None;
        }
        if let Some(end) = self.rejected_noun(start) {
            return Some(Negated::Unclear(end));
        }
        let (lead, at) = self.leads(start);
        let is_cue = self.tokens.word(at) == "no" && CUE_WORDS.is_at(self.tokens, at);
        if is_cue {
            return None;
        }
        let continued = || continued_at(self.tokens, at).filter(|_| follows_negated);
        let negation = negation_at(self.tokens, at).or_else(continued)?;
        let (inner, at) = self.leads(negation.end);
        let is_price =
            negation.is_price || [lead, inner].iter().flatten().any(|lead| lead.is_price);
        match comparison_at(self.tokens, at).filter(|_| negation.inverts) {
            Some((cue, end)) if opposite(cue.kind).is_some() => {
                self.inverted(start, is_price, cue, end)
            }
            _ => self.inverted_suffix(start, at, negation).or_else(|| {
                // An amount here belongs to the negation: "not for $50", "can't spend 80".
                let lead = Lead { is_price, alone: PriceKind::About };
                let plain = self.plain(start, at, Some(lead), is_price).map(|(_, end)| end);
                plain.or_else(|| self.after_noun(start, at)).map(Negated::Unclear)
            }),
        }
    }

    /// "ich will keine Schuhe über 50 Euro": a ceiling for shoes, or a floor and no shoes. Returns the
    /// exclusive end of its tokens.
    fn rejected_noun(&self, start: usize) -> Option<usize> {
        let after = rejected_noun_at(self.tokens, start)? + 1;
        let filler = FILLER_WORDS.longest_at(self.tokens, after).map(|(_, end)| end);
        let comparison = comparison_at(self.tokens, after)
            .or_else(|| comparison_at(self.tokens, filler.unwrap_or(after + 1)));
        let (_, end) = comparison.filter(|(cue, _)| opposite(cue.kind).is_some())?;
        Some(self.amount_after(end)?.end)
    }

    /// "no lamps over $80" at the start of a query is ambiguous: a ceiling for lamps, or a floor and
    /// no lamps. Returns the exclusive end of its tokens.
    fn after_noun(&self, start: usize, at: usize) -> Option<usize> {
        let is_beginning = start == 0
            && at == 1
            && takes_noun(self.tokens.word(start))
            && self.tokens.is(at, TokenKind::Word);
        let (cue, end) = comparison_at(self.tokens, at + 1).filter(|_| is_beginning)?;
        let amount = self.amount_after(end).filter(|_| cue.kind == PriceKind::Above)?;
        Some(amount.end)
    }

    /// "not over 80"
    fn inverted(&self, start: usize, is_price: bool, cue: Cue, at: usize) -> Option<Negated> {
        let amount = self.amount_after(at)?;
        let cue = Cue { kind: opposite(cue.kind)?, ..cue };
        let is_price = amount.is_marked || self.is_price(start, is_price, cue, &amount);
        Some(match is_price {
            true => Negated::Inverted(self.one(start, cue.kind, &amount)),
            false => Negated::Unclear(amount.end),
        })
    }

    /// "nothing $80 or more"; "not $80 or less" has no definite meaning.
    fn inverted_suffix(&self, start: usize, at: usize, negation: Negation) -> Option<Negated> {
        let (constraint, end) = self.with_suffix(start, at)?;
        let floor = constraint.floor.filter(|_| constraint.kind == PriceKind::AtLeast);
        let Some(floor) = floor.filter(|_| negation.inverts) else {
            return Some(Negated::Unclear(end));
        };
        let PriceConstraint { currency, span, .. } = constraint;
        let below = PriceConstraint::one(PriceKind::Below, floor.amount, currency, span);
        Some(Negated::Inverted((below, end)))
    }

    fn at(&self, start: usize) -> Option<Match> {
        if self.is_in_a_name(start) {
            return None;
        }
        let (lead, at) = self.leads(start);
        let is_price = lead.is_some_and(|lead| lead.is_price);
        self.plain(start, at, lead, is_price)
    }

    /// The condition that begins after these leads.
    fn plain(&self, start: usize, at: usize, lead: Option<Lead>, is_price: bool) -> Option<Match> {
        let cued = CUE_WORDS
            .longest_at(self.tokens, at)
            .and_then(|(cue, end)| self.with_cue(start, is_price, cue, end));
        cued.or_else(|| self.range(start, at, is_price, &JOINER_WORDS))
            .or_else(|| self.closed_range(start, at, is_price))
            .or_else(|| self.with_suffix(start, at))
            .or_else(|| self.with_lead(start, at, lead?))
    }

    /// Whether a token is part of a name: the `max` of `z-max 15`, the `~` of `36~47`.
    fn is_in_a_name(&self, at: usize) -> bool {
        let is_sign = self.tokens.is(at, TokenKind::Sign) && self.tokens.word(at) != "~";
        let is_bound = || {
            !self.tokens.is(at - 1, TokenKind::Sign)
                || matches!(self.tokens.word(at - 1), "-" | "&")
        };
        self.tokens.is_glued(at) && !is_sign && is_bound()
    }

    /// The most specific of the leads at a token, and the exclusive end of all of them.
    fn leads(&self, start: usize) -> (Option<Lead>, usize) {
        let mut lead_so_far: Option<Lead> = None;
        let mut at = start;
        for _ in 0..MAX_LEADS {
            let Some((lead, end)) = LEAD_WORDS.longest_at(self.tokens, at) else { break };
            let is_cue = CUE_WORDS.longest_at(self.tokens, at).is_some_and(|(_, cued)| cued > end);
            if is_cue {
                break;
            }
            lead_so_far = lead_so_far
                .filter(|lead_so_far| lead_so_far.is_price || !lead.is_price)
                .or(Some(lead));
            at = end;
        }
        (lead_so_far, at)
    }

    fn with_cue(&self, start: usize, is_price: bool, cue: Cue, at: usize) -> Option<Match> {
        if cue.kind == PriceKind::Between {
            let is_price =
                is_price || cue.bare != Bare::Never && self.is_range_of_prices(start, cue, at);
            return self.range(start, at, is_price, &BETWEEN_WORDS);
        }
        let is_from_to =
            cue.kind == PriceKind::AtLeast && self.two_amounts(at, &JOINER_WORDS).is_some();
        if is_from_to {
            return self.range(start, at, is_price, &JOINER_WORDS);
        }
        let amount = self.amount_after(at)?;
        let may_read = amount.is_marked || self.is_price(start, is_price, cue, &amount);
        may_read.then(|| self.one(start, cue.kind, &amount))
    }

    /// The amount after a cue and optional fillers.
    fn amount_after(&self, at: usize) -> Option<Amount> {
        let mut at = at;
        for _ in 0..=MAX_FILLERS {
            let is_glued = self.tokens.word_before(at) == "-";
            let glued = || self.amounts.after_joiner(at).filter(|_| is_glued);
            if let Some(amount) = self.amounts.at(at).or_else(glued) {
                return Some(amount);
            }
            at = FILLER_WORDS.longest_at(self.tokens, at)?.1;
        }
        None
    }

    fn one(&self, start: usize, kind: PriceKind, amount: &Amount) -> Match {
        let trailer = TRAILER_WORDS.longest_at(self.tokens, amount.end).map(|(_, end)| end);
        // The "or under" of "over $80 or under $20" begins another condition.
        let end = trailer.filter(|end| self.amounts.at(*end).is_none()).unwrap_or(amount.end);
        let end = self.past_particle(end);
        let span = self.tokens.span(start, end);
        (PriceConstraint::one(kind, amount.value, amount.currency, span), end)
    }

    /// Whether a number without a currency is a price after this cue.
    fn is_price(&self, start: usize, is_price: bool, cue: Cue, amount: &Amount) -> bool {
        let bare = if is_price { Bare::Always } else { cue.bare };
        let at_least = |least: i64| amount.value >= Decimal::from(least);
        let fits = match (bare, following(self.tokens, amount.end)) {
            (Bare::Never, _) | (_, Following::Measured) => false,
            (_, Following::Nothing) | (Bare::Always, Following::Noun) => true,
            (Bare::BeforeNoun, Following::Noun) => at_least(MIN_BEFORE_NOUN),
            (Bare::Last, Following::Noun) => false,
        };
        fits && !amount.value.is_zero()
            && (is_price
                || at_least(i64::from(cue.least))
                    && (!amount.is_in_words || at_least(MIN_IN_WORDS))
                    && !self.is_measured(start, cue.kind, amount.value)
                    && !(cue.may_be_year && is_year(amount.value))
                    && !(cue.is_name && self.is_named_max(start, amount.value)))
    }

    /// Whether the word before makes the number a size or an age.
    fn is_measured(&self, start: usize, kind: PriceKind, value: Decimal) -> bool {
        let before = self.tokens.word_before(start);
        let oldest = match kind {
            PriceKind::Below | PriceKind::AtMost => OLDEST_CHILD,
            _ => OLDEST_PERSON,
        };
        let is_person =
            is_person(self.tokens, before) || kind == PriceKind::Above && before == "is";
        is_measure(self.tokens, before) || is_person && value <= Decimal::from(oldest)
    }

    /// "air max 90" is a name, by our list or because the shop's vocabulary has "max".
    fn is_named_max(&self, at: usize, value: Decimal) -> bool {
        let is_round = (value % Decimal::from(5)).is_zero();
        !is_round || is_name_with_max(self.tokens.word_before(at)) || (self.knows)("max")
    }

    /// Whether "between" is followed by two numbers that can only be prices.
    fn is_range_of_prices(&self, start: usize, cue: Cue, at: usize) -> bool {
        let Some((_, high)) = self.two_amounts(at, &BETWEEN_WORDS) else { return false };
        self.is_price(start, false, cue, &high)
    }

    fn range(
        &self,
        start: usize,
        at: usize,
        is_price: bool,
        joiners: &Lexicon<()>,
    ) -> Option<Match> {
        let (low, high) = self.two_amounts(at, joiners)?;
        let is_measured = !(low.is_marked || high.is_marked)
            && following(self.tokens, high.end) == Following::Measured;
        if is_measured || !(is_price || low.is_marked || high.is_marked) {
            return None;
        }
        let currency = match (low.currency, high.currency) {
            (Some(one), Some(other)) if one != other => return None,
            (one, other) => one.or(other),
        };
        let end = match self.tokens.word(high.end) {
            "range" => high.end + 1,
            _ => TRAILER_WORDS
                .longest_at(self.tokens, high.end)
                .or_else(|| CLOSING_WORDS.longest_at(self.tokens, high.end))
                .map_or(high.end, |(_, end)| end),
        };
        let end = self.past_particle(end);
        let span = self.tokens.span(start, end);
        Some((PriceConstraint::range(low.value, high.value, currency, span), end))
    }

    /// "100 ja 200 euron välillä": the word for "between" comes last.
    fn closed_range(&self, start: usize, at: usize, is_price: bool) -> Option<Match> {
        let (_, high) = self.two_amounts(at, &BETWEEN_WORDS)?;
        let is_closed = CLOSING_WORDS.is_at(self.tokens, high.end);
        is_closed.then(|| self.range(start, at, is_price, &BETWEEN_WORDS))?
    }

    /// The end of the particle that follows a condition.
    fn past_particle(&self, end: usize) -> usize {
        PARTICLE_WORDS.longest_at(self.tokens, end).map_or(end, |(_, end)| end)
    }

    fn two_amounts(&self, at: usize, joiners: &Lexicon<()>) -> Option<(Amount, Amount)> {
        let low = self.amounts.at(at)?;
        let (_, joined) = joiners.longest_at(self.tokens, low.end)?;
        let high = self.amounts.at(joined).or_else(|| self.amounts.after_joiner(joined))?;
        let shares_multiplier =
            low.multiplier == Decimal::ONE && low.value * high.multiplier < high.value;
        let low = match shares_multiplier {
            true => Amount { value: low.value * high.multiplier, ..low },
            false => low,
        };
        Some((low, high))
    }

    fn with_suffix(&self, start: usize, at: usize) -> Option<Match> {
        let amount = self.amounts.at(at)?;
        let (suffix, end) = SUFFIX_WORDS.longest_at(self.tokens, amount.end)?;
        // Without spaces, the next noun follows the suffix at once: 3000以下的手机.
        let (least, is_last) = match self.tokens.word(amount.end).starts_with(is_unspaced) {
            true => (MIN_WITH_UNSPACED_SUFFIX, !is_year(amount.value)),
            false => (MIN_WITH_SUFFIX, following(self.tokens, end) == Following::Nothing),
        };
        let is_price = || {
            suffix.takes_bare
                && amount.value >= Decimal::from(least)
                && is_last
                && !self.is_measured(start, suffix.kind, amount.value)
                && !(suffix.is_name && self.is_named_max(start, amount.value))
        };
        let is_negated = NEGATED_WORDS.is_at(self.tokens, end) || self.is_negated_at_end(end);
        if is_negated || !amount.is_marked && !is_price() {
            return None;
        }
        let end = self.past_particle(end);
        let span = self.tokens.span(start, end);
        let constraint = PriceConstraint::one(suffix.kind, amount.value, amount.currency, span);
        Some((constraint, end))
    }

    /// Whether the query ends with a phrase that rejects what comes before it.
    fn is_negated_at_end(&self, from: usize) -> bool {
        let len = (0..self.tokens.len()).rev().find(|at| !self.tokens.is(*at, TokenKind::Sign));
        let len = len.map_or(0, |last| last + 1);
        let ends_here = |at: usize| NEGATED_AT_END.longest_at(self.tokens, at);
        (from.max(len.saturating_sub(MAX_NEGATION_AT_END))..len)
            .any(|at| ends_here(at).is_some_and(|(_, end)| end == len))
    }

    fn with_lead(&self, start: usize, at: usize, lead: Lead) -> Option<Match> {
        let amount = self.amounts.at(at)?;
        let is_price = amount.is_marked
            || lead.is_price
                && following(self.tokens, amount.end) == Following::Nothing
                && !is_measure(self.tokens, self.tokens.word_before(start))
                && !amount.value.is_zero();
        is_price.then(|| self.one(start, lead.alone, &amount))
    }
}

/// The opposite of a comparison, for those that are commonly negated.
fn opposite(kind: PriceKind) -> Option<PriceKind> {
    match kind {
        PriceKind::Above => Some(PriceKind::AtMost),
        PriceKind::Below => Some(PriceKind::AtLeast),
        PriceKind::AtMost | PriceKind::AtLeast | PriceKind::Between | PriceKind::About => None,
    }
}

fn is_year(value: Decimal) -> bool {
    value.is_integer() && YEARS.contains(&i64::try_from(value).unwrap_or_default())
}
