//! What a description states about its product: what its opening names, and what it says outright
//! ("made of oak", "100% cotton", "color: black", "for dogs").

use super::{
    lexicon::{Certainty, class},
    reading::{Match, Reading, Zone},
    title::{Said, Scene},
};
use crate::product::inferred::Attribute;

/// Materials, and what is just mentioned, are read up to here, in characters.
const MAX_CHARS: usize = 1_000;
/// Everything else that is stated is read up to here, in bytes.
const MAX_BYTES_OF_OTHERS: usize = 400;
/// The words of an opening: "This classic black leather tote".
const MAX_OPENING_WORDS: usize = 8;

/// What a description says; `kinds` are those of the title.
pub(super) fn infer_description(description: &str, kinds: u64) -> Said {
    let end = description.char_indices().nth(MAX_CHARS).map_or(description.len(), |(at, _)| at);
    let text = &description[..end];
    if text.is_empty() || kinds & class::MEDIA != 0 {
        return Said::default();
    }
    let reading = Reading::of(text);
    let end = end_of_evidence(&reading);
    let opening_end = opening_end(&reading);
    let scene = Scene { kinds, reading };
    let mut all = Said::default();
    for found in scene.reading.matches().take_while(|found| found.end <= end) {
        let is_acrylic = scene.reading.word(found.start) == "acrylic";
        let is_stated = match found.end <= opening_end && is_trusted(&found) && !is_acrylic {
            true => scene.reading.is_in_clause_of_a_thing(&found) && scene.states(&found),
            false => scene.says_outright(&found),
        };
        if is_stated {
            all.stated = all.stated.union(found.meaning.values);
        } else if scene.mentions(&found) {
            all.mentioned = all.mentioned.union(found.meaning.values);
        }
    }
    all.stated.set(Attribute::Size, 0);
    all
}

/// Where advice to combine the product with others begins: "wear it with white sneakers".
fn end_of_evidence(reading: &Reading) -> usize {
    /// "Pair this dress with".
    const REACH: usize = 3;
    let is_advice = |at: &usize| {
        reading.is(*at, class::ADVICE)
            && (at + 1..=at + REACH).any(|next| reading.word(next) == "with")
    };
    (0..reading.words.len()).find(is_advice).unwrap_or(reading.words.len())
}

/// The end of the noun phrase that the description opens with.
fn opening_end(reading: &Reading) -> usize {
    let ends = |at: &usize| {
        let word = &reading.words[*at];
        *at > 0 && word.is_after_break()
            || word.is(class::VERB | class::WITH | class::FOR | class::IN | class::ELSEWHERE)
    };
    let len = reading.words.len().min(MAX_OPENING_WORDS);
    (0..len).find(ends).unwrap_or(0)
}

/// Whether the phrase means its value in running text too.
fn is_trusted(found: &Match) -> bool {
    matches!(found.meaning.certainty, Certainty::Sure | Certainty::Likely)
}

impl Scene<'_> {
    fn says_outright(&self, found: &Match) -> bool {
        let reading = &self.reading;
        let is_early = reading.start_byte(found) < MAX_BYTES_OF_OTHERS;
        if reading.is_negated(found) {
            return false;
        }
        // Yarn of acrylic is not plastic to anyone who buys a sweater.
        let is_acrylic_fiber =
            reading.word(found.start) == "acrylic" && reading.follows(found.start, class::PERCENT);
        let is_of_a_part = reading.continues_with(found.end, class::PART);
        match found.meaning.attribute() {
            _ if is_of_a_part => false,
            Some(Attribute::Color) => {
                is_early && self.kinds & class::FOOD == 0 && self.is_called_colored(found)
            }
            Some(Attribute::Material) => {
                self.kinds & (class::FOOD | class::SCENTED | class::PLANT) == 0
                    && !reading.is_imitated(found)
                    && !reading.is_cared_for(found)
                    && !is_acrylic_fiber
                    && self.is_called_made_of(found)
            }
            Some(Attribute::Pattern) => {
                let is_named = reading.continues_with(found.end, class::FINISH);
                is_early && is_named && self.kinds & (class::FOOD | class::SCENTED) == 0
            }
            Some(Attribute::Audience) => is_early && self.is_called_made_for(found),
            _ => false,
        }
    }

    /// "Color: black", "black color", "in a black finish".
    fn is_called_colored(&self, found: &Match) -> bool {
        let reading = &self.reading;
        let first = reading.first_of_list(found.start);
        let is_labelled = first > 0
            && reading.is(first - 1, class::COLOR_LABEL)
            && reading.words[first].is_after_break();
        is_labelled && !reading.follows(first - 1, class::PART)
            || is_trusted(found) && self.is_finish(found)
    }

    fn is_finish(&self, found: &Match) -> bool {
        let reading = &self.reading;
        let end = reading.clause_end(found.start);
        let label = reading.after_attributes(found.end, end);
        reading.continues_with(label, class::COLOR_LABEL)
            && matches!(reading.words[found.start].zone, Zone::Product | Zone::In)
            && label + 1 >= end
    }

    /// "made of solid oak", "100% cotton", "material: steel", "aluminum construction".
    fn is_called_made_of(&self, found: &Match) -> bool {
        let reading = &self.reading;
        let first = reading.first_of_list(found.start);
        if first == 0 {
            return false;
        }
        let before = first - 1;
        let is_labelled = reading.is(before, class::MATERIAL_LABEL)
            && (reading.words[first].is_after_break() || reading.word(before) == "is")
            && !reading.follows(before, class::PART);
        let is_percentage = reading.follows(first, class::PERCENT);
        is_labelled || is_percentage || self.follows_made_of(first) || self.is_construction(found)
    }

    /// "made of", "crafted from", unless a part is: "handles made of wood".
    fn follows_made_of(&self, first: usize) -> bool {
        let reading = &self.reading;
        let Some(preposition) = first.checked_sub(1) else { return false };
        if !matches!(reading.word(preposition), "of" | "from" | "in" | "with" | "out")
            || reading.words[first].is_after_break()
            || !reading.follows(preposition, class::MADE)
        {
            return false;
        }
        let made = preposition - 1;
        let mut subject = made;
        while subject > 0 && reading.follows(subject, class::VERB | class::SHADE) {
            subject -= 1;
        }
        !reading.follows(subject, class::PART)
    }

    fn is_construction(&self, found: &Match) -> bool {
        let reading = &self.reading;
        let end = reading.clause_end(found.start);
        let label = reading.after_attributes(found.end, end);
        is_trusted(found) && reading.continues_with(label, class::CONSTRUCTION)
    }

    /// "for women", "for your dog".
    fn is_called_made_for(&self, found: &Match) -> bool {
        /// "For kids and adults" names no audience.
        const REACH: usize = 3;
        let reading = &self.reading;
        let is_for_adults = (found.end..found.end + REACH).any(|at| reading.is(at, class::ADULT))
            || (found.start.saturating_sub(REACH)..found.start)
                .any(|at| reading.is(at, class::ADULT));
        reading.words[found.start].zone == Zone::For
            && !is_for_adults
            && is_trusted(found)
            && !self.is_warning(found)
            && !reading.continues_with(found.end, class::THEME)
            && self.is_user(found)
    }
}

impl Scene<'_> {
    /// "Not suitable for children", "not for children".
    pub(super) fn is_warning(&self, found: &Match) -> bool {
        /// "Not recommended for use by".
        const REACH: usize = 5;
        let words = &self.reading.words[found.start.saturating_sub(REACH)..found.start];
        words.iter().any(|word| word.is(class::NEGATOR))
    }
}

impl Reading<'_> {
    /// Where the list of attributes that a word belongs to begins: "60% cotton, 40% polyester".
    pub(super) fn first_of_list(&self, start: usize) -> usize {
        let mut first = start;
        while first > 0 && self.words[first].gap != super::reading::Gap::Sentence {
            let before = &self.words[first - 1];
            let is_listed = before.is(class::SHADE | class::LIST | class::GENUINE)
                || self
                    .match_ending_at(first)
                    .is_some_and(|found| !found.meaning.values.is_empty());
            if !is_listed {
                break;
            }
            first = self.match_ending_at(first).map_or(first - 1, |found| found.start);
        }
        first
    }

    fn start_byte(&self, found: &Match) -> usize {
        let token = self.words[found.start].token;
        self.tokens.span(token, token + 1).start
    }
}
