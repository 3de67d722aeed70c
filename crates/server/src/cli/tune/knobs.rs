//! Which numbers of the formula can be turned, and how far at a time?

use std::{ops::RangeInclusive, str::FromStr};

use anyhow::{Context, ensure};
use catalog::tuning::Tuning;

/// One number.
pub(super) struct Knob {
    pub(super) name: &'static str,
    /// Where it is.
    pub(super) place: fn(&mut Tuning) -> &mut f32,
    /// How far it is turned at first.
    pub(super) step: f32,
    /// How far it can be turned at all.
    pub(super) range: RangeInclusive<f32>,
}

macro_rules! knobs {
    ($($($field:ident).+: $step:literal, $range:expr;)+) => {
        [$(Knob {
            name: stringify!($($field).+),
            place: |tuning| &mut tuning.$($field).+,
            step: $step,
            range: $range,
        }),+]
    };
}

/// All numbers that judged queries can tell anything about. What is too little, what is nonsense
/// and which products are similar they cannot: nobody judged what was better left out.
pub(super) const KNOBS: &[Knob] = &knobs! {
    ranking.k1: 0.1, 0.01..=2.0;
    ranking.title.length: 0.1, 0.0..=1.0;
    ranking.description.weight: 0.1, 0.05..=1.0;
    ranking.description.length: 0.1, 0.0..=1.0;
    ranking.side_by_side: 0.03, 0.0..=0.5;
    ranking.any_word: 0.8, 0.0..=10.0;
    ranking.guessed: 0.15, 0.1..=1.0;
    fusion.literal.bias: 1.0, -20.0..=20.0;
    fusion.literal.function_words: 1.0, -20.0..=0.0;
    fusion.literal.likeness: 1.0, -20.0..=0.0;
    fusion.literal.coverage: 0.5, 0.0..=10.0;
    fusion.words: 0.02, 0.5..=1.0;
    fusion.lean: 0.2, 0.0..=3.0;
};

/// A number to start with in place of the one in force.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub(super) knob: &'static Knob,
    pub(super) value: f32,
}

impl FromStr for Start {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (name, value) = text.split_once('=').context("it is no NAME=NUMBER")?;
        let knob = KNOBS.iter().find(|knob| knob.name == name);
        let names = || KNOBS.iter().map(|knob| knob.name).collect::<Vec<_>>().join(", ");
        let knob = knob.with_context(|| format!("there is no {name}, only {}", names()))?;
        let value: f32 = value.parse().with_context(|| format!("{value:?} is no number"))?;
        let (least, most) = (knob.range.start(), knob.range.end());
        ensure!(knob.range.contains(&value), "{name} goes from {least} to {most}");
        Ok(Self { knob, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_read_or_refused_with_what_there_is() {
        let read = |text: &str| match text.parse::<Start>() {
            Ok(Start { knob, value }) => format!("{} {value}", knob.name),
            Err(error) => format!("{error:#}"),
        };
        assert_eq!(read("ranking.k1=0.4"), "ranking.k1 0.4");
        assert_eq!(read("ranking.k1=9"), "ranking.k1 goes from 0.01 to 2");
        assert!(read("k1=9").starts_with("there is no k1, only ranking.k1, "), "{}", read("k1=9"));
        assert_eq!(read("ranking.k1=x"), "\"x\" is no number: invalid float literal");
        assert_eq!(read("ranking.k1"), "it is no NAME=NUMBER");
    }
}
