//! Rules that hold in every text: when the words around a phrase take its meaning away, and when
//! they confirm it.

use super::{
    lexicon::{Certainty, class},
    reading::{Gap, Match, Reading, Zone},
};
use crate::product::inferred::Attribute;

impl Reading<'_> {
    /// "not leather", "without leather or suede", "leather-free".
    pub(super) fn is_negated(&self, found: &Match) -> bool {
        /// "no real leather", "not a white": how far a negation reaches.
        const REACH: usize = 3;
        if self.continues_with(found.end, class::FREE) {
            return true;
        }
        let mut at = found.start;
        for _ in 0..REACH {
            if self.follows(at, class::NEGATOR) {
                return true;
            }
            let in_list = at > 0
                && (self.words[at - 1].is(class::LIST | class::SHADE | class::GENUINE)
                    || self.match_ending_at(at).is_some_and(|one| !one.meaning.values.is_empty()));
            if !in_list {
                return false;
            }
            at -= 1;
        }
        false
    }

    /// The phrase that ends before a word.
    pub(super) fn match_ending_at(&self, end: usize) -> Option<Match> {
        /// Words of the longest phrase worth looking for.
        const LONGEST: usize = 3;
        let starts = end.saturating_sub(LONGEST)..end;
        starts.filter_map(|start| self.match_at(start)).find(|found| found.end == end)
    }

    /// "faux suede", "oak effect", "wood-look": not the material.
    pub(super) fn is_imitated(&self, found: &Match) -> bool {
        let is_faux = |at: usize| self.follows(at, class::IMITATION);
        is_faux(found.start)
            || found.start > 0
                && !self.words[found.start].is_after_break()
                && is_faux(found.start - 1)
            || self.continues_with(found.end, class::LOOK)
    }

    /// "black strap watch", "watch, black strap": said of a part, with the thing after or before.
    pub(super) fn is_of_a_part(&self, found: &Match) -> bool {
        let end = self.clause_end(found.start);
        let part = self.after_attributes(found.end, end);
        if part >= end || !self.words[part].is(class::PART) {
            return false;
        }
        match self.words.get(part + 1).filter(|_| part + 1 < end) {
            Some(thing) => !thing.is_number && thing.gap == Gap::Space,
            None => self.segment(found.start).start > 0,
        }
    }

    /// "leather conditioner", "wood screws": the material is what it is used on.
    pub(super) fn is_cared_for(&self, found: &Match) -> bool {
        let end = self.clause_end(found.start);
        self.words[found.end.min(end)..end].iter().any(|word| word.is(class::CARE))
    }

    /// The first word from `at` on that is neither an attribute nor a word like "dark" or "and"; `end` or
    /// more if there is none before `end`.
    pub(super) fn after_attributes(&self, at: usize, end: usize) -> usize {
        let mut at = at;
        while at < end {
            match self.match_at(at) {
                Some(found) if !found.meaning.values.is_empty() => at = found.end,
                _ if self.is(at, class::SHADE | class::LIST) => at += 1,
                _ => break,
            }
        }
        at
    }

    /// Whether the thing that has the attribute follows directly: "mint dress", "rust velvet sofa".
    pub(super) fn is_before_a_thing(&self, found: &Match) -> bool {
        let end = self.clause_end(found.start);
        let at = self.after_attributes(found.end, end);
        at < end && self.words[at].is(class::THING)
    }

    /// Whether a thing follows in the clause: "gold hoop earrings".
    pub(super) fn is_in_clause_of_a_thing(&self, found: &Match) -> bool {
        let end = self.clause_end(found.start);
        self.words[found.end.min(end)..end].iter().any(|word| word.is(class::THING))
    }

    /// Whether the phrase stands in a segment of attributes alone (", rust", "(black, large)"), or
    /// ends a clause with "in": "in rust".
    pub(super) fn has_its_own_place(&self, found: &Match) -> bool {
        let clause_end = self.clause_end(found.start);
        let rest = self.after_attributes(found.end, clause_end);
        let ends = rest >= clause_end || self.words[rest].is(class::FINISH | class::FILLER);
        match self.words[found.start].zone {
            Zone::In => ends && self.is_after_in(found.start),
            Zone::Part | Zone::For | Zone::Elsewhere => false,
            Zone::Product | Zone::After => found.start > 0 && self.is_pure_segment(found.start),
        }
    }

    /// Whether the phrase begins or ends a short last segment: "- coated canvas black".
    pub(super) fn is_in_last_segment(&self, found: &Match) -> bool {
        /// Longer segments are clauses of their own.
        const MAX_WORDS: usize = 4;
        /// "(Verizon)".
        const MAX_WORDS_AFTER: usize = 3;
        let segment = self.segment(found.start);
        let is_at_edge = segment.start == found.start || segment.end == found.end;
        let is_plain = !self.words[segment.clone()].iter().any(|word| word.is(PREPOSITIONS));
        is_at_edge
            && is_plain
            && segment.start > 0
            && segment.end + MAX_WORDS_AFTER >= self.words.len()
            && segment.len() <= MAX_WORDS
    }

    /// "case for iPhone 6 plus black": the text ends with the color.
    pub(super) fn ends_the_text(&self, found: &Match) -> bool {
        /// "For black" is about black things.
        const MIN_WORDS_BETWEEN: usize = 2;
        let start = found.start.saturating_sub(MIN_WORDS_BETWEEN);
        found.end == self.words.len()
            && !self.words[start..found.start].iter().any(|word| word.is(PREPOSITIONS))
    }

    fn is_after_in(&self, start: usize) -> bool {
        let mut at = start;
        while at > 0 && !self.words[at].is_after_break() {
            at -= 1;
            if self.words[at].is(class::IN) {
                return self.after_attributes(at + 1, start) == start;
            }
        }
        false
    }

    /// Whether the segment around a word, not the first, contains attributes and numbers only.
    fn is_pure_segment(&self, at: usize) -> bool {
        let segment = self.segment(at);
        let mut at = segment.start;
        while at < segment.end {
            let next = self.after_attributes(at, segment.end);
            if next == at {
                let word = &self.words[at];
                if !(word.is_number || word.is(class::FILLER | class::FINISH | class::SURFACE)) {
                    return false;
                }
                at += 1;
            } else {
                at = next;
            }
        }
        segment.start > 0
    }

    /// "girl's", "man's", which folding turns into "girl" and "man".
    pub(super) fn is_possessive(&self, found: &Match) -> bool {
        let token = self.words[found.start].token;
        let raw = self.tokens.raw(token, token + 1);
        matches!(self.word(found.start), "girl" | "boy" | "child" | "man" | "lady")
            && raw.ends_with(['s', 'S'])
    }

    /// "Cat tree", "dog travel bowl": made for the animal, unlike a cat shirt.
    pub(super) fn is_before_pet_care(&self, found: &Match) -> bool {
        /// "Cat scratching post".
        const REACH: usize = 2;
        let end = self.clause_end(found.start);
        let rest = &self.words[found.end.min(end)..end];
        rest.iter().take(REACH).any(|word| word.is(class::PET_CARE))
    }

    /// "rust-coloured".
    pub(super) fn is_called_a_color(&self, found: &Match) -> bool {
        found.meaning.is(Attribute::Color) && self.continues_with(found.end, class::COLOR_LABEL)
    }

    /// "size M", ", L": a letter that is a size, unlike in "260 L".
    pub(super) fn is_letter_size(&self, found: &Match) -> bool {
        let segment = self.segment(found.start);
        let is_alone = segment.start > 0 && segment == (found.start..found.end);
        let is_labelled = found.start > 0 && self.word(found.start - 1) == "size";
        found.meaning.is(Attribute::Size) && (is_alone && self.mentions(class::SOFT) || is_labelled)
    }

    /// Whether what is around the phrase suffices for its certainty.
    pub(super) fn is_certain(&self, found: &Match) -> bool {
        match found.meaning.certainty {
            Certainty::Sure => true,
            Certainty::Likely => {
                self.has_its_own_place(found) || self.is_in_clause_of_a_thing(found)
            }
            Certainty::Doubtful => {
                self.has_its_own_place(found)
                    || self.is_before_a_thing(found)
                    || self.is_listed_with_a_color(found)
                    || self.is_called_a_color(found)
            }
            Certainty::Placed => {
                self.has_its_own_place(found)
                    || self.is_listed_with_a_color(found)
                    || self.is_called_a_color(found)
            }
            Certainty::Attributive => self.is_before_a_thing(found),
            Certainty::Label => self.is_letter_size(found),
        }
    }

    /// "coral/grey": beside a color, a word that may be one is one.
    fn is_listed_with_a_color(&self, found: &Match) -> bool {
        let is_slash = |at: usize| self.words.get(at).is_some_and(|word| word.gap == Gap::Slash);
        let is_color = |one: Option<Match>| {
            one.is_some_and(|one| {
                one.meaning.is(Attribute::Color) && one.meaning.certainty == Certainty::Sure
            })
        };
        found.meaning.is(Attribute::Color)
            && (is_slash(found.end) && is_color(self.match_at(found.end))
                || is_slash(found.start) && is_color(self.match_ending_at(found.start)))
    }

    /// Whether a word is the last of its clause, apart from numbers and words like "pack".
    pub(super) fn is_head(&self, at: usize) -> bool {
        let end = self.clause_end(at);
        self.words[at + 1..end].iter().all(|word| {
            word.is_number
                || word.is(class::PACK | class::FILLER)
                || word.classes() & self.words[at].classes() & KINDS != 0
        })
    }

    /// The kinds that the text's heads belong to: "mint tea" is food, "tea towel" is not.
    pub(super) fn kinds(&self) -> u64 {
        let mut kinds = 0;
        if !self.mentions(KINDS) {
            return kinds;
        }
        for at in 0..self.words.len() {
            let word = &self.words[at];
            let is_about_it = matches!(word.zone, Zone::Product | Zone::In);
            if word.is(KINDS) && is_about_it && self.is_head(at) && !self.is_color_name(at) {
                kinds |= word.classes() & KINDS;
            }
        }
        kinds
    }

    /// ", orange": a color in a place of its own, though it names a fruit too.
    fn is_color_name(&self, at: usize) -> bool {
        self.match_ending_at(at + 1).is_some_and(|found| {
            found.meaning.is(Attribute::Color) && self.has_its_own_place(&found)
        })
    }
}

const PREPOSITIONS: u64 = class::WITH | class::FOR | class::IN | class::ELSEWHERE;
const KINDS: u64 = class::FOOD | class::SCENTED | class::MEDIA | class::PLANT;
