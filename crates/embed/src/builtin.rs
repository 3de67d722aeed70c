//! The built-in model: both encoders, the phrase index and the names of things.

use std::{fmt, sync::Arc};

use super::{
    EmbedError, Embedder, Embedding, Encoder, ModelId, Priority, StoredVector, Text, TextLanguage,
    Vector,
    deep::Deep,
    instant_encoder::InstantEncoder,
    model_files::{BrokenModel, Manifest, ModelFiles, NAMES, PHRASES},
    names::{Names, Thing},
    phrase_index::{PhraseIndex, PhraseMatch},
    transformer::Transformer,
    wordpiece::WordPiece,
};

/// The built-in model, with both encoders.
pub struct BuiltIn {
    encoder: Arc<InstantEncoder>,
    phrases: PhraseIndex,
    names: Names,
    transformer: Deep,
}

impl BuiltIn {
    /// Loads a model, to run on at most `threads` threads.
    pub fn new(mut files: ModelFiles, threads: usize) -> Result<Self, BrokenModel> {
        let manifest = Manifest::read(&files.manifest)?;
        let encoder = match files.has_embedded_encoder() {
            true => Arc::clone(InstantEncoder::embedded()),
            false => Arc::new(InstantEncoder::new(&manifest, &mut files)?),
        };
        let broken_phrases = |problem: &str| BrokenModel::new(PHRASES, problem);
        let phrases = PhraseIndex::new(files.phrases).map_err(broken_phrases)?;
        let names = Names::new(files.names, phrases.targets());
        let names = names.map_err(|problem| BrokenModel::new(NAMES, problem))?;
        let broken_graph = |problem: String| BrokenModel::new(&manifest.deep.file, problem);
        let transformer = Deep::new(files.deep, threads).map_err(broken_graph)?;
        check_sizes(transformer.transformer(), &manifest, &encoder.vocabulary)
            .map_err(broken_graph)?;
        let dims = [manifest.dims, transformer.transformer().dims()];
        if phrases.dims() != dims {
            let (found, expected) = (phrases.dims(), dims);
            let problem = format!("has vectors of {found:?} dimensions instead of {expected:?}");
            return Err(broken_phrases(&problem));
        }
        let made = Self { encoder, phrases, names, transformer };
        // A self-test, so that a broken graph fails at start-up and not at the first search.
        made.deep(&[Text::Query("shop")], Priority::Background)
            .map_err(|error| broken_graph(error.to_string()))?;
        Ok(made)
    }

    fn embedding(&self, encoder: Encoder, sum: Vec<f32>) -> Result<Embedding, EmbedError> {
        let (model, vector) = (self.model().clone(), normalized(sum, self.dims())?);
        Ok(Embedding { model, encoder, vector, deep: None })
    }
}

impl fmt::Debug for BuiltIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BuiltIn").field("model", self.model()).finish_non_exhaustive()
    }
}

impl Embedder for BuiltIn {
    fn model(&self) -> &ModelId {
        self.encoder.model()
    }

    fn dims(&self) -> usize {
        self.encoder.dims()
    }

    fn language_of(&self, text: &str) -> Option<TextLanguage> {
        self.encoder.language_of(text)
    }

    fn recognises(&self, word: &str, language: TextLanguage) -> Option<bool> {
        self.encoder.recognises(word, language)
    }

    fn word_vector(&self, word: &str, language: Option<TextLanguage>) -> Option<StoredVector> {
        self.encoder.word_vector(word, language)
    }

    fn phrase_match(&self, query: &Embedding) -> Option<PhraseMatch> {
        self.phrases.phrase_match(&query.vector, query.deep.as_ref())
    }

    fn things(&self, phrases: &PhraseMatch) -> Vec<Thing> {
        let of = |&(thing, share): &(usize, f32)| Thing { share, names: self.names.of(thing) };
        phrases.things.iter().map(of).collect()
    }

    fn instant(&self, text: Text<'_>) -> Option<Embedding> {
        let sum = self.encoder.sum(text, &text.whole());
        self.embedding(Encoder::Instant, sum).ok()
    }

    /// The transformer reads English alone: a text in another language has no deep vector.
    fn deep(&self, texts: &[Text<'_>], priority: Priority) -> Result<Vec<Embedding>, EmbedError> {
        let wholes: Vec<_> = texts.iter().map(|text| text.whole()).collect();
        let all = || texts.iter().zip(&wholes);
        let is_english: Vec<bool> =
            all().map(|(text, whole)| self.encoder.foreign_table(*text, whole).is_none()).collect();
        let english = wholes.iter().zip(&is_english).filter(|(_, is_english)| **is_english);
        let tokens: Vec<_> = english.map(|(whole, _)| self.encoder.tokens(whole)).collect();
        let mut transformed = match tokens.is_empty() {
            true => Vec::new(),
            false => self.transformer.run(&tokens, priority)?,
        }
        .into_iter();
        let dims = self.transformer.transformer().dims();
        let vectors = all().zip(&is_english).map(|((text, whole), is_english)| {
            let deep = is_english.then(|| transformed.next()).flatten();
            let deep = deep.map(|numbers| normalized(numbers, dims)).transpose()?;
            let instant = self.embedding(Encoder::Deep, self.encoder.sum(*text, whole))?;
            Ok(Embedding { deep, ..instant })
        });
        vectors.collect()
    }
}

/// The unit vector of an encoder's output, which has to have the right dimension.
fn normalized(numbers: Vec<f32>, dims: usize) -> Result<Vector, EmbedError> {
    let found = numbers.len();
    let vector = Vector::normalized(numbers).filter(|_| found == dims);
    vector.ok_or_else(|| EmbedError::Inference(format!("no vector of {dims} numbers")))
}

/// Checks that a transformer takes all tokens of texts.
fn check_sizes(
    transformer: &Transformer,
    manifest: &Manifest,
    vocabulary: &WordPiece,
) -> Result<(), String> {
    let max_tokens = manifest.deep_tokens();
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
    Ok(())
}

#[cfg(test)]
impl BuiltIn {
    /// The tokens and rows of a text, to be compared with those of the training code.
    pub(super) fn stages(&self, text: &str) -> (Vec<u32>, Vec<u32>) {
        (self.encoder.tokens(text), self.encoder.row_numbers(text))
    }

    /// Whether it uses the instant encoder that is embedded in this program.
    pub(super) fn has_embedded_encoder(&self) -> bool {
        Arc::ptr_eq(&self.encoder, InstantEncoder::embedded())
    }
}
