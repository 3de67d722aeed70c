//! The ranking parameters that can be tuned, with their step and range.

use std::{ops::RangeInclusive, str::FromStr};

use anyhow::{Context, ensure};
use catalog::tuning::Tuning;

/// A tunable parameter.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) field: fn(&mut Tuning) -> &mut f32,
    /// The first step.
    pub(super) step: f32,
    /// The accepted values.
    pub(super) range: RangeInclusive<f32>,
}

macro_rules! parameters {
    ($($($field:ident).+: $step:literal, $range:expr;)+) => {
        [$(Parameter {
            name: stringify!($($field).+),
            field: |tuning| &mut tuning.$($field).+,
            step: $step,
            range: $range,
        }),+]
    };
}

/// All parameters that judged queries can tune. They cannot tune the cut-offs and the thresholds of
/// similar products: products that should not be shown were not judged.
pub(super) const PARAMETERS: &[Parameter] = &parameters! {
    ranking.k1: 0.1, 0.01..=2.0;
    ranking.title.b: 0.1, 0.0..=1.0;
    ranking.description.boost: 0.1, 0.05..=1.0;
    ranking.description.b: 0.1, 0.0..=1.0;
    ranking.bigram_weight: 0.03, 0.0..=0.5;
    ranking.idf_offset: 0.8, 0.0..=10.0;
    ranking.correction.high: 0.15, 0.1..=1.0;
    ranking.correction.low: 0.15, 0.1..=1.0;
    fusion.lexical_weight.bias: 1.0, -20.0..=20.0;
    fusion.lexical_weight.function_words: 1.0, -20.0..=0.0;
    fusion.lexical_weight.phrase_similarity: 1.0, -20.0..=0.0;
    fusion.lexical_weight.coverage: 0.5, 0.0..=10.0;
    fusion.max_lexical_weight: 0.02, 0.5..=1.0;
    fusion.interpolation: 0.2, 0.0..=3.0;
    rerank.semantic_weight.bias: 0.5, -5.0..=5.0;
    rerank.semantic_weight.function_words: 3.0, 0.0..=30.0;
    rerank.semantic_weight.phrase_similarity: 4.0, 0.0..=40.0;
    rerank.semantic_weight.agreement: 1.5, -10.0..=0.0;
    rerank.semantic_weight.title_coverage: 1.5, -15.0..=0.0;
    rerank.soft_coverage: 0.15, 0.0..=3.0;
    rerank.similarity: 0.12, 0.0..=2.0;
    rerank.names: 0.06, 0.0..=1.0;
    rerank.semantic_soft_coverage: 0.08, 0.0..=1.0;
    rerank.semantic_names: 0.08, 0.0..=1.0;
    rerank.attributes.color: 0.05, 0.0..=1.0;
    rerank.attributes.material: 0.05, 0.0..=1.0;
    rerank.attributes.contradiction: 0.4, 0.0..=5.0;
    rerank.category: 0.04, 0.0..=0.5;
};

/// A starting value, `NAME=NUMBER`.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub(super) parameter: &'static Parameter,
    pub(super) value: f32,
}

impl FromStr for Start {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (name, value) = text.split_once('=').context("it is no NAME=NUMBER")?;
        let parameter = PARAMETERS.iter().find(|parameter| parameter.name == name);
        let names =
            || PARAMETERS.iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(", ");
        let parameter =
            parameter.with_context(|| format!("there is no {name}, only {}", names()))?;
        let value: f32 = value.parse().with_context(|| format!("{value:?} is no number"))?;
        let (least, most) = (parameter.range.start(), parameter.range.end());
        ensure!(parameter.range.contains(&value), "{name} goes from {least} to {most}");
        Ok(Self { parameter, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_parsed_or_refused_with_the_known_names() {
        let read = |text: &str| match text.parse::<Start>() {
            Ok(Start { parameter, value }) => format!("{} {value}", parameter.name),
            Err(error) => format!("{error:#}"),
        };
        assert_eq!(read("ranking.k1=0.4"), "ranking.k1 0.4");
        assert_eq!(read("ranking.k1=9"), "ranking.k1 goes from 0.01 to 2");
        assert!(read("k1=9").starts_with("there is no k1, only ranking.k1, "), "{}", read("k1=9"));
        assert_eq!(read("ranking.k1=x"), "\"x\" is no number: invalid float literal");
        assert_eq!(read("ranking.k1"), "it is no NAME=NUMBER");
    }
}
