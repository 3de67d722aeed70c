//! The distance of a search to the limit of memory bandwidth.
//!
//! The service does not count the bytes that it reads, so they are estimated from the layout of the
//! index and the words of the queries: the sketch of every product, the postings of the query's words,
//! and the signs of the phrase index. Not counted are whole vectors and titles of candidates, rows,
//! and what lies between the values read in a cache line. What caches hold counts as if it came from
//! memory. So the limit is an order of magnitude, not a bound.

use std::{collections::HashMap, thread};

use bench::{bandwidth::read_bandwidth, products::Products, report::Figure};
use embed::{BuiltIn, Embedder, ModelFiles};
use serde_json::Value;

/// Bytes of a sketch beside its signs: the norm ratio.
const NORM_RATIO_BYTES: usize = 4;
/// Bytes of a posting: the document number in its segment and the packed term frequencies.
const POSTING_BYTES: f64 = 3.0;
/// Bytes of the signs of the phrase index: 64 bits for each of its phrases.
const PHRASE_SIGN_BYTES: f64 = 54_507.0 * 8.0;
const GIB: f64 = (1_u64 << 30) as f64;

/// The estimate for one catalog and its queries.
pub(crate) struct MemoryLimit {
    /// Bytes per second of all cores.
    bandwidth: f64,
    sketches: f64,
    postings: f64,
}

impl MemoryLimit {
    /// Measures the bandwidth and counts the words of products and queries.
    pub(crate) fn new(products: &Products, queries: &[String]) -> anyhow::Result<Self> {
        let dims = BuiltIn::new(ModelFiles::embedded(), 1)?.dims();
        let doc_freqs = doc_freqs(products);
        let doc_freq = |word: String| doc_freqs.get(&word).copied().unwrap_or(0) as f64;
        let of_words: f64 = queries.iter().flat_map(|query| words(query)).map(doc_freq).sum();
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            bandwidth: read_bandwidth(threads),
            sketches: (products.len() * (dims / 8 + NORM_RATIO_BYTES)) as f64,
            postings: POSTING_BYTES * of_words / queries.len().max(1) as f64,
        })
    }

    /// The limit, and how much of it `per_second` searches reach.
    pub(crate) fn figures(
        &self,
        per_second: f64,
        is_dense: bool,
        name: impl Fn(&str) -> String,
    ) -> Vec<Figure> {
        let (sketches, phrases) =
            if is_dense { (self.sketches, PHRASE_SIGN_BYTES) } else { (0.0, 0.0) };
        let bytes = sketches + phrases + self.postings;
        let how = format!(
            "estimate: sketches {:.2} MB, postings {:.2} MB, phrases {:.2} MB",
            sketches / 1e6,
            self.postings / 1e6,
            phrases / 1e6
        );
        let limit = self.bandwidth / bytes;
        let measured = format!("measured {:.1} GiB/s, all cores, reading", self.bandwidth / GIB);
        vec![
            Figure::new(name("bytes read"), bytes / 1e6, "MB/search", how),
            Figure::new(name("memory limit"), limit, "searches/s", measured),
            Figure::new(
                name("of the memory limit"),
                100.0 * per_second / limit,
                "%",
                "saturated searches/s : memory limit",
            ),
        ]
    }
}

/// In how many products each word occurs.
fn doc_freqs(products: &Products) -> HashMap<String, u32> {
    let mut doc_freqs = HashMap::new();
    for at in 0..products.len() {
        let product: Value = serde_json::from_slice(&products.single(at)).unwrap_or_default();
        let texts = ["title", "description"].map(|field| product[field].as_str().unwrap_or(""));
        let mut of_product: Vec<_> = texts.iter().flat_map(|text| words(text)).collect();
        of_product.sort_unstable();
        of_product.dedup();
        for word in of_product {
            *doc_freqs.entry(word).or_insert(0) += 1;
        }
    }
    doc_freqs
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|letter: char| !letter.is_alphanumeric());
    parts.filter(|word| !word.is_empty()).map(str::to_lowercase)
}
