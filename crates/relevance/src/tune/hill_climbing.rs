//! Coordinate-wise hill climbing: moves one parameter after the other up and down, keeps what
//! raises the objective, and halves the step of a parameter that gains nothing. Deterministic.

use catalog::tuning::Tuning;

use super::parameters::Parameter;

/// Gains below this are noise.
const MIN_GAIN: f64 = 1e-5;
/// A parameter is no longer moved once its step is below this fraction of its first step.
const MIN_STEP: f32 = 0.2;

/// The state of the search.
pub(super) struct HillClimbing<'a, F> {
    objective: F,
    steps: Vec<(&'a Parameter, f32)>,
    tuning: Tuning,
    score: f64,
}

impl<'a, F: Fn(&Tuning) -> anyhow::Result<f64>> HillClimbing<'a, F> {
    /// Starts at `tuning` and moves these parameters only.
    pub(super) fn new(
        tuning: Tuning,
        parameters: &[&'a Parameter],
        objective: F,
    ) -> anyhow::Result<Self> {
        let score = objective(&tuning)?;
        let steps = parameters.iter().map(|parameter| (*parameter, parameter.step)).collect();
        Ok(Self { objective, steps, tuning, score })
    }

    pub(super) fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    pub(super) fn score(&self) -> f64 {
        self.score
    }

    /// Moves every parameter once, calls `gained` with name, value and score for each gain, and
    /// returns whether another round may gain more.
    pub(super) fn round(&mut self, mut gained: impl FnMut(&str, f32, f64)) -> anyhow::Result<bool> {
        for at in 0..self.steps.len() {
            let (parameter, step) = self.steps[at];
            if step < parameter.step * MIN_STEP {
                continue;
            }
            if self.step(parameter, step)? || self.step(parameter, -step)? {
                gained(parameter.name, *(parameter.field)(&mut self.tuning), self.score);
            } else {
                self.steps[at].1 = step / 2.0;
            }
        }
        Ok(self.steps.iter().any(|(parameter, step)| *step >= parameter.step * MIN_STEP))
    }

    /// Moves a parameter and keeps the change if the objective gains.
    fn step(&mut self, parameter: &Parameter, by: f32) -> anyhow::Result<bool> {
        let mut tuning = self.tuning;
        let value = (parameter.field)(&mut tuning);
        // Rounded to four digits, to be written down.
        let moved = ((*value + by) * 1e4).round() / 1e4;
        *value = moved.clamp(*parameter.range.start(), *parameter.range.end());
        if tuning == self.tuning {
            return Ok(false);
        }
        let score = (self.objective)(&tuning)?;
        let is_gain = score > self.score + MIN_GAIN;
        if is_gain {
            (self.tuning, self.score) = (tuning, score);
        }
        Ok(is_gain)
    }
}

#[cfg(test)]
mod tests {
    use catalog::tuning::TUNING;

    use super::*;
    use crate::tune::parameters::PARAMETERS;

    fn climbed(objective: impl Fn(&Tuning) -> f64, rounds: usize) -> Tuning {
        let parameters: Vec<&Parameter> = PARAMETERS.iter().collect();
        let mut climb =
            HillClimbing::new(TUNING, &parameters, |tuning| Ok(objective(tuning))).unwrap();
        let mut score = climb.score();
        for _ in 0..rounds {
            let goes_on = climb.round(|_, _, higher| {
                assert!(higher > score);
                score = higher;
            });
            if !goes_on.unwrap() {
                break;
            }
        }
        assert_eq!(climb.score(), objective(climb.tuning()));
        *climb.tuning()
    }

    #[test]
    fn finds_the_maximum_of_a_concave_objective() {
        let distance = |tuning: &Tuning| {
            let bias = f64::from(tuning.fusion.lexical_weight.bias - 4.0) / 10.0;
            let lean = f64::from(tuning.fusion.interpolation - 0.5);
            -(bias * bias) - lean * lean
        };
        let top = climbed(distance, 40);
        assert!(
            (top.fusion.lexical_weight.bias - 4.0).abs() < 0.5,
            "{}",
            top.fusion.lexical_weight.bias
        );
        assert!((top.fusion.interpolation - 0.5).abs() < 0.1, "{}", top.fusion.interpolation);
        assert_eq!(
            top.fusion.max_lexical_weight, TUNING.fusion.max_lexical_weight,
            "a parameter without gain stays"
        );
    }

    #[test]
    fn parameters_stay_in_their_range() {
        let top = climbed(
            |tuning| f64::from(tuning.fusion.max_lexical_weight - tuning.ranking.idf_offset),
            100,
        );
        assert_eq!((top.fusion.max_lexical_weight, top.ranking.idf_offset), (1.0, 0.0));
    }

    #[test]
    fn every_parameter_has_a_field_of_its_own() {
        for parameter in PARAMETERS {
            let mut tuning = TUNING;
            assert!(parameter.range.contains((parameter.field)(&mut tuning)), "{}", parameter.name);
            *(parameter.field)(&mut tuning) = 0.321;
            let equal = PARAMETERS.iter().filter(|other| *(other.field)(&mut tuning) == 0.321);
            assert_eq!(equal.count(), 1, "{}", parameter.name);
        }
    }
}
