//! The built-in model: loads its files, embedded in this program or from a folder, and checks that
//! they fit together.

use std::{borrow::Cow, cell::RefCell, collections::HashSet, fmt, mem, path::Path};

use serde::Deserialize;
use thiserror::Error;

use super::{
    EmbedError, Embedder, Embedding, Encoder, ModelId, Priority, StoredVector, Text, TextLanguage,
    Vector,
    deep::Deep,
    instant::{Instant, Rows},
    multilingual::{Multilingual, fold, for_each_word},
    names::{Names, Thing},
    phrase_index::{PhraseIndex, PhraseMatch},
    transformer::Transformer,
    wordpiece::{Pieces, WordPiece},
};

/// The manifest, which names the dimensions and the scales of the others.
const MANIFEST: &str = "model.json";
/// Words that the vocabulary has only in pieces, one per line, sorted.
const WORDS: &str = "words.txt";
/// Phrases of shoppers, and the products they stand for.
const PHRASES: &str = "phrases.bin";
/// The names of those products, by thing.
const NAMES: &str = "names.tsv";
/// The table for other languages.
const MULTILINGUAL: &str = "multilingual.bin";
/// The longest input that the deep encoder was trained for, in tokens.
const MOST_TOKENS: usize = 512;

/// Shorter entries of the vocabulary are letters and syllables as often as words.
const TELLING_BYTES: usize = 3;

/// How much a text must look like another language if a word of it is known in one but most are not,
/// and if none is.
const LIKELY_FOREIGN: f32 = 2.0;
const SURELY_FOREIGN: f32 = 5.0;

/// The files of a model.
pub struct ModelFiles {
    /// `model.json`
    pub manifest: Cow<'static, [u8]>,
    /// `vocab.txt`
    pub vocabulary: Cow<'static, [u8]>,
    /// `words.txt`
    pub words: Cow<'static, [u8]>,
    /// `phrases.bin`
    pub phrases: Cow<'static, [u8]>,
    /// `names.tsv`
    pub names: Cow<'static, [u8]>,
    /// `instant.bin`
    pub instant: Cow<'static, [u8]>,
    /// `deep.onnx`
    pub deep: Cow<'static, [u8]>,
    /// `multilingual.bin`; empty for a model of English texts alone.
    pub multilingual: Cow<'static, [u8]>,
}

/// Why a model's files cannot be used.
#[derive(Debug, Error)]
#[error("the model file {file} {problem}")]
pub struct BrokenModel {
    file: String,
    problem: String,
}

impl BrokenModel {
    fn new(file: impl Into<String>, problem: impl fmt::Display) -> Self {
        Self { file: file.into(), problem: problem.to_string() }
    }
}

/// The manifest in `model.json`. Unknown fields (thresholds, layers) are ignored.
#[derive(Deserialize)]
struct Manifest {
    model: String,
    dims: usize,
    max_tokens: usize,
    deep: DeepFile,
    instant: File,
    vocab: String,
}

#[derive(Deserialize)]
struct DeepFile {
    file: String,
    /// The weight of the instant vector in a deep vector, relative to the transformer's: both are
    /// in one space, and the table knows spellings that the transformer does not.
    instant_share: f32,
}

#[derive(Deserialize)]
struct File {
    file: String,
}

impl Manifest {
    fn read(bytes: &[u8]) -> Result<Self, BrokenModel> {
        let manifest: Self = serde_json::from_slice(bytes)
            .map_err(|error| BrokenModel::new(MANIFEST, format!("cannot be read: {error}")))?;
        if !(3..=MOST_TOKENS).contains(&manifest.max_tokens) {
            let problem = format!("asks for texts of {} tokens", manifest.max_tokens);
            return Err(BrokenModel::new(MANIFEST, problem));
        }
        Ok(manifest)
    }
}

impl ModelFiles {
    /// The files embedded in this program.
    pub fn embedded() -> Self {
        Self {
            manifest: include_bytes!("../../../../models/model.json").into(),
            vocabulary: include_bytes!("../../../../models/vocab.txt").into(),
            words: include_bytes!("../../../../models/words.txt").into(),
            phrases: include_bytes!("../../../../models/phrases.bin").into(),
            names: include_bytes!("../../../../models/names.tsv").into(),
            instant: include_bytes!("../../../../models/instant.bin").into(),
            deep: include_bytes!("../../../../models/deep.onnx").into(),
            multilingual: include_bytes!("../../../../models/multilingual.bin").into(),
        }
    }

    /// The files in a folder.
    pub fn in_folder(folder: &Path) -> Result<Self, BrokenModel> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map(Cow::Owned).map_err(|error| {
                BrokenModel::new(path.display().to_string(), format!("cannot be read: {error}"))
            })
        };
        // Folders of earlier versions have fewer files.
        let read_if_there =
            |name: &str| std::fs::read(folder.join(name)).unwrap_or_default().into();
        let manifest = read(MANIFEST)?;
        let names = Manifest::read(&manifest)?;
        Ok(Self {
            vocabulary: read(&names.vocab)?,
            words: read(WORDS)?,
            phrases: read(PHRASES)?,
            names: read_if_there(NAMES),
            multilingual: read_if_there(MULTILINGUAL),
            instant: read(&names.instant.file)?,
            deep: read(&names.deep.file)?,
            manifest,
        })
    }
}

/// The built-in model, with both encoders.
pub struct BuiltIn {
    model: ModelId,
    max_pieces: usize,
    vocabulary: WordPiece,
    words: HashSet<Box<str>>,
    phrases: PhraseIndex,
    names: Names,
    instant: Instant,
    multilingual: Option<Multilingual>,
    transformer: Deep,
    instant_share: f32,
}

impl BuiltIn {
    /// Loads a model, to run on at most `threads` threads.
    pub fn new(files: ModelFiles, threads: usize) -> Result<Self, BrokenModel> {
        let manifest = Manifest::read(&files.manifest)?;
        let broken_vocabulary = |problem: String| BrokenModel::new(&manifest.vocab, problem);
        let vocabulary = match files.vocabulary {
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
        let instant =
            Instant::new(files.instant).map_err(|error| broken_table(error.to_string()))?;
        if instant.dims() != manifest.dims {
            let problem = format!("has {} dimensions instead of {}", instant.dims(), manifest.dims);
            return Err(broken_table(problem));
        }
        if instant.pieces() != vocabulary.len() {
            let problem =
                format!("is for {} pieces instead of {}", instant.pieces(), vocabulary.len());
            return Err(broken_table(problem));
        }
        let broken_phrases = |problem: &str| BrokenModel::new(PHRASES, problem);
        let phrases = PhraseIndex::new(files.phrases).map_err(broken_phrases)?;
        if phrases.dims() != manifest.dims {
            return Err(broken_phrases(&format!(
                "has {} dimensions instead of {}",
                phrases.dims(),
                manifest.dims
            )));
        }
        let names = Names::new(files.names, phrases.targets());
        let names = names.map_err(|problem| BrokenModel::new(NAMES, problem))?;
        let multilingual = multilingual(files.multilingual, manifest.dims)?;
        let broken_graph = |problem: String| BrokenModel::new(&manifest.deep.file, problem);
        let transformer = Deep::new(files.deep, threads).map_err(broken_graph)?;
        check_sizes(transformer.transformer(), &manifest, &vocabulary).map_err(broken_graph)?;
        let made = Self {
            model: ModelId::new(&manifest.model),
            max_pieces: manifest.max_tokens - 2,
            vocabulary,
            words,
            phrases,
            names,
            instant,
            multilingual,
            transformer,
            instant_share: manifest.deep.instant_share,
        };
        // A self-test, so that a broken graph fails at start-up and not at the first search.
        made.deep(&[Text::Query("shop")], Priority::Background)
            .map_err(|error| broken_graph(error.to_string()))?;
        Ok(made)
    }

    fn tokens(&self, text: &str, pieces: &mut Pieces) -> Vec<u32> {
        self.vocabulary.tokenize(text, self.max_pieces, pieces);
        let (first, last) = self.vocabulary.special_pieces();
        [&[first], pieces.numbers.as_slice(), &[last]].concat()
    }

    /// The table for other languages, if the text is in one of them.
    fn foreign_table(&self, text: Text<'_>, whole: &str) -> Option<&Multilingual> {
        let table = self.multilingual.as_ref()?;
        let is_foreign = match text {
            Text::Request { language, .. } => language == TextLanguage::Other,
            Text::Query(_) | Text::Product { .. } => table.foreignness(whole) > 0.0,
        };
        is_foreign.then_some(table)
    }

    /// The instant encoding: the direction of a sum of table rows. A sum has no order, so the title
    /// gets half of the weight whatever follows it; it has no grammar either, so known function
    /// words are left out.
    fn instant_sum(&self, text: Text<'_>, whole: &str) -> Vec<f32> {
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

    fn embedding(&self, encoder: Encoder, numbers: Vec<f32>) -> Result<Embedding, EmbedError> {
        let found = numbers.len();
        let vector = Vector::normalized(numbers).filter(|_| found == self.dims());
        let wrong = || EmbedError::Inference(format!("no vector of {} numbers", self.dims()));
        Ok(Embedding { model: self.model.clone(), encoder, vector: vector.ok_or_else(wrong)? })
    }
}

impl fmt::Debug for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltIn").field("model", &self.model).finish_non_exhaustive()
    }
}

thread_local! {
    /// Buffers that are allocated once per thread and reused for every text.
    static BUFFERS: RefCell<(Pieces, Rows)> = RefCell::default();
}

impl Embedder for BuiltIn {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dims(&self) -> usize {
        self.instant.dims()
    }

    fn language_of(&self, text: &str) -> Option<TextLanguage> {
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

    fn recognises(&self, word: &str, language: TextLanguage) -> Option<bool> {
        let table = self.multilingual.as_ref().filter(|_| language == TextLanguage::Other);
        Some(self.is_english(word) || table.is_some_and(|table| table.knows(word)))
    }

    fn phrase_match(&self, query: &Vector) -> Option<PhraseMatch> {
        self.phrases.phrase_match(query)
    }

    fn things(&self, phrases: &PhraseMatch) -> Vec<Thing> {
        let of = |&(thing, share): &(usize, f32)| Thing { share, names: self.names.of(thing) };
        phrases.things.iter().map(of).collect()
    }

    fn word_vector(&self, word: &str, language: Option<TextLanguage>) -> Option<StoredVector> {
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

    fn instant(&self, text: Text<'_>) -> Option<Embedding> {
        let sum = self.instant_sum(text, &text.whole());
        self.embedding(Encoder::Instant, sum).ok()
    }

    /// The transformer reads English alone: the deep vector of a text in another language is its
    /// instant vector.
    fn deep(&self, texts: &[Text<'_>], priority: Priority) -> Result<Vec<Embedding>, EmbedError> {
        let wholes: Vec<_> = texts.iter().map(|text| text.whole()).collect();
        let all = || texts.iter().zip(&wholes);
        let is_english: Vec<bool> =
            all().map(|(text, whole)| self.foreign_table(*text, whole).is_none()).collect();
        let tokens: Vec<_> = BUFFERS.with_borrow_mut(|(pieces, _)| {
            let english = wholes.iter().zip(&is_english).filter(|(_, is_english)| **is_english);
            english.map(|(whole, _)| self.tokens(whole, pieces)).collect()
        });
        let mut transformed = match tokens.is_empty() {
            true => Vec::new(),
            false => self.transformer.run(&tokens, priority)?,
        }
        .into_iter();
        let vectors = all().zip(&is_english).map(|((text, whole), is_english)| {
            let mut vector = self.instant_sum(*text, whole);
            if let Some(transformed) = is_english.then(|| transformed.next()).flatten() {
                make_unit(&mut vector);
                let instant = mem::replace(&mut vector, transformed);
                make_unit(&mut vector);
                add(&mut vector, &instant, self.instant_share);
            }
            self.embedding(Encoder::Deep, vector)
        });
        vectors.collect()
    }
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

/// Checks that a transformer takes all tokens of texts and makes vectors of the right dimension.
fn check_sizes(
    transformer: &Transformer,
    manifest: &Manifest,
    vocabulary: &WordPiece,
) -> Result<(), String> {
    let Manifest { dims, max_tokens, .. } = *manifest;
    if transformer.vocabulary() < vocabulary.len() {
        return Err(format!(
            "is for {} pieces instead of {}",
            transformer.vocabulary(),
            vocabulary.len()
        ));
    }
    if transformer.max_tokens() < max_tokens {
        return Err(format!(
            "takes texts of {} tokens instead of {max_tokens}",
            transformer.max_tokens()
        ));
    }
    match transformer.dims() == dims {
        true => Ok(()),
        false => Err(format!("has {} dimensions instead of {dims}", transformer.dims())),
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
impl BuiltIn {
    /// The tokens and rows of a text, to be compared with those of the training code.
    pub(super) fn stages(&self, text: &str) -> (Vec<u32>, Vec<u32>) {
        let (mut pieces, mut rows) = Default::default();
        let tokens = self.tokens(text, &mut pieces);
        self.instant.sum(&self.vocabulary, &pieces, &mut rows);
        (tokens, rows.numbers().to_vec())
    }

    /// The output of the transformer alone.
    pub(super) fn transformer(&self, text: &str) -> Vector {
        let tokens = self.tokens(text, &mut Pieces::default());
        let vector = self.transformer.run(&[tokens], Priority::Search).unwrap().remove(0);
        Vector::normalized(vector).unwrap()
    }
}
