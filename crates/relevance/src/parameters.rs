//! The ranking parameters that an evaluation can set, with their range.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use anyhow::{Context, ensure};
use catalog::ranking::tuning::{TUNING, Tuning};

/// A ranking parameter.
struct Parameter {
    name: &'static str,
    field: fn(&mut Tuning) -> &mut f32,
    /// The accepted values.
    range: RangeInclusive<f32>,
}

macro_rules! parameters {
    ($($($field:ident).+: $range:expr;)+) => {
        [$(Parameter {
            name: stringify!($($field).+),
            field: |tuning| &mut tuning.$($field).+,
            range: $range,
        }),+]
    };
}

/// All parameters that judged queries can measure. They cannot measure the cut-offs and the
/// thresholds of similar products: products that should not be shown were not judged.
const PARAMETERS: &[Parameter] = &parameters! {
    ranking.k1: 0.01..=2.0;
    ranking.title.b: 0.0..=1.0;
    ranking.description.boost: 0.05..=1.0;
    ranking.description.b: 0.0..=1.0;
    ranking.bigram_weight: 0.0..=0.5;
    ranking.idf_offset: 0.0..=10.0;
    ranking.correction.high: 0.1..=1.0;
    ranking.correction.low: 0.1..=1.0;
    fusion.lexical_weight.bias: -20.0..=20.0;
    fusion.lexical_weight.function_words: -20.0..=0.0;
    fusion.lexical_weight.phrase_similarity: -20.0..=0.0;
    fusion.lexical_weight.coverage: 0.0..=10.0;
    fusion.max_lexical_weight: 0.5..=1.0;
    fusion.interpolation: 0.0..=3.0;
    fusion.deep_interpolation: 0.0..=2.0;
    fusion.deep_cutoff: 0.0..=1.0;
    rerank.semantic_weight.bias: -5.0..=5.0;
    rerank.semantic_weight.function_words: 0.0..=30.0;
    rerank.semantic_weight.phrase_similarity: 0.0..=40.0;
    rerank.semantic_weight.agreement: -10.0..=0.0;
    rerank.semantic_weight.title_coverage: -15.0..=0.0;
    rerank.soft_coverage: 0.0..=3.0;
    rerank.similarity: 0.0..=2.0;
    rerank.deep.literal: 0.0..=4.0;
    rerank.deep.semantic: 0.0..=4.0;
    rerank.names: 0.0..=1.0;
    rerank.semantic_soft_coverage: 0.0..=1.0;
    rerank.semantic_names: 0.0..=1.0;
    rerank.attributes.color: 0.0..=1.0;
    rerank.attributes.material: 0.0..=1.0;
    rerank.attributes.contradiction: 0.0..=5.0;
    rerank.preference.stated: 0.0..=2.0;
    rerank.category: 0.0..=0.5;
};

/// Another value than the one in force, `NAME=NUMBER`.
#[derive(Clone, Copy)]
pub(crate) struct Override {
    parameter: &'static Parameter,
    value: f32,
}

/// The parameters in force with these replaced.
pub(crate) fn tuning_with(overrides: &[Override]) -> Tuning {
    let mut tuning = TUNING;
    for Override { parameter, value } in overrides {
        *(parameter.field)(&mut tuning) = *value;
    }
    tuning
}

impl fmt::Display for Override {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.parameter.name, self.value)
    }
}

impl FromStr for Override {
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
    fn an_override_is_parsed_or_refused_with_the_known_names() {
        let read = |text: &str| match text.parse::<Override>() {
            Ok(read) => read.to_string(),
            Err(error) => format!("{error:#}"),
        };
        assert_eq!(read("ranking.k1=0.40"), "ranking.k1=0.4");
        assert_eq!(read("ranking.k1=9"), "ranking.k1 goes from 0.01 to 2");
        assert!(read("k1=9").starts_with("there is no k1, only ranking.k1, "), "{}", read("k1=9"));
        assert_eq!(read("ranking.k1=x"), "\"x\" is no number: invalid float literal");
        assert_eq!(read("ranking.k1"), "it is no NAME=NUMBER");
    }

    #[test]
    fn every_parameter_has_a_field_of_its_own() {
        for parameter in PARAMETERS {
            let value = *parameter.range.end() - 0.0321;
            let mut tuning = tuning_with(&[Override { parameter, value }]);
            let equal = PARAMETERS.iter().filter(|other| *(other.field)(&mut tuning) == value);
            assert_eq!(equal.count(), 1, "{}", parameter.name);
            assert!(
                parameter.range.contains((parameter.field)(&mut { TUNING })),
                "{}",
                parameter.name
            );
        }
    }
}
