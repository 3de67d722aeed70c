//! Which conditions on the price does a query state, and where?
//!
//! ```text
//! condition = [lead] cue amount [trailer]        for under $50
//!           | [lead] amount joiner amount        $20-$50, price 20 to 50
//!           | [lead] between amount and amount   between 20 and 50
//!           | amount suffix                      $50 or less
//!           | lead amount                        for $12, budget 50
//! ```
//!
//! An amount without a currency is a price only where nothing else may own the number.

use rust_decimal::Decimal;

use super::amount::{Amount, Amounts};
use super::claims::{Behind, behind, is_measure, is_someone};
use super::cues::{
    BETWEEN_WORDS, Bare, CUE_WORDS, Cue, FILLER_WORDS, JOINER_WORDS, LEAD_WORDS, Lead,
    SUFFIX_WORDS, TRAILER_WORDS,
};
use super::lexicon::Lexicon;
use super::tokens::{Kind, Tokens};
use super::{Knows, PriceConstraint, PriceKind, Span};

const MAX_LEADS: usize = 3;
const MAX_FILLERS: usize = 2;
/// "under 14 squad" is an age; nobody writes "under 14 shoes" of a price.
const LEAST_BEFORE_NOUN: i64 = 25;
/// "kids under 18" are an age, "kids under 20" a price.
const OLDEST_CHILD: i64 = 18;
const OLDEST_PERSON: i64 = 100;
/// "under one roof", "over two shoulders".
const LEAST_IN_WORDS: i64 = 10;
const LEAST_WITH_SUFFIX: i64 = 20;
const YEARS: std::ops::RangeInclusive<i64> = 1900..=2099;
/// Words before "max" that make it a name.
const NAMES_WITH_MAX: &[&str] =
    &["", "air", "airpods", "iphone", "ipad", "mad", "nike", "phone", "plus", "pro", "ultra"];

/// A condition and the token behind it.
type Read = (PriceConstraint, usize);

/// All conditions, in order, each with its tokens.
pub(super) fn read(tokens: &Tokens, knows: Knows) -> Vec<(PriceConstraint, Span)> {
    let reader = Reader { tokens, amounts: Amounts::of(tokens, knows), knows };
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match reader.at(at) {
            Some((constraint, end)) => {
                found.push((constraint, at..end));
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

struct Reader<'a> {
    tokens: &'a Tokens<'a>,
    amounts: Amounts<'a>,
    knows: Knows<'a>,
}

impl Reader<'_> {
    fn at(&self, start: usize) -> Option<Read> {
        if self.is_in_a_name(start) {
            return None;
        }
        let (lead, at) = self.leads(start);
        let is_price = lead.is_some_and(|lead| lead.is_price);
        let cued = CUE_WORDS
            .longest_at(self.tokens, at)
            .and_then(|(cue, end)| self.with_cue(start, is_price, cue, end));
        cued.or_else(|| self.range(start, at, is_price, &JOINER_WORDS))
            .or_else(|| self.with_suffix(start, at))
            .or_else(|| self.with_lead(start, at, lead?))
    }

    /// The `max` of `z-max 15` and the `~` of `36~47`; amounts see to themselves.
    fn is_in_a_name(&self, at: usize) -> bool {
        let is_sign = self.tokens.is(at, Kind::Sign) && self.tokens.word(at) != "~";
        let is_bound =
            || !self.tokens.is(at - 1, Kind::Sign) || matches!(self.tokens.word(at - 1), "-" | "&");
        self.tokens.is_glued(at) && !is_sign && is_bound()
    }

    /// The most telling of the leads that stand here, and the token behind them.
    fn leads(&self, start: usize) -> (Option<Lead>, usize) {
        let mut told: Option<Lead> = None;
        let mut at = start;
        for _ in 0..MAX_LEADS {
            let Some((lead, end)) = LEAD_WORDS.longest_at(self.tokens, at) else { break };
            let is_fur =
                self.tokens.word(at) == "fur" && !self.tokens.raw(at, end).contains(['ü', 'Ü']);
            if is_fur {
                break;
            }
            let is_cue = CUE_WORDS.longest_at(self.tokens, at).is_some_and(|(_, cued)| cued > end);
            if is_cue {
                break;
            }
            told = told.filter(|told| told.is_price || !lead.is_price).or(Some(lead));
            at = end;
        }
        (told, at)
    }

    fn with_cue(&self, start: usize, is_price: bool, cue: Cue, at: usize) -> Option<Read> {
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
        let amount = self.amount_behind(at)?;
        let may_read = amount.is_marked || self.is_price(start, is_price, cue, &amount);
        may_read.then(|| self.one(start, cue.kind, &amount))
    }

    /// The amount behind a cue, with fillers between.
    fn amount_behind(&self, at: usize) -> Option<Amount> {
        let mut at = at;
        for _ in 0..=MAX_FILLERS {
            let is_glued = self.tokens.word_before(at) == "-";
            let glued = || self.amounts.behind_joiner(at).filter(|_| is_glued);
            if let Some(amount) = self.amounts.at(at).or_else(glued) {
                return Some(amount);
            }
            at = FILLER_WORDS.longest_at(self.tokens, at)?.1;
        }
        None
    }

    fn one(&self, start: usize, kind: PriceKind, amount: &Amount) -> Read {
        let end =
            TRAILER_WORDS.longest_at(self.tokens, amount.end).map_or(amount.end, |(_, end)| end);
        let span = self.tokens.span(start, end);
        (PriceConstraint::one(kind, amount.value, amount.currency, span), end)
    }

    /// Whether a number without a currency is a price behind this cue.
    fn is_price(&self, start: usize, is_price: bool, cue: Cue, amount: &Amount) -> bool {
        let bare = if is_price { Bare::Always } else { cue.bare };
        let at_least = |least: i64| amount.value >= Decimal::from(least);
        let fits = match (bare, behind(self.tokens, amount.end)) {
            (Bare::Never, _) | (_, Behind::Claim) => false,
            (_, Behind::Nothing) | (Bare::Always, Behind::Noun) => true,
            (Bare::BeforeNoun, Behind::Noun) => at_least(LEAST_BEFORE_NOUN),
            (Bare::Last, Behind::Noun) => false,
        };
        fits && !amount.value.is_zero()
            && (is_price
                || at_least(i64::from(cue.least))
                    && (!amount.is_in_words || at_least(LEAST_IN_WORDS))
                    && !self.is_measured(start, cue.kind, amount.value)
                    && !(cue.may_be_year && is_year(amount.value))
                    && !(cue.is_name && self.is_named_max(start, amount.value)))
    }

    /// Whether the word before says that the number is a size or an age.
    fn is_measured(&self, start: usize, kind: PriceKind, value: Decimal) -> bool {
        let before = self.tokens.word_before(start);
        let oldest = match kind {
            PriceKind::Below | PriceKind::AtMost => OLDEST_CHILD,
            _ => OLDEST_PERSON,
        };
        let is_person = is_someone(before) || kind == PriceKind::Above && before == "is";
        is_measure(before) || is_person && value <= Decimal::from(oldest)
    }

    /// "air max 90": the shop's own words know such names, and so do we.
    fn is_named_max(&self, at: usize, value: Decimal) -> bool {
        let is_round = (value % Decimal::from(5)).is_zero();
        !is_round || NAMES_WITH_MAX.contains(&self.tokens.word_before(at)) || (self.knows)("max")
    }

    /// Whether "between" is followed by two numbers that nothing else owns.
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
    ) -> Option<Read> {
        let (low, high) = self.two_amounts(at, joiners)?;
        let is_claimed =
            !(low.is_marked || high.is_marked) && behind(self.tokens, high.end) == Behind::Claim;
        if is_claimed || !(is_price || low.is_marked || high.is_marked) {
            return None;
        }
        let currency = match (low.currency, high.currency) {
            (Some(one), Some(other)) if one != other => return None,
            (one, other) => one.or(other),
        };
        let end = match self.tokens.word(high.end) {
            "range" => high.end + 1,
            _ => TRAILER_WORDS.longest_at(self.tokens, high.end).map_or(high.end, |(_, end)| end),
        };
        let span = self.tokens.span(start, end);
        Some((PriceConstraint::range(low.value, high.value, currency, span), end))
    }

    fn two_amounts(&self, at: usize, joiners: &Lexicon<()>) -> Option<(Amount, Amount)> {
        let low = self.amounts.at(at)?;
        let (_, joined) = joiners.longest_at(self.tokens, low.end)?;
        let high = self.amounts.at(joined).or_else(|| self.amounts.behind_joiner(joined))?;
        let shares_multiplier =
            low.multiplier == Decimal::ONE && low.value * high.multiplier < high.value;
        let low = match shares_multiplier {
            true => Amount { value: low.value * high.multiplier, ..low },
            false => low,
        };
        Some((low, high))
    }

    fn with_suffix(&self, start: usize, at: usize) -> Option<Read> {
        let amount = self.amounts.at(at)?;
        let (suffix, end) = SUFFIX_WORDS.longest_at(self.tokens, amount.end)?;
        let is_price = || {
            suffix.takes_bare
                && amount.value >= Decimal::from(LEAST_WITH_SUFFIX)
                && behind(self.tokens, end) == Behind::Nothing
                && !self.is_measured(start, suffix.kind, amount.value)
                && !(suffix.is_name && self.is_named_max(start, amount.value))
        };
        if !amount.is_marked && !is_price() {
            return None;
        }
        let span = self.tokens.span(start, end);
        let constraint = PriceConstraint::one(suffix.kind, amount.value, amount.currency, span);
        Some((constraint, end))
    }

    fn with_lead(&self, start: usize, at: usize, lead: Lead) -> Option<Read> {
        let amount = self.amounts.at(at)?;
        let is_price = amount.is_marked
            || lead.is_price
                && behind(self.tokens, amount.end) == Behind::Nothing
                && !amount.value.is_zero();
        is_price.then(|| self.one(start, lead.alone, &amount))
    }
}

fn is_year(value: Decimal) -> bool {
    value.is_integer() && YEARS.contains(&i64::try_from(value).unwrap_or_default())
}
