//! Prints results: as a report, as a row of a Markdown table, or compared with an earlier run.

use std::{
    collections::HashMap,
    fmt::{self, Display, Formatter},
};

use crate::results::{Estimate, NDCG_CUT, PRECISION_CUT, QueryResult, Results, Shown};

/// Titles are shortened to this many characters.
const TITLE_WIDTH: usize = 70;
/// Products printed for each of the worst queries.
const FIRST_SHOWN: usize = 3;

/// The report of one run.
pub(crate) struct Report<'a> {
    pub(crate) results: &'a Results,
    pub(crate) worst: usize,
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { results, worst } = self;
        let Results { judgments, catalog, products, judged, vectors, .. } = results;
        let queries = results.queries.len();
        writeln!(f, "{judgments}: {queries} queries, {judged} judgments")?;
        writeln!(f, "{catalog}: {products} products, {vectors}\n")?;
        let lines = [
            (format!("NDCG@{NDCG_CUT}"), results.ndcg()),
            (format!("precision@{PRECISION_CUT}"), results.precision()),
            ("  of those shown".to_owned(), results.precision_of_shown()),
            (format!("recall@{NDCG_CUT}"), results.recall()),
            ("without result".to_owned(), results.without_result()),
        ];
        for (name, Estimate { mean, interval }) in lines {
            let (low, high) = (interval.low, interval.high);
            writeln!(f, "{name:<16}  {mean:.3}   95%: {low:.3} to {high:.3}")?;
        }
        writeln!(f, "{:<16}  {:.1}", "mean total", results.mean_total().mean)?;
        let (median, slow) = (results.milliseconds(0.5), results.milliseconds(0.99));
        writeln!(f, "{:<16}  {median:.2} p50, {slow:.2} p99", "ms a query")?;

        if *worst > 0 {
            writeln!(f, "\nWorst queries by NDCG@{NDCG_CUT}, and what came first")?;
        }
        let mut by_ndcg: Vec<&QueryResult> = results.queries.iter().collect();
        by_ndcg.sort_by(|a, b| a.ndcg.total_cmp(&b.ndcg).then_with(|| a.query.cmp(&b.query)));
        for QueryResult { query, ndcg, total, first, .. } in by_ndcg.into_iter().take(*worst) {
            writeln!(f, "{ndcg:.3}  {query}  ({total} found)")?;
            for Shown { title, grade } in first.iter().take(FIRST_SHOWN) {
                let grade = grade.map_or_else(|| "-".to_owned(), |grade| grade.to_string());
                writeln!(f, "       {grade:>4}  {}", shortened(title))?;
            }
        }
        Ok(())
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(TITLE_WIDTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// One row of a Markdown table.
pub(crate) struct Row<'a> {
    pub(crate) name: &'a str,
    pub(crate) results: &'a Results,
}

impl Display for Row<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { name, results } = self;
        let ndcg = results.ndcg();
        let precision = results.precision();
        writeln!(
            f,
            "| {name} | {} | {:.3} ({:.3} to {:.3}) | {:.3} ({:.3} to {:.3}) | {:.3} | {:.3} | {:.3} | {:.0} | {:.1} |",
            results.queries.len(),
            ndcg.mean,
            ndcg.interval.low,
            ndcg.interval.high,
            precision.mean,
            precision.interval.low,
            precision.interval.high,
            results.precision_of_shown().mean,
            results.recall().mean,
            results.without_result().mean,
            results.mean_total().mean,
            results.milliseconds(0.5),
        )
    }
}

/// Two runs over the same queries.
pub(crate) struct Comparison<'a> {
    pub(crate) before: &'a Results,
    pub(crate) after: &'a Results,
    /// The number of queries to print, those with the largest change of NDCG first.
    pub(crate) moved: usize,
}

impl Display for Comparison<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { before, after, moved } = self;
        let known: HashMap<&str, &QueryResult> =
            before.queries.iter().map(|result| (result.query.as_str(), result)).collect();
        let mut pairs: Vec<(&QueryResult, &QueryResult)> = after
            .queries
            .iter()
            .filter_map(|result| Some((*known.get(result.query.as_str())?, result)))
            .collect();
        writeln!(f, "\nCompared with before, over the {} queries in both", pairs.len())?;
        type Measure = fn(&QueryResult) -> f64;
        let measures: [(&str, Measure); 4] = [
            ("NDCG", |result| result.ndcg),
            ("precision", |result| result.precision),
            ("recall", |result| result.recall.unwrap_or_default()),
            ("without result", |result| f64::from(u8::from(result.total == 0))),
        ];
        for (name, measure) in measures {
            let differences: Vec<f64> =
                pairs.iter().map(|(before, after)| measure(after) - measure(before)).collect();
            let Estimate { mean, interval } = Estimate::of(&differences);
            let (low, high) = (interval.low, interval.high);
            let sure = if low > 0.0 || high < 0.0 { "" } else { "  (may be chance)" };
            writeln!(f, "{name:<16} {mean:+.3}   95%: {low:+.3} to {high:+.3}{sure}")?;
        }

        let gain = |(before, after): &(&QueryResult, &QueryResult)| after.ndcg - before.ndcg;
        pairs.retain(|pair| gain(pair).abs() > 1e-9);
        pairs.sort_by(|a, b| {
            gain(b).abs().total_cmp(&gain(a).abs()).then_with(|| a.1.query.cmp(&b.1.query))
        });
        if *moved > 0 && !pairs.is_empty() {
            writeln!(f, "\nMoved most, and what came first before and after")?;
        }
        for pair in pairs.iter().take(*moved) {
            let (before, after) = pair;
            writeln!(f, "{:+.3}  {}", gain(pair), after.query)?;
            for (sign, result) in [('-', before), ('+', after)] {
                let first = result.first.first();
                let first = first.map_or_else(|| "nothing".to_owned(), |one| shortened(&one.title));
                writeln!(f, "         {sign} {first}")?;
            }
        }
        Ok(())
    }
}
