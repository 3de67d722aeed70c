//! What a query asks for.

use std::ops::Range;

use super::{
    lexicon::{Certainty, Origin, class},
    reading::{Gap, Match, Reading, Zone},
    title::is_bed_size,
};
use crate::{
    product::inferred::{Attribute, InferredAttributes, PETS},
    text::analysis::singular,
};

/// Words for an amount of a material.
#[rustfmt::skip]
const AMOUNTS: &[&str] = &[
    "bag", "ball", "bar", "block", "bolt", "box", "bundle", "bunch", "length", "meter", "metre", "pack",
    "pad", "piece", "ream", "reel", "roll", "sack", "sheet", "skein", "slab", "spool", "strip", "yard",
];

/// An attribute that a query asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryAttribute {
    /// The attribute.
    pub attribute: Attribute,
    /// The accepted values, as bits.
    pub values: u64,
    /// Where the query says it, in bytes.
    pub words: Range<usize>,
    /// The word if it is a shade or a species ("navy", "oak") and not a general one ("blue").
    pub special: Option<&'static str>,
    /// Whether it modifies what the query names: a content word follows, or "in", "made of", "for"
    /// precedes.
    pub is_modifier: bool,
    /// Whether nothing else will do: "only", "must be".
    pub is_required: bool,
}

impl QueryAttribute {
    /// Whether it asks for something for pets.
    pub fn is_for_pets(&self) -> bool {
        self.attribute == Attribute::Audience && self.values & !PETS == 0
    }

    /// The canonical values, in canonical order.
    pub fn value_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        InferredAttributes::of(self.attribute, self.values).values(self.attribute)
    }
}

/// The attributes that a query asks for, in the order of its words.
pub type QueryAttributes = Vec<QueryAttribute>;

/// What a query asks for. A word that names the thing is no attribute ("orange juice", "wine
/// glass"), nor is one that the query excludes ("not leather").
pub fn infer_query(text: &str) -> QueryAttributes {
    let query = Query { reading: Reading::of(text) };
    let mut all = QueryAttributes::new();
    for found in query.reading.matches() {
        if let Some(is_modifier) = query.asks_for(&found) {
            query.push(&mut all, &found, is_modifier);
        }
    }
    let names_audience = all.iter().any(|one| one.attribute == Attribute::Audience);
    all.extend(query.age().filter(|_| !names_audience));
    all
}

struct Query<'t> {
    reading: Reading<'t>,
}

impl Query<'_> {
    /// Adds the attributes of a phrase: "sterling silver" is a color and a material. Alternatives
    /// are one attribute: "grey or beige".
    fn push(&self, all: &mut QueryAttributes, found: &Match, is_modifier: bool) {
        let words = self.span(found.start, found.end);
        let is_alternative = found.start > 0 && self.reading.word(found.start - 1) == "or";
        for attribute in Attribute::ALL {
            let values = found.meaning.values.get(attribute);
            if values == 0 {
                continue;
            }
            if is_alternative
                && let Some(last) = all.last_mut().filter(|last| last.attribute == attribute)
            {
                last.values |= values;
                last.words.end = words.end;
                last.special = None;
                continue;
            }
            all.push(QueryAttribute {
                attribute,
                values,
                words: words.clone(),
                special: found.meaning.special,
                is_modifier,
                is_required: self.is_required(found),
            });
        }
    }

    fn span(&self, from: usize, to: usize) -> Range<usize> {
        let words = &self.reading.words;
        self.reading.tokens.span(words[from].token, words[to - 1].token + 1)
    }

    /// Whether a phrase asks for an attribute, and then whether it is a modifier.
    fn asks_for(&self, found: &Match) -> Option<bool> {
        let reading = &self.reading;
        let attribute = found.meaning.attribute()?;
        if found.meaning.certainty == Certainty::Label && attribute != Attribute::Size
            || reading.is_negated(found)
            || attribute == Attribute::Material && self.is_not_the_material(found)
            || attribute == Attribute::Color
                && (reading.is_a_shade(found) || reading.is_of_a_gem(found))
            || attribute == Attribute::Audience && reading.continues_with(found.end, class::THEME)
            || reading.is_of_a_part(found)
        {
            return None;
        }
        if found.meaning.origin != Origin::English {
            return self.is_asked_in_another_language(found, attribute).then_some(true);
        }
        if self.names_its_thing(found) || self.is_required(found) {
            return Some(true);
        }
        match reading.words[found.start].zone {
            Zone::In => (found.meaning.certainty != Certainty::Label).then_some(true),
            Zone::For => self.is_asked_for(found, attribute).then_some(true),
            Zone::Part => (attribute == Attribute::Pattern).then_some(true),
            Zone::Product | Zone::After => self.is_asked_before(found, attribute),
            Zone::Elsewhere => self.is_predicate(found).then_some(false),
        }
    }

    /// "rotes Sofa", "vestido rojo". A word that English has too is meant only beside its thing: "moulin
    /// rouge poster".
    fn is_asked_in_another_language(&self, found: &Match, attribute: Attribute) -> bool {
        let reading = &self.reading;
        let is_last = || {
            let end = reading.clause_end(found.start);
            found.start > 0 && reading.after_attributes(found.end, end) == end
        };
        match reading.words[found.start].zone {
            Zone::Part | Zone::Elsewhere => false,
            Zone::For => attribute == Attribute::Audience,
            Zone::Product | Zone::In | Zone::After => {
                found.meaning.certainty == Certainty::Sure
                    || is_last()
                    || reading.is_before_a_thing(found)
            }
        }
    }

    /// "paper plates", "down jacket": the phrase contains the thing.
    fn names_its_thing(&self, found: &Match) -> bool {
        found.end - found.start > 1 && self.reading.is(found.end - 1, class::THING)
    }

    /// "a toy that is red".
    fn is_predicate(&self, found: &Match) -> bool {
        let reading = &self.reading;
        let first = reading.first_of_list(found.start);
        let end = reading.clause_end(found.start);
        found.meaning.certainty == Certainty::Sure
            && first > 0
            && matches!(reading.word(first - 1), "is" | "are" | "be")
            && reading.after_attributes(found.end, end) == end
    }

    fn is_not_the_material(&self, found: &Match) -> bool {
        self.reading.is_imitated(found) || self.reading.is_cared_for(found)
    }

    /// "for women", "for a queen bed"; colors and materials are of something else.
    fn is_asked_for(&self, found: &Match, attribute: Attribute) -> bool {
        let follows_bed = || {
            let end = self.reading.clause_end(found.start);
            self.reading.words[found.end.min(end)..end].iter().any(|word| word.is(class::BEDDING))
        };
        match attribute {
            Attribute::Audience => true,
            Attribute::Size => follows_bed(),
            _ => false,
        }
    }

    /// Before the thing ("navy armchair") or, if nothing else can be meant, after it ("sofa, grey").
    fn is_asked_before(&self, found: &Match, attribute: Attribute) -> Option<bool> {
        let reading = &self.reading;
        let end = reading.clause_end(found.start);
        let next = reading.after_attributes(found.end, end);
        let is_last = (next..end).all(|at| self.is_empty_word(at));
        if is_last {
            let is_made_of = attribute == Attribute::Material && self.is_made_of(found);
            return match is_made_of {
                true => Some(true),
                false => self.is_asked_after(found, attribute).then_some(false),
            };
        }
        let is_asked = match (attribute, found.meaning.certainty) {
            (Attribute::Audience, Certainty::Sure) => return Some(true),
            (Attribute::Audience, Certainty::Likely) => {
                let is_any_pet = found.meaning.values.get(attribute) == PETS;
                return (is_any_pet || reading.is_before_pet_care(found)).then_some(true);
            }
            (Attribute::Audience, _) => return reading.is_possessive(found).then_some(true),
            (_, Certainty::Sure) => true,
            (Attribute::Size, Certainty::Likely) if is_bed_size(found) => {
                reading.mentions(class::BEDDING)
            }
            (_, Certainty::Likely) => !reading.is_cared_for(found) && !self.is_eaten(next, end),
            (_, Certainty::Label) => reading.is_letter_size(found),
            _ if reading.is_called_a_color(found) => true,
            // "Coffee scoop", "stone planter": a color only if it can be nothing else.
            (_, Certainty::Placed) => {
                !reading.is(found.start, class::FOOD | class::GEM)
                    && !reading.has_other_meaning(found)
                    && reading.is_before_a_thing(found)
            }
            _ => reading.is_before_a_thing(found),
        };
        (is_asked && !self.is_eaten(next, end)).then_some(true)
    }

    /// "vase of glass", but not "ball of wool", which asks for wool.
    fn is_made_of(&self, found: &Match) -> bool {
        let reading = &self.reading;
        let first = reading.first_of_list(found.start);
        first > 1
            && reading.word(first - 1) == "of"
            && !AMOUNTS.contains(&&*singular(reading.word(first - 2)))
    }

    /// "sofa grey", "running shoes, women": a thing precedes, and the word means nothing else.
    fn is_asked_after(&self, found: &Match, attribute: Attribute) -> bool {
        let reading = &self.reading;
        let is_sure = found.meaning.certainty == Certainty::Sure;
        let segment_has_thing = |from: usize| {
            (from..found.start)
                .any(|at| !self.is_empty_word(at) && reading.after_attributes(at, at + 1) == at)
        };
        match attribute {
            Attribute::Material => {
                reading.words[found.start].is_after_break() && segment_has_thing(0)
            }
            Attribute::Color | Attribute::Pattern | Attribute::Audience => {
                (is_sure || reading.has_its_own_place(found)) && segment_has_thing(0)
            }
            Attribute::Size if is_bed_size(found) => reading.mentions(class::BEDDING),
            Attribute::Size => segment_has_thing(0) && (is_sure || reading.is_letter_size(found)),
        }
    }

    /// Whether what follows is food or drink: "orange juice".
    fn is_eaten(&self, from: usize, end: usize) -> bool {
        let kinds = class::FOOD | class::PLANT;
        (from..end).any(|at| self.reading.is(at, kinds) && self.reading.is_head(at))
    }

    fn is_empty_word(&self, at: usize) -> bool {
        self.reading.words[at].is_number
            || self.reading.is(
                at,
                class::FUNCTION | class::LIST | class::REQUIRED | class::FILLER | class::SHADE,
            )
    }

    /// "only black", "must be black", "black only".
    fn is_required(&self, found: &Match) -> bool {
        /// "must be made of": how far before it the word may stand.
        const REACH: usize = 4;
        let reading = &self.reading;
        if reading.word(found.end) == "only" && reading.continues_with(found.end, class::REQUIRED) {
            return true;
        }
        let mut at = found.start;
        for _ in 0..REACH {
            let has_to_be = reading.follows(at, class::NECESSITY)
                && reading.word(at) == "to"
                && reading.word(at + 1) == "be";
            if has_to_be || reading.follows(at, class::REQUIRED) {
                return true;
            }
            let is_between = at > 0
                && !reading.words[at].is_after_break()
                && (reading.is(
                    at - 1,
                    class::FUNCTION
                        | class::IN
                        | class::MADE
                        | class::LIST
                        | class::VERB
                        | class::FOR,
                ) || reading
                    .match_ending_at(at)
                    .is_some_and(|one| !one.meaning.values.is_empty()));
            if !is_between {
                return false;
            }
            at -= 1;
        }
        false
    }

    /// "for a 3 year old", "for a 6-month-old".
    fn age(&self) -> Option<QueryAttribute> {
        /// Older ones are not children.
        const ADULT_YEARS: u32 = 14;
        /// Younger ones are babies.
        const BABY_YEARS: u32 = 2;
        let reading = &self.reading;
        for at in 0..reading.words.len() {
            let Ok(number) = reading.word(at).parse::<u32>() else { continue };
            let is_old = reading.word(at + 2) == "old" || reading.word(at + 2) == "olds";
            let joined = reading
                .words
                .get(at + 1)
                .is_some_and(|word| matches!(word.gap, Gap::Space | Gap::Glued));
            let value = match reading.word(at + 1) {
                "month" | "months" if is_old && joined => "baby",
                "year" | "years" | "yr" if is_old && joined && number < BABY_YEARS => "baby",
                "year" | "years" | "yr" if is_old && joined && number < ADULT_YEARS => "kids",
                _ => continue,
            };
            return Some(QueryAttribute {
                attribute: Attribute::Audience,
                values: Attribute::Audience.bit(value)?,
                words: self.span(at, at + 3),
                special: None,
                is_modifier: true,
                is_required: false,
            });
        }
        None
    }
}
