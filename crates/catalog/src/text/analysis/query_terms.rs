//! Turns the residual text of a query into the terms to search for.
//!
//! A term has alternatives: codes, compounds and measures are searched for in every form in which
//! products may have them, and the best form that a product has counts.

use unicode_segmentation::UnicodeSegmentation;

use super::{
    Lexeme, Measure, TextKind, for_each_lexeme, for_each_segment, katakana_bigrams,
    measure::size_of, stem::singular, stop_words::stop_words,
};
use crate::text::{analysis::cut, correction::Confidence};

/// The terms that a query searches for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryTerms {
    terms: Vec<Term>,
}

/// One term of a query, in several alternatives. The best alternative that a product has counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// How sure it is, if it replaces a word that the shop does not have.
    pub corrected: Option<Confidence>,
    /// At least one.
    pub alternatives: Vec<Alternative>,
}

/// One form of a term.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// Index terms; at least one. Their scores are added.
    pub words: Vec<Box<str>>,
    /// The factor for the sum, above 0 and at most 1.
    pub weight: f32,
    /// Whether a product must have all of the words, or any of them.
    pub all: bool,
    /// Whether it is another spelling of the first alternative. Spellings share one idf: a typo in a
    /// title is rare but not informative.
    pub respelled: bool,
}

/// Weight of the number without its unit.
const BARE_NUMBER: f32 = 0.4;
/// Weight of two dimensions of a size with three.
const PART_OF_SIZE: f32 = 0.7;
/// Weight of the dimensions of a size, each anywhere.
const SEPARATE_DIMENSIONS: f32 = 0.5;
/// Weight of some of the words of a compound.
const PARTS_OF_COMPOUND: f32 = 0.8;
/// Shorter parts of a compound are not searched for alone: `40` of `wd-40`, `t` of `t-shirt`.
const MIN_PART: usize = 3;
/// Weight of the letters and digits of a code as two words: `wd 40` for `wd40`.
const SPLIT_CODE: f32 = 0.9;

/// Weight of a katakana word inside another one, shared among its bigrams.
const INSIDE_KATAKANA: f32 = 0.8;
/// The bigrams of a shorter katakana word may be in another one apart.
const MIN_INSIDE_KATAKANA: usize = 3;

/// Longer words are not joined with their neighbour.
const MAX_JOINED: usize = 16;

impl Alternative {
    /// A single word with weight 1.
    pub fn word(word: &str) -> Self {
        Self { words: vec![word.into()], weight: 1.0, all: false, respelled: false }
    }

    fn with_weight(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// Words of which a product may have any.
    fn any(words: Vec<Box<str>>) -> Self {
        Self { words, weight: 1.0, all: false, respelled: false }
    }

    /// Words of which a product must have all.
    pub(crate) fn all(words: Vec<Box<str>>) -> Self {
        Self { words, weight: 1.0, all: true, respelled: false }
    }

    /// Whether a product with certain words has this alternative.
    fn matches(&self, has: &mut impl FnMut(&str) -> bool) -> bool {
        let mut words = self.words.iter();
        match self.all {
            true => words.all(|word| has(word)),
            false => words.any(|word| has(word)),
        }
    }
}

impl Term {
    /// One word, or a code that may also be written as two words.
    fn of_form(form: &str) -> Self {
        let word = singular(form);
        let mut alternatives = vec![Alternative::word(&word)];
        if let Some((letters, digits)) = split_code(&word) {
            let parts = vec![letters.into(), digits.into()];
            alternatives.push(Alternative::all(parts).with_weight(SPLIT_CODE));
        }
        let bigrams: Vec<Box<str>> = katakana_bigrams(&word).map(Box::from).collect();
        if bigrams.len() >= MIN_INSIDE_KATAKANA {
            let weight = INSIDE_KATAKANA / bigrams.len() as f32;
            alternatives.push(Alternative::all(bigrams).with_weight(weight));
        }
        Self { alternatives, corrected: None }
    }

    /// `l'huile` is `lhuile`, as a name would be indexed, or `huile`.
    fn of_elided(joined: &str, word: &str) -> Self {
        let mut term = Self::of_form(cut(joined));
        let word = Alternative::word(&singular(cut(word)));
        term.alternatives.push(Alternative { respelled: true, ..word });
        term
    }

    /// `wd-40` is `wd40`, or `wd` and `40`; `heath-zenith` is also each of its words.
    fn of_compound(parts: &[String], joined: &str) -> Option<Self> {
        let words: Vec<Box<str>> = parts.iter().map(|part| singular(cut(part)).into()).collect();
        let meaningful: Vec<Box<str>> =
            words.iter().filter(|word| is_meaningful_alone(word)).cloned().collect();
        let mut alternatives = Vec::new();
        if joined.len() <= super::MAX_COMPOUND_BYTES {
            alternatives.push(Alternative::word(&singular(joined)));
        }
        alternatives.push(Alternative::all(words));
        if !meaningful.is_empty() {
            let some = Alternative { weight: PARTS_OF_COMPOUND, ..Alternative::any(meaningful) };
            alternatives.push(some);
        }
        Some(Self { alternatives, corrected: None })
    }

    fn of_measure(dimensions: &[Measure]) -> Self {
        let number = |dimension: &Measure| Alternative::word(cut(&dimension.number));
        let alternatives = match dimensions {
            [dimension] if dimension.unit.is_some() => vec![
                Alternative::word(cut(&dimension.joined())),
                number(dimension).with_weight(BARE_NUMBER),
            ],
            [dimension] => vec![number(dimension)],
            dimensions => {
                let size = |dimensions: &[Measure]| Alternative::word(cut(&size_of(dimensions)));
                let mut ways = vec![size(dimensions)];
                if dimensions.len() > 2 {
                    ways.extend(
                        dimensions.windows(2).map(|two| size(two).with_weight(PART_OF_SIZE)),
                    );
                }
                let numbers =
                    dimensions.iter().flat_map(|dimension| number(dimension).words).collect();
                ways.push(Alternative::all(numbers).with_weight(SEPARATE_DIMENSIONS));
                ways
            }
        };
        Self { alternatives, corrected: None }
    }
}

/// Whether a part of a compound is meaningful without the others.
fn is_meaningful_alone(word: &str) -> bool {
    word.len() > MIN_PART
        || (word.len() == MIN_PART && !word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a form may be part of a word that was written as two: `wd 40`, `drop cloth`.
fn is_plain(form: &str) -> bool {
    (1..=MAX_JOINED).contains(&form.len())
        && form.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// The letters and the digits of a code such as `wd40`.
fn split_code(word: &str) -> Option<(&str, &str)> {
    let letters = word.bytes().take_while(u8::is_ascii_lowercase).count();
    let (letters, digits) = word.split_at(letters);
    let is_code = !letters.is_empty()
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_code.then_some((letters, digits))
}

/// A form of a query's text.
pub(crate) struct QueryForm<'a> {
    /// As written, but folded.
    pub(crate) form: &'a str,
    /// The first word that its term searches for.
    pub(crate) term: String,
    /// The number of the run of letters that it belongs to.
    pub(crate) run: usize,
    /// Whether it is two characters of a script without spaces.
    pub(crate) is_bigram: bool,
}

/// Calls `f` with the forms of a query's text; without measures, and words with hyphens.
pub(crate) fn for_each_query_form(text: &str, mut f: impl FnMut(QueryForm<'_>)) {
    let mut run = 0;
    for_each_lexeme(text, TextKind::Query, |lexeme| {
        run += 1;
        match lexeme {
            Lexeme::Form(form) => for_each_segment(form, TextKind::Query, |form| {
                let is_bigram = form.unicode_words().nth(1).is_some();
                f(QueryForm { form, term: singular(form).into_owned(), run, is_bigram });
            }),
            Lexeme::Elided { joined, word } => {
                let term = singular(cut(joined)).into_owned();
                f(QueryForm { form: cut(word), term, run, is_bigram: false });
            }
            _ => {}
        }
    });
}

impl QueryTerms {
    /// Analyses a query. Stop words count only in a query that has nothing else.
    pub fn of(text: &str) -> Self {
        let mut forms: Vec<String> = Vec::new();
        let mut terms: Vec<Term> = Vec::new();
        let mut push = |form: &str, term: Term| {
            forms.push(form.to_owned());
            terms.push(term);
        };
        for_each_lexeme(text, TextKind::Query, |lexeme| match lexeme {
            Lexeme::Form(form) => {
                for_each_segment(form, TextKind::Query, |form| push(form, Term::of_form(form)));
            }
            Lexeme::Elided { joined, word } => push(joined, Term::of_elided(joined, word)),
            Lexeme::Compound { parts, .. } if !parts.iter().all(|part| part.is_ascii()) => {
                for part in parts {
                    for_each_segment(part, TextKind::Query, |form| push(form, Term::of_form(form)));
                }
            }
            Lexeme::Compound { parts, joined } => {
                if let Some(term) = Term::of_compound(parts, joined) {
                    push(joined, term);
                }
            }
            Lexeme::Measured(dimensions) => push("", Term::of_measure(dimensions)),
            Lexeme::Break | Lexeme::Pause => {}
        });
        let stop_words = stop_words(&forms);
        let has_content = stop_words.contains(&false);
        for at in 1..terms.len() {
            let is_plain = |at: usize| !stop_words[at] && is_plain(&forms[at]);
            if is_plain(at - 1) && is_plain(at) {
                let joined = format!("{}{}", forms[at - 1], forms[at]);
                let joined = Alternative::word(&singular(&joined));
                terms[at - 1].alternatives.push(Alternative { respelled: true, ..joined });
            }
        }
        let mut distinct: Vec<Term> = Vec::new();
        for (term, is_stop_word) in terms.into_iter().zip(stop_words) {
            let is_same = |known: &Term| known.alternatives[0] == term.alternatives[0];
            if !(is_stop_word && has_content || distinct.iter().any(is_same)) {
                distinct.push(term);
            }
        }
        Self { terms: distinct }
    }

    /// The distinct terms, in the order of their first occurrence.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    pub(crate) fn terms_mut(&mut self) -> &mut Vec<Term> {
        &mut self.terms
    }

    /// The words of all alternatives; some more than once.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let alternatives = self.terms.iter().flat_map(|term| &term.alternatives);
        alternatives.flat_map(|way| &way.words).map(|word| &**word)
    }

    /// Whether a product with certain words matches any term.
    pub fn match_words(&self, mut has: impl FnMut(&str) -> bool) -> bool {
        let mut ways = self.terms.iter().flat_map(|term| &term.alternatives);
        ways.any(|way| way.matches(&mut has))
    }

    /// Whether the query has no word at all, such as one of punctuation only.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{MAX_WORD_BYTES, for_each_word},
        *,
    };

    #[test]
    fn a_compound_with_a_very_long_word_matches_its_own_text() {
        let text = format!("{}0-z", "p".repeat(MAX_WORD_BYTES));
        let mut words = Vec::new();
        for_each_word(&text, |word| words.push(word.to_owned()));
        let query = QueryTerms::of(&text);
        assert!(
            query.match_words(|word| words.iter().any(|other| other == word)),
            "{query:?} {words:?}"
        );
    }

    fn check(query: &str, expected: &[&str]) {
        let query_words = QueryTerms::of(query);
        let ways = query_words.terms().iter().map(|term| {
            let ways = term.alternatives.iter().filter(|way| !way.respelled);
            let words = |way: &Alternative| way.words.join(if way.all { "+" } else { "," });
            ways.map(words).collect::<Vec<_>>().join("|")
        });
        assert_eq!(ways.collect::<Vec<_>>(), expected, "{query:?}");
    }

    #[test]
    fn stop_words_are_removed() {
        check("I'm looking for something to sit on", &["sit"]);
        check("show me a red sofa for my dog", &["red", "sofa", "dog"]);
        check("i would like to buy the lamp", &["lamp"]);
        check("trash can", &["trash", "can"]);
        check("looking glass", &["looking", "glass"]);
    }

    #[test]
    fn a_query_of_stop_words_alone_is_searched_as_it_is() {
        check("the who", &["the", "who"]);
        check("to be or not to be", &["not"]);
    }

    #[test]
    fn terms_are_distinct() {
        check("dog dogs Dog's", &["dog"]);
    }

    #[test]
    fn spellings_of_a_code_are_one_term() {
        check("wd-40", &["wd40|wd+40"]);
        check("wd40", &["wd40|wd+40"]);
        check("dcb205-2", &["dcb2052|dcb205+2|dcb205"]);
        check("heath-zenith", &["heathzenith|heath+zenith|heath,zenith"]);
        check("t-shirts", &["tshirt|t+shirt|shirt"]);
    }

    #[test]
    fn adjacent_words_may_be_one_word() {
        let joined = |query: &str| {
            let query = QueryTerms::of(query);
            let ways = query.terms().iter().flat_map(|term| term.alternatives.clone());
            let joined = ways.filter(|way| way.respelled);
            joined.map(|way| way.words.concat()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(joined("wd 40 spray"), "wd40 40spray");
        assert_eq!(joined("drop cloths"), "dropcloth");
        assert_eq!(joined("a lamp for my desk"), "");
        assert_eq!(joined("5 ft. ladder"), "");
    }

    #[test]
    fn a_measure_is_one_term_and_its_number_alone_weighs_less() {
        check("5 ft ladder", &["5foot|5", "ladder"]);
        check("18\" x 18\" tile", &["18x18|18+18", "tile"]);
        check("2x4x8 stud", &["2x4x8|2x4|4x8|2+4+8", "stud"]);
        check("1/2 pipe", &["1/2", "pipe"]);
    }

    #[test]
    fn character_bigrams_are_searched_for_not_single_characters() {
        check("绿茶杯 茶", &["绿茶", "茶杯", "茶"]);
        check("子供用の傘", &["子供", "供用", "傘"]);
        check("眠れない", &["眠れ"]);
        check("のどが痛い", &["のど", "どが", "が痛", "痛い"]);
        check("まくら", &["まく", "くら"]);
    }

    #[test]
    fn long_katakana_words_are_found_inside_others() {
        check("テーブル", &["テーブル|・テー+・ーブ+・ブル"]);
        check("イス ソファ", &["イス", "ソファ"]);
    }

    #[test]
    fn a_query_without_words_is_empty() {
        assert!(QueryTerms::of("?! 🔥").is_empty());
    }
}
