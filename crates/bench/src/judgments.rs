//! Judged queries, and the quality of rankings by them: NDCG@10 as `shopkeeper eval` computes it.

use std::{collections::HashMap, path::Path};

use anyhow::{Context, ensure};
use relevance::metrics::ndcg;

use crate::catalog_file::{Product, read_text};

/// Ranks that count.
pub const CUT: usize = 10;

/// Queries with the grades of products, by their position in the catalog.
#[derive(Debug, PartialEq)]
pub struct JudgedQueries {
    /// In the order of the file.
    pub queries: Vec<JudgedQuery>,
}

/// One query.
#[derive(Debug, PartialEq)]
pub struct JudgedQuery {
    /// Its text.
    pub query: String,
    /// The grade of each judged product; others count 0.
    grades: HashMap<usize, f64>,
}

impl JudgedQueries {
    /// Reads a tab-separated file with the columns `query`, `product` and `grade`.
    pub fn read(file: &Path, catalog: &[Product]) -> anyhow::Result<Self> {
        Self::parse(&read_text(file)?, catalog).with_context(|| format!("in {}", file.display()))
    }

    fn parse(text: &str, catalog: &[Product]) -> anyhow::Result<Self> {
        let numbered = catalog.iter().enumerate();
        let positions: HashMap<&str, usize> =
            numbered.map(|(at, product)| (product.name.as_str(), at)).collect();
        let mut lines = text.lines();
        let header: Vec<_> = lines.next().unwrap_or_default().split('\t').collect();
        let column = |name: &str| {
            let found = header.iter().position(|column| *column == name);
            found.with_context(|| format!("the first line names no column {name}"))
        };
        let (query, product, grade) = (column("query")?, column("product")?, column("grade")?);
        let mut queries: Vec<JudgedQuery> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for line in lines.filter(|line| !line.is_empty()) {
            let fields: Vec<_> = line.split('\t').collect();
            let field = |at: usize| fields.get(at).copied().unwrap_or_default();
            let position = positions.get(field(product));
            let position = *position.with_context(|| format!("unknown product in {line:?}"))?;
            let grade: f64 = field(grade).parse().with_context(|| format!("grade of {line:?}"))?;
            let at = *known.entry(field(query)).or_insert_with(|| {
                let query = field(query).to_owned();
                queries.push(JudgedQuery { query, grades: HashMap::new() });
                queries.len() - 1
            });
            queries[at].grades.insert(position, grade);
        }
        ensure!(!queries.is_empty(), "there are no judgments");
        Ok(Self { queries })
    }

    /// The mean NDCG@10 of one ranking per query, given as positions in the catalog.
    pub fn mean_ndcg(&self, rankings: &[Vec<usize>]) -> f64 {
        let each = self.queries.iter().zip(rankings).map(|(judged, ranking)| judged.ndcg(ranking));
        each.sum::<f64>() / self.queries.len() as f64
    }
}

impl JudgedQuery {
    fn ndcg(&self, ranking: &[usize]) -> f64 {
        let grade = |at: &usize| self.grades.get(at).copied().unwrap_or(0.0);
        let ranked: Vec<f64> = ranking.iter().map(grade).collect();
        let judged: Vec<f64> = self.grades.values().copied().collect();
        ndcg(&ranked, &judged, CUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Vec<Product> {
        let product = |name: &str| Product {
            name: name.to_owned(),
            title: name.to_owned(),
            description: String::new(),
            price: "$1".to_owned(),
            other: serde_json::Map::new(),
        };
        ["a", "b", "c"].map(product).into()
    }

    #[test]
    fn grades_are_read_by_the_names_of_products() {
        let text = "query\tproduct\tgrade\nsofa\tb\t2\nlamp\tc\t1.67\nsofa\ta\t1\n";
        let read = JudgedQueries::parse(text, &catalog()).unwrap();
        let queries: Vec<_> = read.queries.iter().map(|judged| judged.query.as_str()).collect();
        assert_eq!(queries, ["sofa", "lamp"]);
        assert_eq!(read.queries[0].grades, HashMap::from([(1, 2.0), (0, 1.0)]));
        assert_eq!(read.queries[1].grades, HashMap::from([(2, 1.67)]));
        for wrong in [
            "query\tproduct\nsofa\ta\n",
            "query\tproduct\tgrade\nsofa\tx\t1\n",
            "query\tproduct\tgrade\nsofa\ta\tgood\n",
            "query\tproduct\tgrade\n",
        ] {
            assert!(JudgedQueries::parse(wrong, &catalog()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ndcg_is_the_mean_over_the_queries() {
        let text = "query\tproduct\tgrade\nsofa\tb\t2\nsofa\ta\t1\nlamp\tc\t1\n";
        let judged = JudgedQueries::parse(text, &catalog()).unwrap();
        assert_eq!(judged.mean_ndcg(&[vec![1, 0], vec![2]]), 1.0);
        // The second query finds its product at rank 2.
        let half = judged.mean_ndcg(&[vec![1, 0], vec![0, 2]]);
        assert!((half - f64::midpoint(1.0, 1.0 / 3_f64.log2())).abs() < 1e-9, "{half}");
        assert_eq!(judged.mean_ndcg(&[vec![], vec![]]), 0.0);
    }
}
