//! Prints results: as a report, as a row of a Markdown table, or compared with an earlier run.

use std::{
    collections::HashMap,
    fmt::{self, Display, Formatter},
};

use crate::{
    metrics::Interval,
    results::{Estimate, NDCG_CUT, PRECISION_CUT, QueryResult, Results, Shown},
};

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
            (format!("NDCG@{NDCG_CUT}"), Some(results.ndcg())),
            (format!("precision@{PRECISION_CUT}"), Some(results.precision())),
            ("  of those shown".to_owned(), Some(results.precision_of_shown())),
            ("  of all shown".to_owned(), results.precision_of_all()),
            (format!("recall@{NDCG_CUT}"), Some(results.recall())),
            ("composition".to_owned(), results.composition()),
            (format!("contradictions@{PRECISION_CUT}"), results.contradictions()),
            ("without result".to_owned(), Some(results.without_result())),
        ];
        for (name, estimate) in lines {
            let Some(Estimate { mean, interval }) = estimate else { continue };
            let (low, high) = (interval.low, interval.high);
            writeln!(f, "{name:<16}  {mean:.3}   95%: {low:.3} to {high:.3}")?;
        }
        writeln!(f, "{:<16}  {:.1}", "mean total", results.mean_total().mean)?;
        let (median, slow) = (results.milliseconds(0.5), results.milliseconds(0.99));
        writeln!(f, "{:<16}  {median:.2} p50, {slow:.2} p99", "ms a query")?;
        write_worst(f, &results.queries, *worst)
    }
}

fn write_worst(f: &mut Formatter<'_>, queries: &[QueryResult], worst: usize) -> fmt::Result {
    if worst > 0 {
        writeln!(f, "\nWorst queries by NDCG@{NDCG_CUT}, and what came first")?;
    }
    let mut by_ndcg: Vec<&QueryResult> = queries.iter().collect();
    by_ndcg.sort_by(|a, b| a.ndcg.total_cmp(&b.ndcg).then_with(|| a.query.cmp(&b.query)));
    for QueryResult { query, ndcg, total, first, .. } in by_ndcg.into_iter().take(worst) {
        writeln!(f, "{ndcg:.3}  {query}  ({total} found)")?;
        for Shown { title, grade } in first.iter().take(FIRST_SHOWN) {
            let grade = grade.map_or_else(|| "-".to_owned(), |grade| grade.to_string());
            writeln!(f, "       {grade:>4}  {}", shortened(title))?;
        }
    }
    Ok(())
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
        let with_interval = |estimate: Option<Estimate>| match estimate {
            Some(Estimate { mean, interval: Interval { low, high } }) => {
                format!("{mean:.3} ({low:.3} to {high:.3})")
            }
            None => String::new(),
        };
        let mean = |estimate: Option<Estimate>| {
            estimate.map_or_else(String::new, |estimate| format!("{:.3}", estimate.mean))
        };
        writeln!(
            f,
            "| {name} | {} | {} | {} | {} | {} | {} | {:.3} | {:.0} | {:.1} |",
            results.queries.len(),
            with_interval(Some(results.ndcg())),
            with_interval(Some(results.precision())),
            mean(results.precision_of_all()),
            with_interval(results.composition()),
            mean(results.contradictions()),
            results.without_result().mean,
            results.mean_total().mean,
            results.milliseconds(0.5),
        )
    }
}

/// Prints the mean difference of each metric that both runs have.
fn write_differences(f: &mut Formatter<'_>, pairs: &[(&QueryResult, &QueryResult)]) -> fmt::Result {
    type Measure = fn(&QueryResult) -> Option<f64>;
    let measures: [(&str, Measure); 7] = [
        ("NDCG", |result| Some(result.ndcg)),
        ("precision", |result| Some(result.precision)),
        ("  of all shown", |result| result.precision_of_all),
        ("recall", |result| result.recall),
        ("composition", |result| result.composition),
        ("contradictions", |result| result.contradictions),
        ("without result", |result| Some(f64::from(u8::from(result.total == 0)))),
    ];
    for (name, measure) in measures {
        let difference = |(before, after): &(&QueryResult, &QueryResult)| {
            Some(measure(after)? - measure(before)?)
        };
        let differences: Vec<f64> = pairs.iter().filter_map(difference).collect();
        if differences.is_empty() {
            continue;
        }
        let Estimate { mean, interval } = Estimate::of(&differences);
        let (low, high) = (interval.low, interval.high);
        let sure = if low > 0.0 || high < 0.0 { "" } else { "  (may be chance)" };
        writeln!(f, "{name:<16} {mean:+.3}   95%: {low:+.3} to {high:+.3}{sure}")?;
    }
    Ok(())
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
        write_differences(f, &pairs)?;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn results(shown: &[f64], judged: &[f64]) -> Results {
        let shown = shown.iter().map(|grade| Shown { title: "Sofa".into(), grade: Some(*grade) });
        let query = QueryResult::measure("sofa".into(), shown.collect(), judged, 2.0);
        Results {
            judgments: "judged.tsv".into(),
            catalog: "products.jsonl".into(),
            products: 9,
            judged: judged.len(),
            vectors: "no vectors".into(),
            relevant_from: 2.0,
            queries: vec![QueryResult { total: 3, ..query }],
        }
    }

    #[test]
    fn a_row_leaves_cells_of_absent_metrics_empty() {
        let results = results(&[2.0, 0.0], &[2.0]);
        let row = Row { name: "set", results: &results }.to_string();
        let expected = "| set | 1 | 1.000 (1.000 to 1.000) | 0.200 (0.200 to 0.200) |  | 1.000 (1.000 to 1.000) |  | 0.000 | 3 | 0.0 |\n";
        assert_eq!(row, expected);
    }

    #[test]
    fn a_comparison_shows_the_metrics_of_both_runs() {
        let (before, after) = (results(&[-1.0, 2.0], &[2.0, -1.0]), results(&[2.0], &[2.0, -1.0]));
        let shown = Comparison { before: &before, after: &after, moved: 0 }.to_string();
        assert!(shown.contains("contradictions   -0.500"), "{shown}");
        assert!(!shown.contains("of all shown"), "{shown}");
    }
}
