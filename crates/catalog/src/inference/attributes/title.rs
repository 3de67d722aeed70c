//! What a title states about its product.

use super::{
    lexicon::{Certainty, class},
    reading::{Gap, Match, Reading, Zone},
};
use crate::product::inferred::{
    Attribute, BED_SIZES, CERAMIC, FABRICS, InferredAttributes, MEDIUM, STONE, WOOD,
};

/// What a text says about its product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// What it states.
    pub(super) stated: InferredAttributes,
    /// What it mentions, perhaps of something else: "Ash frame", "Snuff is a warm brown".
    pub(super) mentioned: InferredAttributes,
}

/// What a title says, and the kinds of things its product is.
pub(super) fn infer_title(title: &str) -> (Said, u64) {
    let reading = Reading::of(title);
    let scene = Scene { kinds: reading.kinds(), reading };
    let mut all = Said::default();
    for found in scene.reading.matches() {
        if scene.states(&found) {
            all.stated = all.stated.union(found.meaning.values);
        } else if scene.mentions(&found) {
            all.mentioned = all.mentioned.union(found.meaning.values);
        }
    }
    (all, scene.kinds)
}

pub(super) struct Scene<'t> {
    pub(super) reading: Reading<'t>,
    /// The kinds of things the product is.
    pub(super) kinds: u64,
}

impl Scene<'_> {
    pub(super) fn states(&self, found: &Match) -> bool {
        if self.kinds & class::MEDIA != 0 || self.reading.is_negated(found) {
            return false;
        }
        match found.meaning.attribute() {
            Some(Attribute::Color) => self.is_colored(found),
            Some(Attribute::Material) => self.is_made_of(found),
            Some(Attribute::Pattern) => self.is_patterned(found),
            Some(Attribute::Audience) => self.is_made_for(found),
            Some(Attribute::Size) => self.is_sized(found),
            None => false,
        }
    }

    /// Whether the phrase may be about the product.
    pub(super) fn mentions(&self, found: &Match) -> bool {
        let reading = &self.reading;
        let is_said_otherwise = found.meaning.certainty == Certainty::Label
            || reading.is_negated(found)
            || reading.is_imitated(found)
            || reading.is_cared_for(found)
            || found.meaning.is(Attribute::Audience) && self.is_warning(found);
        !is_said_otherwise
    }

    /// Whether the phrase is about the product as a whole.
    fn is_about_product(&self, found: &Match) -> bool {
        match self.reading.words[found.start].zone {
            Zone::Product | Zone::In => !self.reading.is_of_a_part(found),
            Zone::After => {
                let is_sure = found.meaning.certainty == Certainty::Sure;
                self.reading.has_its_own_place(found)
                    || is_sure && self.reading.is_in_last_segment(found)
            }
            // "with a walnut finish", "with floral print"
            Zone::Part => self.reading.continues_with(found.end, class::FINISH),
            Zone::For | Zone::Elsewhere => {
                let is_plain_color = found.meaning.is(Attribute::Color)
                    && found.meaning.special.is_none()
                    && found.meaning.certainty == Certainty::Sure;
                is_plain_color && self.reading.ends_the_text(found)
            }
        }
    }

    fn is_colored(&self, found: &Match) -> bool {
        let is_sure = found.meaning.certainty == Certainty::Sure;
        self.kinds & (class::FOOD | class::SCENTED) == 0
            && (is_sure || self.kinds & class::PLANT == 0)
            && !self.reading.is_a_shade(found)
            && !self.reading.is_of_a_gem(found)
            && !self.is_clay(found)
            && self.is_about_product(found)
            && (is_sure || !self.reading.is_cared_for(found))
            && self.reading.is_certain(found)
    }

    /// "Tagine, terracotta": the only word in a place of its own that is a color of trousers and a
    /// material of pots.
    fn is_clay(&self, found: &Match) -> bool {
        matches!(self.reading.word(found.start), "terracotta" | "terra")
            && self.reading.mentions(class::POTTERY)
    }

    /// "titanium silver", "color: steel": the name of a color.
    fn names_a_color(&self, found: &Match) -> bool {
        let reading = &self.reading;
        let is_labelled = found.start > 0 && reading.is(found.start - 1, class::COLOR_LABEL);
        let next = reading.words.get(found.end).filter(|next| next.gap == Gap::Space);
        let is_before_color = next.is_some()
            && reading.match_at(found.end).is_some_and(|next| next.meaning.is(Attribute::Color));
        let is_later = reading.segment(found.start).start > 0;
        let is_sure = found.meaning.certainty == Certainty::Sure;
        is_labelled || is_before_color && (!is_sure || is_later && found.meaning.special.is_some())
    }

    /// A floor, a finish or a scent may be called oak, a dress porcelain, a toilet linen.
    fn names_a_finish(&self, found: &Match) -> bool {
        let is_special = found.meaning.special.is_some();
        let is_sure = found.meaning.certainty == Certainty::Sure;
        let values = found.meaning.values.get(Attribute::Material);
        let others = if values == WOOD && is_special && !is_sure || values == STONE && is_special {
            class::LAMINATE | class::SOFT
        } else if values == CERAMIC && is_special {
            class::SOFT
        } else if values & FABRICS != 0 && !is_sure {
            class::HARD
        } else {
            0
        };
        self.reading.mentions(others)
    }

    fn is_made_of(&self, found: &Match) -> bool {
        self.kinds & (class::FOOD | class::SCENTED | class::PLANT) == 0
            && self.is_about_product(found)
            && !self.reading.is_imitated(found)
            && !self.reading.is_cared_for(found)
            && !self.names_a_color(found)
            && !self.names_a_finish(found)
            && (found.meaning.certainty != Certainty::Placed || self.is_clay(found))
            && self.reading.is_certain(found)
    }

    fn is_patterned(&self, found: &Match) -> bool {
        let is_shape =
            self.reading.word(found.start) == "geometric" && self.reading.mentions(class::JEWELRY);
        !is_shape
            && self.kinds & (class::FOOD | class::SCENTED | class::PLANT) == 0
            && self.is_about_product(found)
            && self.reading.is_certain(found)
    }

    fn is_made_for(&self, found: &Match) -> bool {
        let reading = &self.reading;
        if reading.continues_with(found.end, class::THEME) {
            return false;
        }
        match reading.words[found.start].zone {
            Zone::For => self.is_user(found),
            Zone::Product | Zone::In => self.is_certain_audience(found),
            Zone::After => {
                reading.has_its_own_place(found) && found.meaning.certainty == Certainty::Sure
            }
            Zone::Elsewhere => found.meaning.certainty == Certainty::Sure,
            Zone::Part => false,
        }
    }

    fn is_certain_audience(&self, found: &Match) -> bool {
        match found.meaning.certainty {
            Certainty::Sure => true,
            Certainty::Likely => self.reading.is_before_pet_care(found),
            Certainty::Doubtful => self.reading.is_possessive(found),
            _ => false,
        }
    }

    /// "for women", "for large dogs and cats": who uses it, not what it is used on.
    pub(super) fn is_user(&self, found: &Match) -> bool {
        let reading = &self.reading;
        let mut at = found.start;
        while at > 0 && !reading.is(at, class::FOR) {
            at -= 1;
        }
        let mut at = at + 1;
        while at < found.start {
            let next = reading.after_attributes(at, found.start);
            match next == at && !reading.is(at, class::YOUR | class::LIST | class::SHADE) {
                true => return false,
                false => at = next.max(at + 1),
            }
        }
        true
    }

    fn is_sized(&self, found: &Match) -> bool {
        let reading = &self.reading;
        let is_bed = is_bed_size(found);
        if self.kinds & class::FOOD != 0 || reading.continues_with(found.end, class::NOT_SIZED) {
            return false;
        }
        let zone_fits = match reading.words[found.start].zone {
            Zone::Product | Zone::In => true,
            Zone::After => reading.has_its_own_place(found),
            Zone::For => {
                is_bed && reading.continues_with(found.end, class::BEDDING | class::SIZE_LABEL)
            }
            Zone::Part | Zone::Elsewhere => false,
        };
        if is_bed {
            return zone_fits && reading.mentions(class::BEDDING);
        }
        // "Mini lace dress": a length.
        if reading.word(found.start) == "mini" && reading.mentions(class::SOFT) {
            return false;
        }
        // "9 medium": a width.
        if found.start > 0
            && reading.words[found.start - 1].is_number
            && found.meaning.values.get(Attribute::Size) == MEDIUM
        {
            return false;
        }
        // "medium brown", "large floral": the size of something else.
        let shades = self.sizes_the_next(found);
        zone_fits && !shades && reading.is_certain(found) && !reading.is_of_a_part(found)
    }

    fn sizes_the_next(&self, found: &Match) -> bool {
        let is_joined = self.reading.words.get(found.end).is_some_and(|w| !w.is_after_break());
        is_joined
            && self.reading.match_at(found.end).is_some_and(|next| {
                let next = next.meaning;
                let is_medium = found.meaning.values.get(Attribute::Size) == MEDIUM;
                next.is(Attribute::Pattern)
                    || next.is(Attribute::Audience)
                    || is_medium && (next.is(Attribute::Color) || next.is(Attribute::Material))
            })
    }
}

pub(super) fn is_bed_size(found: &Match) -> bool {
    found.meaning.values.get(Attribute::Size) & BED_SIZES != 0
}
