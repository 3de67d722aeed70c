//! Which words of a query are about products? The others are set aside.

use crate::spelling::{Correction, SpellingVariant};

use super::{
    Measure, Said, Side, for_each_said, for_each_segment, measure::size_of, stem::singular,
};

/// Words that hold a sentence together and say nothing about a product.
///
/// Words that are also goods or features stay out of this list: `can`, `over`, `under`, `no`.
#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "also", "am", "an", "and", "any", "anything", "are", "as", "at", "be", "been",
    "but", "by", "could", "did", "do", "does", "every", "for", "from", "had", "has", "have",
    "he", "her", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my",
    "of", "on", "or", "our", "please", "she", "should", "so", "some", "someone", "something",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those",
    "to", "us", "very", "was", "we", "were", "what", "when", "where", "which", "who", "with",
    "would", "you", "your",
];

/// What people say before they say what they want. Single words of these may well be about
/// products ("looking glass", "want want rice crackers"), so only the whole phrase is set aside.
const CHIT_CHAT: &[&[&str]] = &[
    &["looking", "for"],
    &["look", "for"],
    &["looking", "to", "buy"],
    &["searching", "for"],
    &["search", "for"],
    &["in", "search", "of"],
    &["trying", "to", "find"],
    &["i", "want"],
    &["i", "need"],
    &["we", "need"],
    &["i", "like"],
    &["would", "like"],
    &["want", "to", "buy"],
    &["want", "to", "get"],
    &["need", "to", "buy"],
    &["need", "to", "get"],
    &["like", "to", "buy"],
    &["show", "me"],
    &["find", "me"],
    &["find", "a"],
    &["buy", "a"],
    &["give", "me"],
    &["get", "me"],
    &["recommend", "me"],
    &["suggest", "me"],
    &["help", "me", "find"],
    &["can", "you"],
    &["can", "you", "find"],
    &["can", "you", "show"],
    &["could", "you", "find"],
    &["can", "i", "get"],
    &["can", "i", "find"],
    &["can", "i", "buy"],
    &["have", "you", "got"],
    &["do", "you", "sell"],
    &["kind", "of"],
    &["thank", "you"],
    &["money", "is", "no", "object"],
    &["price", "is", "no", "object"],
    &["money", "no", "object"],
    &["budget", "is", "no", "object"],
    &["no", "budget", "limit"],
    &["no", "price", "limit"],
    &["no", "spending", "limit"],
    &["no", "limit", "on", "price"],
    &["ich", "suche"],
    &["ich", "brauche"],
    &["je", "cherche"],
    &["я", "ищу"],
];

/// What a query asks products for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryTerms {
    terms: Vec<Term>,
}

/// One thing asked for, in any of several ways. The best way that a product says it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Whether it is a guess at a word that nobody knows.
    pub corrected: bool,
    /// The ways; at least one.
    pub alternatives: Vec<Alternative>,
}

/// One way to say a thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The words as the index has them; at least one. Their scores are added.
    pub words: Vec<Box<str>>,
    /// What the sum counts, above 0 and at most 1.
    pub weight: f32,
    /// Whether a product must say all of the words, or any.
    pub all: bool,
    /// Whether it is the first way in another spelling, which says no more than that one: a slip
    /// in a title is rare, but not telling.
    pub respelled: bool,
}

/// The number without its unit, in place of the measure asked for.
const BARE_NUMBER: f32 = 0.4;
/// Two sides of a size of three.
const PART_OF_SIZE: f32 = 0.7;
/// The sides of a size, each somewhere.
const LOOSE_SIDES: f32 = 0.5;
/// The words of a compound, some of them.
const PARTS_OF_COMPOUND: f32 = 0.8;
/// Shorter parts of a compound say nothing alone: the `40` of `wd-40`, the `t` of `t-shirt`.
const LEAST_PART: usize = 3;
/// The letters and digits of a code, apart: `wd 40` for `wd40`.
const APART: f32 = 0.9;

/// Longer words are not joined with others.
const MOST_JOINED: usize = 16;

impl Alternative {
    /// One word.
    pub fn word(word: &str) -> Self {
        Self { words: vec![word.into()], weight: 1.0, all: false, respelled: false }
    }

    fn weighing(self, weight: f32) -> Self {
        Self { weight, ..self }
    }

    /// Words that a product may say any of.
    fn any(words: Vec<Box<str>>) -> Self {
        Self { words, weight: 1.0, all: false, respelled: false }
    }

    /// Words that a product must say all of.
    fn all(words: Vec<Box<str>>) -> Self {
        Self { words, weight: 1.0, all: true, respelled: false }
    }

    /// Whether a product that says certain words says this.
    fn is_said(&self, says: &mut impl FnMut(&str) -> bool) -> bool {
        let mut words = self.words.iter();
        match self.all {
            true => words.all(|word| says(word)),
            false => words.any(|word| says(word)),
        }
    }
}

impl Term {
    /// One word, or a code that may also be written apart.
    fn of_form(form: &str) -> Self {
        let word = singular(form);
        let mut alternatives = vec![Alternative::word(&word)];
        if let Some((letters, digits)) = code_apart(&word) {
            let apart = vec![letters.into(), digits.into()];
            alternatives.push(Alternative::all(apart).weighing(APART));
        }
        Self { alternatives, corrected: false }
    }

    /// `wd-40` is `wd40`, or `wd` and `40`; `heath-zenith` is each of the words, too.
    fn of_compound(parts: &[String], joined: &str) -> Option<Self> {
        let words: Vec<Box<str>> =
            parts.iter().map(|part| singular(super::cut(part)).into()).collect();
        let telling: Vec<Box<str>> =
            words.iter().filter(|word| says_something_alone(word)).cloned().collect();
        let mut alternatives = Vec::new();
        if joined.len() <= super::MAX_COMPOUND_BYTES {
            alternatives.push(Alternative::word(&singular(joined)));
        }
        alternatives.push(Alternative::all(words));
        if !telling.is_empty() {
            let some = Alternative { weight: PARTS_OF_COMPOUND, ..Alternative::any(telling) };
            alternatives.push(some);
        }
        Some(Self { alternatives, corrected: false })
    }

    fn of_measure(sides: &[Measure]) -> Self {
        let number = |side: &Measure| Alternative::word(super::cut(&side.number));
        let alternatives = match sides {
            [side] if side.unit.is_some() => vec![
                Alternative::word(super::cut(&side.joined())),
                number(side).weighing(BARE_NUMBER),
            ],
            [side] => vec![number(side)],
            sides => {
                let size = |sides: &[Measure]| Alternative::word(super::cut(&size_of(sides)));
                let mut ways = vec![size(sides)];
                if sides.len() > 2 {
                    ways.extend(sides.windows(2).map(|two| size(two).weighing(PART_OF_SIZE)));
                }
                let numbers = sides.iter().flat_map(|side| number(side).words).collect();
                ways.push(Alternative::all(numbers).weighing(LOOSE_SIDES));
                ways
            }
        };
        Self { alternatives, corrected: false }
    }
}

/// Whether a part of a compound tells what is meant without the others.
fn says_something_alone(word: &str) -> bool {
    word.len() > LEAST_PART
        || (word.len() == LEAST_PART && !word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a form is one word, which may be part of another that was written apart: `wd 40`,
/// `drop cloth`.
fn is_plain(form: &str) -> bool {
    (1..=MOST_JOINED).contains(&form.len())
        && form.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// The letters and the digits of a short code, such as `wd40`.
fn code_apart(word: &str) -> Option<(&str, &str)> {
    let letters = word.bytes().take_while(u8::is_ascii_lowercase).count();
    let (letters, digits) = word.split_at(letters);
    let is_code = !letters.is_empty()
        && !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_code.then_some((letters, digits))
}

impl QueryTerms {
    /// Reads a query. Function words count only in a query that has nothing else.
    pub fn of(text: &str) -> Self {
        let mut forms: Vec<String> = Vec::new();
        let mut terms: Vec<Term> = Vec::new();
        let mut push = |form: &str, term: Term| {
            forms.push(form.to_owned());
            terms.push(term);
        };
        for_each_said(text, Side::Query, |said| match said {
            Said::Form(form) => {
                for_each_segment(form, Side::Query, |form| push(form, Term::of_form(form)));
            }
            Said::Compound { parts, .. } if !parts.iter().all(|part| part.is_ascii()) => {
                for part in parts {
                    for_each_segment(part, Side::Query, |form| push(form, Term::of_form(form)));
                }
            }
            Said::Compound { parts, joined } => {
                if let Some(term) = Term::of_compound(parts, joined) {
                    push(joined, term);
                }
            }
            Said::Measured(sides) => push("", Term::of_measure(sides)),
            Said::Stop => {}
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
        for (term, aside) in terms.into_iter().zip(stop_words) {
            let is_same = |known: &Term| known.alternatives[0] == term.alternatives[0];
            if !(aside && has_content || distinct.iter().any(is_same)) {
                distinct.push(term);
            }
        }
        Self { terms: distinct }
    }

    /// Words that were taken for others because nobody knows them are guesses.
    pub fn mark_corrected(mut self, corrections: &[Correction]) -> Self {
        // Words that were only put together or taken apart are no guess.
        let is_respelled = |one: &&Correction| !one.from.contains(' ') && !one.to.contains(' ');
        for correction in corrections.iter().filter(is_respelled) {
            let word = singular(&correction.to);
            let is_it = |term: &&mut Term| *term.alternatives[0].words == [Box::from(&*word)];
            self.terms.iter_mut().filter(is_it).for_each(|term| term.corrected = true);
        }
        self
    }

    /// Words that may be meant in place of others count, too.
    pub fn with_variants(mut self, variants: &[SpellingVariant]) -> Self {
        for term in &mut self.terms {
            let is_meant = |variant: &&SpellingVariant| {
                let first = &term.alternatives[0];
                first.words.len() == 1 && first.words[0] == variant.of
            };
            let others = variants.iter().filter(is_meant);
            let others: Vec<_> = others
                .map(|variant| Alternative {
                    weight: variant.weight,
                    respelled: true,
                    ..Alternative::word(&variant.word)
                })
                .collect();
            term.alternatives.extend(others);
        }
        self
    }

    /// Takes claims ("nickel-free", "nickel free") by what they are about. Products that say this
    /// word without denying it are left out, so that every other one that says it makes the
    /// claim; "free" by itself says nothing.
    pub fn with_claims<'a>(mut self, claims: impl Iterator<Item = &'a [Box<str>]>) -> Self {
        for about in claims {
            let joined: Box<str> = format!("{}free", about.concat()).into();
            let Some(last) = about.last() else { continue };
            let is_free = |term: &Term| is_word(term, &FREE);
            self.terms.retain(|term| !is_free(term));
            for term in &mut self.terms {
                if is_word(term, std::slice::from_ref(&joined)) {
                    term.alternatives.truncate(1);
                    term.alternatives.push(Alternative::all(about.to_vec()));
                } else if is_word(term, std::slice::from_ref(last))
                    && !term.alternatives.iter().any(|way| *way.words == [joined.clone()])
                {
                    let joined = Alternative::word(&joined);
                    term.alternatives.push(Alternative { respelled: true, ..joined });
                }
            }
        }
        self
    }

    /// What is asked for, each thing once, in the order it was first said.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The words that may say it, some more than once.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let alternatives = self.terms.iter().flat_map(|term| &term.alternatives);
        alternatives.flat_map(|way| &way.words).map(|word| &**word)
    }

    /// Whether a product that says certain words says anything that is asked for.
    pub fn match_words(&self, mut says: impl FnMut(&str) -> bool) -> bool {
        let mut ways = self.terms.iter().flat_map(|term| &term.alternatives);
        ways.any(|way| way.is_said(&mut says))
    }

    /// Whether the query says no word at all, such as one of punctuation only.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// Words that make a claim of the word before them.
const FREE: [&str; 2] = ["free", "frei"];

/// Whether a term asks for one of some words.
fn is_word<W: AsRef<str>>(term: &Term, words: &[W]) -> bool {
    let first = &term.alternatives[0].words;
    first.len() == 1 && words.iter().any(|word| *first[0] == *word.as_ref())
}

/// Whether a form holds a sentence together and says nothing about a product.
pub(crate) fn is_function_word(form: &str) -> bool {
    FUNCTION_WORDS.binary_search(&form).is_ok()
}

/// For each form, whether it is a function word or part of chit-chat.
pub(crate) fn stop_words(forms: &[impl AsRef<str>]) -> Vec<bool> {
    let mut aside: Vec<bool> = forms.iter().map(|form| is_function_word(form.as_ref())).collect();
    for start in 0..forms.len() {
        for phrase in CHIT_CHAT {
            let said = &forms[start..];
            if said.len() >= phrase.len()
                && said.iter().zip(*phrase).all(|(form, word)| form.as_ref() == *word)
            {
                aside[start..start + phrase.len()].fill(true);
            }
        }
    }
    aside
}

#[cfg(test)]
mod tests {
    use super::{
        super::{MAX_WORD_BYTES, for_each_word},
        *,
    };

    #[test]
    fn a_compound_with_a_wall_of_letters_finds_its_own_text() {
        let text = format!("{}0-z", "p".repeat(MAX_WORD_BYTES));
        let mut said = Vec::new();
        for_each_word(&text, |word| said.push(word.to_owned()));
        let query = QueryTerms::of(&text);
        assert!(
            query.match_words(|word| said.iter().any(|other| other == word)),
            "{query:?} {said:?}"
        );
    }

    #[test]
    fn a_word_taken_for_another_is_a_guess_and_words_put_together_are_not() {
        let correction = |from: &str, to: &str| Correction {
            from: from.to_owned(),
            to: to.to_owned(),
            span: 0..from.len(),
        };
        let words = QueryTerms::of("steel stakes backpack wood saddle");
        let words = words.mark_corrected(&[
            correction("steks", "stakes"),
            correction("back pack", "backpack"),
            correction("woodsaddle", "wood saddle"),
        ]);
        let guessed = words.terms().iter().filter(|term| term.corrected);
        let guessed: Vec<_> = guessed.map(|term| &*term.alternatives[0].words[0]).collect();
        assert_eq!(guessed, ["stake"]);
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
    fn the_function_words_are_sorted() {
        assert!(FUNCTION_WORDS.is_sorted());
    }

    #[test]
    fn function_words_and_chit_chat_are_set_aside() {
        check("I'm looking for something to sit on", &["sit"]);
        check("show me a red sofa for my dog", &["red", "sofa", "dog"]);
        check("i would like to buy the lamp", &["lamp"]);
        check("trash can", &["trash", "can"]);
        check("looking glass", &["looking", "glass"]);
    }

    #[test]
    fn a_query_of_function_words_alone_is_searched_as_it_is() {
        check("the who", &["the", "who"]);
        check("to be or not to be", &["not"]);
    }

    #[test]
    fn each_word_counts_once() {
        check("dog dogs Dog's", &["dog"]);
    }

    #[test]
    fn codes_are_one_thing_however_they_are_written() {
        check("wd-40", &["wd40|wd+40"]);
        check("wd40", &["wd40|wd+40"]);
        check("dcb205-2", &["dcb2052|dcb205+2|dcb205"]);
        check("heath-zenith", &["heathzenith|heath+zenith|heath,zenith"]);
        check("t-shirts", &["tshirt|t+shirt|shirt"]);
    }

    #[test]
    fn neighbours_may_be_one_word() {
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
    fn measures_are_one_thing_and_the_number_alone_counts_less() {
        check("5 ft ladder", &["5foot|5", "ladder"]);
        check("18\" x 18\" tile", &["18x18|18+18", "tile"]);
        check("2x4x8 stud", &["2x4x8|2x4|4x8|2+4+8", "stud"]);
        check("1/2 pipe", &["1/2", "pipe"]);
    }

    #[test]
    fn pairs_of_characters_are_asked_for_not_single_ones() {
        check("绿茶杯 茶", &["绿茶", "茶杯", "茶"]);
    }

    #[test]
    fn a_query_without_words_is_empty() {
        assert!(QueryTerms::of("?! 🔥").is_empty());
    }
}
