//! The instant encoder: the vector of a text is the direction of a sum of table rows, of English or of
//! other languages.

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::HashSet,
    sync::{Arc, LazyLock},
};

use super::{
    ModelId, StoredVector, Text, TextLanguage, Vector,
    instant::{Instant, Rows},
    model_files::{BrokenModel, MULTILINGUAL, Manifest, ModelFiles, WORDS},
    multilingual::{Multilingual, fold, for_each_word},
    wordpiece::{Pieces, WordPiece},
};

/// Shorter entries of the vocabulary are letters and syllables as often as words.
const TELLING_BYTES: usize = 3;

/// How much a text must look like another language if a word of it is known in one but most are not,
/// and if none is.
const LIKELY_FOREIGN: f32 = 2.0;
const SURELY_FOREIGN: f32 = 5.0;

/// The encoder of the model that is embedded in this program.
static EMBEDDED: LazyLock<Arc<InstantEncoder>> = LazyLock::new(|| {
    let mut files = ModelFiles::embedded();
    let made = Manifest::read(&files.manifest)
        .and_then(|manifest| InstantEncoder::new(&manifest, &mut files));
    Arc::new(made.unwrap_or_else(|error| unreachable!("{error}")))
});

/// The instant encoder of a model.
pub struct InstantEncoder {
    model: ModelId,
    max_pieces: usize,
    /// The same for the transformer.
    max_deep_pieces: usize,
    pub(super) vocabulary: WordPiece,
    words: HashSet<Box<str>>,
    instant: Instant,
    multilingual: Option<Multilingual>,
}

impl InstantEncoder {
    /// The encoder of the model that is embedded in this program.
    pub fn embedded() -> &'static Arc<Self> {
        &EMBEDDED
    }

    /// Takes its files out of those of a model.
    pub(super) fn new(manifest: &Manifest, files: &mut ModelFiles) -> Result<Self, BrokenModel> {
        let broken_vocabulary = |problem: String| BrokenModel::new(&manifest.vocab, problem);
        let vocabulary = match std::mem::take(&mut files.vocabulary) {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).ok(),
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).ok(),
        };
        let vocabulary = vocabulary.ok_or_else(|| broken_vocabulary("is not UTF-8".to_owned()))?;
        let vocabulary =
            WordPiece::new(vocabulary).map_err(|error| broken_vocabulary(error.to_string()))?;
        let words = std::str::from_utf8(&files.words)
            .map_err(|_| BrokenModel::new(WORDS, "is not UTF-8"))?
            .lines()
            .map(Box::from)
            .collect();
        let broken_table = |problem: String| BrokenModel::new(&manifest.instant.file, problem);
        let instant = Instant::new(std::mem::take(&mut files.instant))
            .map_err(|error| broken_table(error.to_string()))?;
        if instant.dims() != manifest.dims {
            let problem = format!("has {} dimensions instead of {}", instant.dims(), manifest.dims);
            return Err(broken_table(problem));
        }
        if instant.pieces() != vocabulary.len() {
            let problem =
                format!("is for {} pieces instead of {}", instant.pieces(), vocabulary.len());
            return Err(broken_table(problem));
        }
        let multilingual = multilingual(std::mem::take(&mut files.multilingual), manifest.dims)?;
        // Without the two special ones.
        let max_pieces = manifest.max_tokens - 2;
        let max_deep_pieces = manifest.deep_tokens() - 2;
        let model = ModelId::new(&manifest.model);
        Ok(Self { model, max_pieces, max_deep_pieces, vocabulary, words, instant, multilingual })
    }

    /// The model that it belongs to.
    pub fn model(&self) -> &ModelId {
        &self.model
    }

    pub(super) fn dims(&self) -> usize {
        self.instant.dims()
    }

    /// The vector of a text; `None` if a number of it is not finite.
    pub(crate) fn vector(&self, text: Text<'_>) -> Option<Vector> {
        Vector::normalized(self.sum(text, &text.whole()))
    }

    /// The tokens of a text for the transformer.
    pub(super) fn tokens(&self, text: &str) -> Vec<u32> {
        BUFFERS.with_borrow_mut(|(pieces, _)| {
            self.vocabulary.tokenize(text, self.max_deep_pieces, pieces);
            let (first, last) = self.vocabulary.special_pieces();
            [&[first], pieces.numbers.as_slice(), &[last]].concat()
        })
    }

    /// The table for other languages, if the text is in one of them.
    pub(super) fn foreign_table(&self, text: Text<'_>, whole: &str) -> Option<&Multilingual> {
        let table = self.multilingual.as_ref()?;
        let is_foreign = match text {
            Text::Request { language, .. } => language == TextLanguage::Other,
            Text::Query(_) | Text::Product { .. } => table.foreignness(whole) > 0.0,
        };
        is_foreign.then_some(table)
    }

    /// The vector of a text, not normalised. A sum has no order, so the title
    /// gets half of the weight whatever follows it; it has no grammar either, so known function
    /// words are left out.
    pub(super) fn sum(&self, text: Text<'_>, whole: &str) -> Vec<f32> {
        let foreign = self.foreign_table(text, whole);
        let rows_of = |text| foreign.map_or_else(|| self.rows_of(text), |table| table.sum(text));
        if let Text::Request { words, .. } = text
            && !words.is_empty()
        {
            return rows_of(words);
        }
        let Text::Product { title, .. } = text else { return rows_of(whole) };
        if whole.len() == title.len() {
            return rows_of(whole);
        }
        let [mut title, mut sum] = match foreign {
            Some(table) => [title, whole].map(|text| table.sum(text)),
            None => self.rows_of_product(title, whole),
        };
        make_unit(&mut sum);
        make_unit(&mut title);
        add(&mut sum, &title, 1.0);
        sum
    }

    /// Whether the English encoders were trained on a lower-case word.
    fn is_english(&self, word: &str) -> bool {
        let is_whole = || {
            word.len() >= TELLING_BYTES
                && word.chars().all(char::is_alphanumeric)
                && self.vocabulary.contains(word)
        };
        self.words.contains(word) || is_whole()
    }

    fn rows_of(&self, text: &str) -> Vec<f32> {
        BUFFERS.with_borrow_mut(|(pieces, rows)| {
            self.vocabulary.tokenize(text, self.max_pieces, pieces);
            self.instant.sum(&self.vocabulary, pieces, rows)
        })
    }

    /// The sums of a product's title and of its whole text. The text begins with the title and a
    /// full stop, so the pieces of the title are the first ones of the text, and their rows are
    /// added up once for both.
    fn rows_of_product(&self, title: &str, whole: &str) -> [Vec<f32>; 2] {
        BUFFERS.with_borrow_mut(|(pieces, rows)| {
            self.vocabulary.tokenize(title, self.max_pieces, pieces);
            let in_title = pieces.numbers.len();
            self.vocabulary.append(&whole[title.len()..], self.max_pieces, pieces);
            self.instant.sums(&self.vocabulary, &pieces.numbers, in_title, rows)
        })
    }

    /// See [`Embedder::language_of`](super::Embedder::language_of).
    pub(super) fn language_of(&self, text: &str) -> Option<TextLanguage> {
        let Some(table) = &self.multilingual else { return Some(TextLanguage::English) };
        let foreignness = table.foreignness(text);
        let (mut english, mut foreign, mut unknown) = (0_u32, 0_u32, 0_u32);
        for_each_word(text, |word| {
            match (self.is_english(&fold(word)), table.knows(word)) {
                (true, true) => {}
                (true, false) => english += 1,
                (false, true) => foreign += 1,
                (false, false) => unknown += 1,
            }
            true
        });
        // Brands and typos look foreign too.
        let needed = match foreign {
            _ if foreign > english + unknown || english + unknown == 0 => 0.0,
            1.. => LIKELY_FOREIGN,
            0 => SURELY_FOREIGN,
        };
        match foreignness > needed {
            true => Some(TextLanguage::Other),
            false => (english > foreign).then_some(TextLanguage::English),
        }
    }

    /// See [`Embedder::recognises`](super::Embedder::recognises).
    pub(super) fn recognises(&self, word: &str, language: TextLanguage) -> Option<bool> {
        let table = self.multilingual.as_ref().filter(|_| language == TextLanguage::Other);
        Some(self.is_english(word) || table.is_some_and(|table| table.knows(word)))
    }

    /// See [`Embedder::word_vector`](super::Embedder::word_vector).
    pub(super) fn word_vector(
        &self,
        word: &str,
        language: Option<TextLanguage>,
    ) -> Option<StoredVector> {
        let is_foreign = |table: &&Multilingual| match language {
            Some(language) => language == TextLanguage::Other,
            None => {
                let looks_foreign = || table.foreignness(word) > SURELY_FOREIGN;
                !self.is_english(word) && (table.knows(word) || looks_foreign())
            }
        };
        let table = self.multilingual.as_ref().filter(is_foreign);
        let sum = table.map_or_else(|| self.rows_of(word), |table| table.sum(word));
        let vector = Vector::normalized(sum).filter(|vector| !vector.is_zero());
        vector.map(|vector| vector.stored())
    }
}

thread_local! {
    /// Buffers that are allocated once per thread and reused for every text.
    static BUFFERS: RefCell<(Pieces, Rows)> = RefCell::default();
}

/// The table for other languages; a model may have none.
fn multilingual(
    bytes: Cow<'static, [u8]>,
    dims: usize,
) -> Result<Option<Multilingual>, BrokenModel> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let broken = |problem: String| BrokenModel::new(MULTILINGUAL, problem);
    let table = Multilingual::new(bytes).map_err(|error| broken(error.to_string()))?;
    match table.dims() == dims {
        true => Ok(Some(table)),
        false => Err(broken(format!("has {} dimensions instead of {dims}", table.dims()))),
    }
}

/// Adds `share` of `other` to `sum`.
fn add(sum: &mut [f32], other: &[f32], share: f32) {
    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum += share * other);
}

/// Normalises a vector to unit length; the zero vector stays.
fn make_unit(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}

#[cfg(test)]
impl InstantEncoder {
    /// The numbers of the rows of a text, to be compared with those of the training code.
    pub(super) fn row_numbers(&self, text: &str) -> Vec<u32> {
        self.rows_of(text);
        BUFFERS.with_borrow(|(_, rows)| rows.numbers().to_vec())
    }
}
