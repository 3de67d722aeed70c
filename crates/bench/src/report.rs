//! Prints measurements as a table, or as JSON for comparing two runs.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{load::Measured, machine::Machine};

/// One measured value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// Its name, the same in every run.
    pub name: String,
    /// The value.
    pub value: f64,
    /// The unit.
    pub unit: String,
    /// The median latency, in milliseconds.
    pub p50_ms: Option<f64>,
    /// The 99th percentile of the latency, in milliseconds.
    pub p99_ms: Option<f64>,
    /// The target.
    pub aim: Option<Aim>,
    /// How it was measured.
    pub how: String,
}

/// The target of a value.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
}

impl Aim {
    fn is_met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::AtMost(most) => value <= most,
        }
    }
}

impl Figure {
    /// A value and how it was measured.
    pub fn new(name: impl Into<String>, value: f64, unit: &str, how: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value,
            unit: unit.to_owned(),
            p50_ms: None,
            p99_ms: None,
            aim: None,
            how: how.into(),
        }
    }

    /// Adds the latencies of single requests.
    pub fn with_latency(mut self, measured: &Measured) -> Self {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        self.p50_ms = Some(milliseconds(measured.percentile(0.5)));
        self.p99_ms = Some(milliseconds(measured.percentile(0.99)));
        self
    }

    /// Adds a target.
    pub fn with_aim(mut self, aim: Aim) -> Self {
        self.aim = Some(aim);
        self
    }
}

/// All values of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The load average before and after, over the last minute.
    pub load_average: (f64, f64),
    /// The values, in the order of measurement.
    pub figures: Vec<Figure>,
}

impl Report {
    /// The table, with the change since an earlier run if one is given.
    pub fn table<'a>(&'a self, before: Option<&'a Self>) -> impl fmt::Display + 'a {
        Table { report: self, before }
    }
}

/// The machine and its load, above a table.
fn write_machine(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let Machine { cores, processor, kernel, file_system } = &report.machine;
    let (load_before, load_after) = report.load_average;
    writeln!(f, "{cores} cores of {processor}, Linux {kernel}, {file_system}")?;
    writeln!(f, "load average {load_before:.1} before, {load_after:.1} after\n")
}

fn write_rows(f: &mut fmt::Formatter<'_>, rows: &[Vec<String>]) -> fmt::Result {
    let columns = rows[0].len();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<_> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let cells: Vec<_> =
            cells.map(|(cell, width)| format!("{cell:<width$}", width = *width)).collect();
        writeln!(f, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

struct Table<'a> {
    report: &'a Report,
    before: Option<&'a Report>,
}

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_machine(f, self.report)?;
        let mut header = vec!["measured", "value", "p50 ms", "p99 ms", "aim", "met", "how"];
        if self.before.is_some() {
            header.insert(2, "before");
        }
        let header: Vec<_> = header.into_iter().map(str::to_owned).collect();
        let rule: Vec<_> = header.iter().map(|_| "---".to_owned()).collect();
        let mut rows = vec![header, rule];
        rows.extend(self.report.figures.iter().map(|figure| self.row(figure)));
        write_rows(f, &rows)
    }
}

impl Table<'_> {
    fn row(&self, figure: &Figure) -> Vec<String> {
        let time = |time: Option<f64>| time.map(|time| format!("{time:.2}")).unwrap_or_default();
        let number = |value: f64| format!("{} {}", rounded(value), figure.unit);
        let aim = figure.aim.map(|aim| match aim {
            Aim::AtLeast(least) => format!("≥ {}", rounded(least)),
            Aim::AtMost(most) => format!("≤ {}", rounded(most)),
        });
        let met = figure.aim.map(|aim| if aim.is_met(figure.value) { "yes" } else { "NO" });
        let mut row = vec![
            figure.name.clone(),
            number(figure.value),
            time(figure.p50_ms),
            time(figure.p99_ms),
            aim.unwrap_or_default(),
            met.unwrap_or_default().to_owned(),
            figure.how.clone(),
        ];
        if let Some(before) = self.before {
            let earlier = before.figures.iter().find(|earlier| earlier.name == figure.name);
            row.insert(2, earlier.map(|earlier| number(earlier.value)).unwrap_or_default());
        }
        row
    }
}

/// Three digits, or all before the point, in groups of three.
fn rounded(value: f64) -> String {
    if value < 100.0 {
        let places = if value < 10.0 { 2 } else { 1 };
        return format!("{value:.places$}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_to_be_read() {
        for (value, expected) in
            [(0.5, "0.50"), (12.34, "12.3"), (123.4, "123"), (1234.5, "1,234"), (1e6, "1,000,000")]
        {
            assert_eq!(rounded(value), expected);
        }
    }
}
