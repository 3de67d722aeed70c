//! How are better numbers found? One number after the other is moved up and down; what gains
//! stays, and a number that gains nothing is moved by less the next time. The same every time.

use catalog::tuning::Tuning;

use super::knobs::Knob;

/// Gains below this are chance.
const LEAST_GAIN: f64 = 1e-5;
/// A number is no longer moved when its step has become this part of the first.
const LEAST_STEP: f32 = 0.2;

/// A way up.
pub(super) struct Climb<'a, F> {
    height_of: F,
    steps: Vec<(&'a Knob, f32)>,
    tuning: Tuning,
    height: f64,
}

impl<'a, F: Fn(&Tuning) -> anyhow::Result<f64>> Climb<'a, F> {
    /// Starts at these numbers and turns these knobs.
    pub(super) fn from(tuning: Tuning, knobs: &[&'a Knob], height_of: F) -> anyhow::Result<Self> {
        let height = height_of(&tuning)?;
        let steps = knobs.iter().map(|knob| (*knob, knob.step)).collect();
        Ok(Self { height_of, steps, tuning, height })
    }

    pub(super) fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    pub(super) fn height(&self) -> f64 {
        self.height
    }

    /// Moves every number once; tells of every gain, and returns whether to go on.
    pub(super) fn round(&mut self, mut gained: impl FnMut(&str, f32, f64)) -> anyhow::Result<bool> {
        for at in 0..self.steps.len() {
            let (knob, step) = self.steps[at];
            if step < knob.step * LEAST_STEP {
                continue;
            }
            if self.turn(knob, step)? {
                gained(knob.name, *(knob.place)(&mut self.tuning), self.height);
            } else if self.turn(knob, -step)? {
                // The other way next time, too.
                self.steps[at].1 = step;
                gained(knob.name, *(knob.place)(&mut self.tuning), self.height);
            } else {
                self.steps[at].1 = step / 2.0;
            }
        }
        Ok(self.steps.iter().any(|(knob, step)| *step >= knob.step * LEAST_STEP))
    }

    /// Turns a knob and keeps it there if that gains.
    fn turn(&mut self, knob: &Knob, by: f32) -> anyhow::Result<bool> {
        let mut tuning = self.tuning;
        let number = (knob.place)(&mut tuning);
        // Rounded, so that the numbers can be read and written down.
        let turned = ((*number + by) * 1e4).round() / 1e4;
        *number = turned.clamp(*knob.range.start(), *knob.range.end());
        if tuning == self.tuning {
            return Ok(false);
        }
        let height = (self.height_of)(&tuning)?;
        let is_gain = height > self.height + LEAST_GAIN;
        if is_gain {
            (self.tuning, self.height) = (tuning, height);
        }
        Ok(is_gain)
    }
}

#[cfg(test)]
mod tests {
    use catalog::tuning::TUNING;

    use super::*;
    use crate::cli::tune::knobs::KNOBS;

    fn climbed(height_of: impl Fn(&Tuning) -> f64, rounds: usize) -> Tuning {
        let knobs: Vec<&Knob> = KNOBS.iter().collect();
        let mut climb = Climb::from(TUNING, &knobs, |tuning| Ok(height_of(tuning))).unwrap();
        let mut height = climb.height();
        for _ in 0..rounds {
            let goes_on = climb.round(|_, _, higher| {
                assert!(higher > height);
                height = higher;
            });
            if !goes_on.unwrap() {
                break;
            }
        }
        assert_eq!(climb.height(), height_of(climb.tuning()));
        *climb.tuning()
    }

    #[test]
    fn it_finds_the_top_of_a_hill() {
        let distance = |tuning: &Tuning| {
            let bias = f64::from(tuning.fusion.literal.bias - 4.0) / 10.0;
            let lean = f64::from(tuning.fusion.lean - 0.5);
            -(bias * bias) - lean * lean
        };
        let top = climbed(distance, 40);
        assert!((top.fusion.literal.bias - 4.0).abs() < 0.5, "{}", top.fusion.literal.bias);
        assert!((top.fusion.lean - 0.5).abs() < 0.1, "{}", top.fusion.lean);
        assert_eq!(top.fusion.words, TUNING.fusion.words, "what gains nothing stays");
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let top = climbed(|tuning| f64::from(tuning.fusion.words - tuning.ranking.any_word), 100);
        assert_eq!((top.fusion.words, top.ranking.any_word), (1.0, 0.0));
    }

    #[test]
    fn every_knob_turns_a_number_of_its_own() {
        for knob in KNOBS {
            let mut tuning = TUNING;
            assert!(knob.range.contains((knob.place)(&mut tuning)), "{}", knob.name);
            *(knob.place)(&mut tuning) = 0.321;
            let turned = KNOBS.iter().filter(|other| *(other.place)(&mut tuning) == 0.321);
            assert_eq!(turned.count(), 1, "{}", knob.name);
        }
    }
}
