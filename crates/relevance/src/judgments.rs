//! Reads judgments: queries with graded products, or with regular expressions that relevant titles
//! match.
//!
//! Grade 0 is wrong, a higher grade is better, and -1 contradicts the query: the product has another
//! value of an attribute that the query states.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
};

use anyhow::{Context, bail, ensure};
use regex::{Regex, RegexBuilder};

use crate::{catalog_file::CatalogFile, metrics::CONTRADICTION, misspelling::misspell};

/// The queries of a judgments file.
pub(crate) struct JudgedQueries {
    pub(crate) queries: Vec<JudgedQuery>,
}

/// A query with the grades of products, by their position in the catalog file.
pub(crate) struct JudgedQuery {
    pub(crate) query: String,
    pub(crate) grades: HashMap<usize, f64>,
}

impl JudgedQueries {
    pub(crate) fn read(path: &Path, catalog: &CatalogFile) -> anyhow::Result<Self> {
        let columns = ["query", "product", "grade", "match", "exclude"];
        let (rows, [query, product, grade, pattern, _]) = read_columns(path, columns)?;
        let queries = match (query, product && grade, pattern) {
            (true, true, _) => by_grade(rows, catalog)?,
            (true, false, true) => by_pattern(rows, catalog)?,
            _ => bail!(
                "the first line must name the columns query, product and grade, or query, match and exclude"
            ),
        };
        ensure!(!queries.is_empty(), "there are no queries");
        Ok(Self { queries })
    }

    /// Removes the queries that the file lists, ignoring case and spacing.
    pub(crate) fn leave_out(&mut self, path: &Path) -> anyhow::Result<()> {
        let (rows, [query, text]) = read_columns(path, ["query", "text"])?;
        ensure!(query || text, "the first line must name a column query or text");
        let known: HashSet<String> = rows.iter().flatten().map(|text| normalised(text)).collect();
        self.queries.retain(|judged| !known.contains(&normalised(&judged.query)));
        ensure!(!self.queries.is_empty(), "all queries are left out");
        Ok(())
    }

    /// Puts a typo into every query, and removes those that are too short for one.
    pub(crate) fn misspell(&mut self) -> anyhow::Result<()> {
        self.queries.retain_mut(|judged| match misspell(&judged.query) {
            Some(wrong) => {
                judged.query = wrong;
                true
            }
            None => false,
        });
        ensure!(!self.queries.is_empty(), "no query has a word of five letters");
        Ok(())
    }

    pub(crate) fn judgment_count(&self) -> usize {
        self.queries.iter().map(|judged| judged.grades.len()).sum()
    }
}

/// Normalises a query for comparison: lower case, single spaces.
fn normalised(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn by_grade(rows: Vec<[String; 5]>, catalog: &CatalogFile) -> anyhow::Result<Vec<JudgedQuery>> {
    let positions: HashMap<&str, usize> = catalog
        .products
        .iter()
        .enumerate()
        .map(|(at, listed)| (listed.name.as_str(), at))
        .collect();
    let mut queries: Vec<JudgedQuery> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for [query, product, grade, ..] in rows {
        let position = *positions
            .get(product.as_str())
            .with_context(|| format!("the catalog has no product {product:?}"))?;
        let grade: f64 = grade.parse().with_context(|| format!("{grade:?} is no grade"))?;
        let is_grade = grade.is_finite() && (grade >= 0.0 || grade == CONTRADICTION);
        ensure!(is_grade, "{grade} is no grade");
        let at = *known.entry(query.clone()).or_insert_with(|| {
            queries.push(JudgedQuery { query, grades: HashMap::new() });
            queries.len() - 1
        });
        queries[at].grades.insert(position, grade);
    }
    Ok(queries)
}

/// Titles that match get grade 1; all others stay unjudged.
fn by_pattern(rows: Vec<[String; 5]>, catalog: &CatalogFile) -> anyhow::Result<Vec<JudgedQuery>> {
    let queries = rows.into_iter().map(|[query, _, _, wanted, unwanted]| {
        let wanted = starts_of_words(&wanted)?;
        let unwanted = Some(unwanted).filter(|pattern| !pattern.is_empty());
        let unwanted = unwanted.as_deref().map(starts_of_words).transpose()?;
        let fits = |title: &str| {
            wanted.is_match(title) && !unwanted.as_ref().is_some_and(|not| not.is_match(title))
        };
        let products = catalog.products.iter().enumerate();
        let fitting = products.filter(|(_, listed)| fits(listed.draft.title.as_str()));
        Ok(JudgedQuery { query, grades: fitting.map(|(at, _)| (at, 1.0)).collect() })
    });
    queries.collect()
}

/// A case-insensitive expression that matches from the start of a word.
fn starts_of_words(pattern: &str) -> anyhow::Result<Regex> {
    let whole = format!(r"\b(?:{pattern})");
    let built = RegexBuilder::new(&whole).case_insensitive(true).build();
    built.with_context(|| format!("{pattern:?} is no pattern"))
}

/// Reads the named columns of a tab-separated file without quoting. Returns the rows, and which
/// columns the header has; values of missing columns are empty.
pub(crate) fn read_columns<const N: usize>(
    path: &Path,
    names: [&str; N],
) -> anyhow::Result<(Vec<[String; N]>, [bool; N])> {
    let text = fs::read_to_string(path)?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split('\t').collect();
    let places = names.map(|name| header.iter().position(|column| *column == name));
    let rows = lines.filter(|line| !line.is_empty()).map(|line| {
        let values: Vec<&str> = line.split('\t').collect();
        places.map(|place| place.and_then(|at| values.get(at)).copied().unwrap_or_default().into())
    });
    Ok((rows.collect(), places.map(|place| place.is_some())))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const CATALOG: &str = r#"{"product": "a", "title": "Velvet Sofa"}
{"product": "b", "title": "Sofa Print T-Shirt"}
{"product": "c", "title": "Two Couches"}
"#;

    /// Compares the parsed judgments, or the error, with `expected`.
    fn check(judgments: &str, without: Option<&str>, expected: &str) {
        let folder = TempDir::new().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let catalog = CatalogFile::read(&write("catalog.jsonl", CATALOG)).unwrap();
        let read = || {
            let mut read = JudgedQueries::read(&write("judgments.tsv", judgments), &catalog)?;
            if let Some(text) = without {
                read.leave_out(&write("without.tsv", text))?;
            }
            anyhow::Ok(read)
        };
        let found = match read() {
            Ok(read) => {
                let mut lines = Vec::new();
                for JudgedQuery { query, grades } in &read.queries {
                    let mut grades: Vec<_> = grades.iter().collect();
                    grades.sort_by_key(|(position, _)| **position);
                    lines.push(format!("{query} {grades:?}"));
                }
                lines.join(", ")
            }
            Err(error) => format!("{error:#}"),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn grades_are_gathered_by_query() {
        let judgments =
            "grade\tquery\tproduct\n2\tsofa\ta\n0.33\tcouch\tc\n0\tsofa\tb\n-1\tsofa\tc\n";
        check(judgments, None, "sofa [(0, 2.0), (1, 0.0), (2, -1.0)], couch [(2, 0.33)]");
    }

    #[test]
    fn patterns_fit_from_the_start_of_a_word_in_any_case() {
        check(
            "query\tkind\tmatch\texclude\nsettee\tsofa\tsofa|couch\tt-shirt\nfa\t\tfa\t\n",
            None,
            "settee [(0, 1.0), (2, 1.0)], fa []",
        );
    }

    #[test]
    fn known_queries_are_left_out_however_they_are_written() {
        let judgments = "query\tproduct\tgrade\nred sofa\ta\t1\ncouch\tc\t1\n";
        check(judgments, Some("type\ttext\nx\tRed  SOFA\n"), "couch [(2, 1.0)]");
        check(judgments, Some("name\nx\n"), "the first line must name a column query or text");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        check("query\tproduct\tgrade\nx\tzz\t1\n", None, "the catalog has no product \"zz\"");
        check("query\tproduct\tgrade\nx\ta\t-2\n", None, "-2 is no grade");
        check("query\tproduct\tgrade\n", None, "there are no queries");
        check(
            "query\tproduct\n",
            None,
            "the first line must name the columns query, product and grade, or query, match and exclude",
        );
    }
}
