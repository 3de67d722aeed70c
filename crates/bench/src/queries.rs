//! The queries of a benchmark: read from files, or derived from the titles of a catalog in fixed
//! proportions ([`MIXTURE`]).

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
};

use anyhow::ensure;

use crate::{catalog_file::read_text, random::Random};

/// Words of a query, from … to, and how often each number of words occurs, in percent: short queries
/// are the most frequent.
pub const LENGTHS: [(usize, usize); 6] = [(3, 40), (4, 28), (5, 15), (6, 9), (7, 5), (8, 3)];
/// The most words of a query before its condition is added.
const WORDS_BEFORE_CONDITION: usize = 4;
/// The most frequent words of titles, from which queries of frequent words are made.
const FREQUENT: usize = 200;
/// Only words of at least this many letters are misspelled or counted as frequent: shorter ones are
/// sizes and function words.
const LEAST_LETTERS: usize = 4;
/// How often a query is derived again because it exists already.
const ATTEMPTS: usize = 20;
const AMOUNTS: [u32; 8] = [15, 20, 25, 50, 80, 100, 150, 200];

/// The kind of a derived query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Consecutive words of a title.
    TitleWords,
    /// Words that many titles contain: the longest postings.
    FrequentWords,
    /// Words of a title, one of them with a typing error.
    Misspelled,
    /// Words of a title and a price condition.
    Condition,
}

/// The proportions of derived queries, in percent.
pub const MIXTURE: [(Kind, usize); 4] = [
    (Kind::TitleWords, 50),
    (Kind::FrequentWords, 15),
    (Kind::Misspelled, 20),
    (Kind::Condition, 15),
];

/// The distinct queries of files, in order: one per line, or the column `query` of a tab-separated
/// file with a header.
pub fn read(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let mut known = HashSet::new();
    let mut queries = Vec::new();
    for file in files {
        let text = read_text(file)?;
        let new = parse(&text).filter(|query| known.insert((*query).to_owned()));
        queries.extend(new.map(str::to_owned));
    }
    ensure!(!queries.is_empty(), "there are no queries");
    Ok(queries)
}

fn parse(text: &str) -> impl Iterator<Item = &str> {
    let header = text.lines().next().unwrap_or_default();
    let column = header.split('\t').position(|name| name == "query");
    text.lines()
        .skip(usize::from(column.is_some()))
        .filter_map(move |line| line.split('\t').nth(column.unwrap_or(0)))
        .map(str::trim)
        .filter(|query| !query.is_empty())
}

/// `count` queries, distinct as far as the titles allow.
pub fn derive(titles: &[String], count: usize, seed: u64) -> Vec<String> {
    let source = Source::of(titles);
    let mut random = Random::new(seed);
    let mut known = HashSet::with_capacity(count);
    let mut queries = Vec::with_capacity(count);
    while queries.len() < count {
        let kind = drawn(&MIXTURE, &mut random);
        let mut query = source.query(kind, &mut random);
        for _ in 0..ATTEMPTS {
            if !known.contains(&query) {
                break;
            }
            query = source.query(kind, &mut random);
        }
        known.insert(query.clone());
        queries.push(query);
    }
    queries
}

/// The words that queries are derived from.
struct Source {
    titles: Vec<Vec<String>>,
    frequent: Vec<String>,
}

impl Source {
    fn of(titles: &[String]) -> Self {
        let titles: Vec<_> = titles.iter().map(|title| words(title)).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for word in titles.iter().flatten().filter(|word| is_long(word)) {
            *counts.entry(word).or_default() += 1;
        }
        let mut frequent: Vec<_> = counts.into_iter().collect();
        frequent
            .sort_unstable_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(other.0)));
        let frequent = frequent.into_iter().take(FREQUENT).map(|(word, _)| word.to_owned());
        let frequent = frequent.collect();
        let is_long_enough = |title: &Vec<String>| title.len() >= LENGTHS[0].0;
        let long_enough: Vec<_> = titles.iter().filter(|title| is_long_enough(title)).collect();
        let titles = match long_enough.is_empty() {
            true => titles,
            false => long_enough.into_iter().cloned().collect(),
        };
        Self { titles, frequent }
    }

    fn query(&self, kind: Kind, random: &mut Random) -> String {
        let length = drawn(&LENGTHS, random);
        match kind {
            Kind::TitleWords => self.span(length, random).join(" "),
            Kind::FrequentWords => {
                let mut chosen: Vec<&str> = Vec::new();
                for _ in 0..length.min(self.frequent.len()) {
                    let word = random.pick(&self.frequent);
                    if !chosen.contains(&word.as_str()) {
                        chosen.push(word);
                    }
                }
                chosen.join(" ")
            }
            Kind::Misspelled => {
                let mut span = self.span(length, random);
                let long: Vec<_> = (0..span.len()).filter(|at| is_long(&span[*at])).collect();
                if !long.is_empty() {
                    let at = *random.pick(&long);
                    span[at] = misspelled(&span[at], random);
                }
                span.join(" ")
            }
            Kind::Condition => {
                let span = self.span(length.min(WORDS_BEFORE_CONDITION), random).join(" ");
                format!("{span} {}", condition(random))
            }
        }
    }

    /// Consecutive words of a title.
    fn span(&self, length: usize, random: &mut Random) -> Vec<String> {
        let title = random.pick(&self.titles);
        let from = random.below(title.len().saturating_sub(length) + 1);
        title.iter().skip(from).take(length).cloned().collect()
    }
}

/// A price condition of two to four words.
fn condition(random: &mut Random) -> String {
    let amount = *random.pick(&AMOUNTS);
    match random.below(4) {
        0 | 1 => format!("under ${amount}"),
        2 => format!("over ${amount}"),
        _ => format!("between ${amount} and ${}", amount * 3),
    }
}

/// A word with one typing error that is not at its beginning: two letters exchanged, one left out,
/// doubled or replaced.
fn misspelled(word: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let at = 1 + random.below(letters.len() - 2);
    match random.below(4) {
        0 if letters[at] != letters[at + 1] => letters.swap(at, at + 1),
        1 => letters.insert(at, letters[at]),
        2 => letters[at] = if letters[at] == 'e' { 'a' } else { 'e' },
        _ => {
            letters.remove(at);
        }
    }
    letters.into_iter().collect()
}

/// The words of a title as a shopper types them: lower case, without punctuation around them.
fn words(title: &str) -> Vec<String> {
    let trimmed = title
        .split_whitespace()
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase());
    trimmed.filter(|word| !word.is_empty()).collect()
}

fn is_long(word: &str) -> bool {
    word.chars().count() >= LEAST_LETTERS && word.chars().all(char::is_alphabetic)
}

/// A value, by percentages that sum to 100.
fn drawn<T: Copy>(shares: &[(T, usize)], random: &mut Random) -> T {
    let mut left = random.below(shares.iter().map(|(_, share)| share).sum());
    for (value, share) in shares {
        if left < *share {
            return *value;
        }
        left -= share;
    }
    unreachable!("the number is below the sum of the shares")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles() -> Vec<String> {
        let kinds = ["Sofa", "Lamp", "Chair", "Table"];
        (0..4000)
            .map(|at| {
                let kind = kinds[at % 4];
                format!("Brand{at} Velvet {kind} with Removable, Washable Covers (item {at}) red")
            })
            .collect()
    }

    #[test]
    fn proportions_and_lengths_are_those_stated() {
        assert_eq!(MIXTURE.iter().map(|(_, share)| share).sum::<usize>(), 100);
        assert_eq!(LENGTHS.iter().map(|(_, share)| share).sum::<usize>(), 100);
        let queries = derive(&titles(), 4000, 5);
        let share = |wanted: &dyn Fn(&str) -> bool| {
            queries.iter().filter(|query| wanted(query)).count() as f64 / 4000.0
        };
        let conditions = share(&|query| query.contains('$'));
        assert!((conditions - 0.15).abs() < 0.02, "{conditions}");
        let lengths: Vec<_> = queries.iter().map(|query| query.split(' ').count()).collect();
        assert!(lengths.iter().all(|words| (1..=8).contains(words)));
        // Frequent words that are drawn twice make a query shorter.
        let three_or_more = lengths.iter().filter(|words| **words >= 3).count() as f64;
        assert!(three_or_more / 4000.0 > 0.9, "{three_or_more}");
    }

    #[test]
    fn queries_are_distinct_and_follow_from_the_seed() {
        let queries = derive(&titles(), 2000, 5);
        let distinct: HashSet<_> = queries.iter().collect();
        assert!(distinct.len() > 1900, "{}", distinct.len());
        assert_eq!(queries, derive(&titles(), 2000, 5));
        assert_ne!(queries, derive(&titles(), 2000, 6));
        // Titles that are too short for a query do not stop anything.
        assert_eq!(derive(&["Sofa".to_owned()], 3, 1).len(), 3);
    }

    #[test]
    fn a_misspelled_word_is_another_with_the_same_first_letter() {
        let mut random = Random::new(9);
        for word in ["velvet", "sofa", "removable", "aaaa"] {
            for _ in 0..50 {
                let made = misspelled(word, &mut random);
                assert_ne!(made, word);
                assert_eq!(made.chars().next(), word.chars().next());
                assert!(made.chars().count().abs_diff(word.chars().count()) <= 1);
            }
        }
    }

    #[test]
    fn files_have_a_column_or_a_query_per_line() {
        let parsed = |text| parse(text).collect::<Vec<_>>();
        assert_eq!(parsed("product\tquery\n1\tred sofa\n2\tred sofa\n"), ["red sofa", "red sofa"]);
        assert_eq!(parsed("red sofa\n\n lamp \n"), ["red sofa", "lamp"]);
    }
}
