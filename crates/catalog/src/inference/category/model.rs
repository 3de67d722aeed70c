//! The classifier: a vector and a weight per word, and a softmax at every branch of the taxonomy.
//!
//! The file format, little-endian: `SKCATE01`; four 32-bit integers (dimensions *d*, words *w*,
//! categories *c*, categories of the first decision *t*); a 32-bit float per place of a word, the
//! factor of its weight, followed by one for the merchant's own category; `w` hashes, ascending, 32
//! bits each; `w` weights and `w` scales, the upper halves of 32-bit floats; `w` × `d` signed bytes;
//! the numbers of the `t` categories, 16 bits each; a scale and a bias, likewise upper halves, for
//! `c` + `t` rows; and those rows, `d` signed bytes each.

use std::{borrow::Cow, cell::RefCell, ops::Range, sync::Arc};

use super::{
    file::{BrokenCategoryModel, File},
    linear::{self, Rows},
    names::CategoryNames,
    query::{QueryCategories, Share},
    taxonomy::Taxonomy,
    vectors::CategoryVectors,
    words::{Feature, PLACES, Words},
};
use crate::product::inferred::{CategoryIndex, InferredCategory};

const MAGIC: &[u8; 8] = b"SKCATE01";
const HEADER_BYTES: usize = MAGIC.len() + 4 * 4;
/// An upper limit for the dimensions in a valid header.
const MAX_DIMS: usize = 1024;
/// The length of a text's vector whose words are all of one mind.
const SCALE: f32 = 4.0;
/// The weight of nothing in the mean of the words: few telling words make a short vector.
const PRIOR: f32 = 0.5;
/// An answer at level two must be this likely by words and vector, by words alone, and by the vector
/// alone. Chosen on labelled products so that fewer than three in a hundred answers are wrong.
const LEAST_BY_BOTH: f32 = 0.59;
const LEAST_BY_WORDS: f32 = 0.85;
const LEAST_BY_VECTOR: f32 = 0.7;
/// An answer at level one must be this likely.
const LEVEL_ONE: f32 = 0.85;
/// What the vector alone tells, at least.
const LEAST_TOLD: f32 = 0.3;
/// How likely a category of level two must be by words, so that they decide what is below it.
const LEAST_BELOW: f32 = 0.1;
/// A name decides if the category of level two that it leads to is this likely, and if its own category
/// has this share of that. Its answer must be this likely at level two.
const LEAST_NAMED: f32 = 0.2;
const LEAST_NAMED_PART: f32 = 0.1;
const LEAST_BY_NAME: f32 = 0.4;
/// Below level two the answer is the deepest category that has this share of its parent.
const BRANCH: f32 = 0.4;
/// Less likely categories are no part of what a query may mean.
const QUERY_SHARE: f32 = 0.05;
/// Less likely categories do not count at all.
const LEAST_SHARE: f32 = 0.02;

/// Where a product belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The most likely category, however likely it is; `None` if no word tells.
    pub likely: Option<CategoryIndex>,
    /// What is likely enough to be shown and filtered by.
    pub certain: Option<InferredCategory>,
    /// What the title calls the product, however unlikely that is; `None` if it says no known name.
    pub named: Option<CategoryIndex>,
}

/// The model, with the taxonomy that it was trained for.
pub struct CategoryModel {
    taxonomy: Arc<Taxonomy>,
    vectors: Option<CategoryVectors>,
    names: Option<CategoryNames>,
    bytes: Cow<'static, [u8]>,
    dims: usize,
    hashes: Vec<u32>,
    /// Where the hashes with each value of the upper sixteen bits begin.
    buckets: Vec<u32>,
    /// Weight, and weight times scale, of each word.
    words: Vec<(f32, f32)>,
    word_rows: usize,
    place_factors: [f32; PLACES],
    merchant_factor: f32,
    /// The categories of the first decision, ascending: those of level two, and roots without children.
    first: Vec<CategoryIndex>,
    /// Which root each of them is or is below.
    first_roots: Vec<usize>,
    first_rows: Rows,
    /// Scale and bias of the rows of categories, then of the first decision.
    outputs: Vec<(f32, f32)>,
    output_rows: usize,
}

/// Buffers that are allocated once per thread.
#[derive(Default)]
struct Buffers {
    words: Words,
    features: Vec<Feature>,
    /// What may name the thing, hashed, the best first.
    names: Vec<u32>,
    /// The known features, as rows with their factors.
    rows: Vec<(usize, f32)>,
    vector: Vec<f32>,
    first: Vec<f32>,
    /// The same by words alone, if any is known, and by the vector alone.
    by_words: Vec<f32>,
    by_vector: Vec<f32>,
    branches: Branches,
}

/// The probabilities of what is directly below categories, each computed once for a text.
#[derive(Default)]
struct Branches {
    /// The categories, and where their branches are.
    known: Vec<(CategoryIndex, Range<usize>)>,
    shares: Vec<(CategoryIndex, f32)>,
}

impl Buffers {
    /// Begins with the words of a title or of a query.
    fn read_title(&mut self, text: &str) {
        self.features.clear();
        self.words.title(text, &mut self.features);
        self.names.clear();
        self.words.names(&mut self.names);
    }
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

impl CategoryModel {
    /// Reads a model that was trained for this taxonomy.
    pub fn new(
        bytes: Cow<'static, [u8]>,
        taxonomy: Arc<Taxonomy>,
    ) -> Result<Self, BrokenCategoryModel> {
        if bytes.len() < HEADER_BYTES || !bytes.starts_with(MAGIC) {
            return Err(BrokenCategoryModel::Magic);
        }
        let mut file = File::new(&bytes, MAGIC.len());
        let [dims, words, categories, firsts] = std::array::from_fn(|_| file.u32() as usize);
        if categories != taxonomy.len() {
            return Err(BrokenCategoryModel::Taxonomy);
        }
        let rows = categories.saturating_add(firsts);
        let size = (HEADER_BYTES + (PLACES + 1) * 4)
            .saturating_add(words.saturating_mul(dims.saturating_add(8)))
            .saturating_add(rows.saturating_mul(dims.saturating_add(4)))
            .saturating_add(firsts.saturating_mul(2));
        if dims == 0 || dims > MAX_DIMS || firsts == 0 || size != bytes.len() {
            return Err(BrokenCategoryModel::Header);
        }
        let place_factors = std::array::from_fn(|_| file.f32());
        let merchant_factor = file.f32();
        let hashes: Vec<u32> = (0..words).map(|_| file.u32()).collect();
        let weights: Vec<f32> = (0..words).map(|_| file.half()).collect();
        let word_scales = weights.iter().map(|weight| (*weight, weight * file.half())).collect();
        let word_rows = file.skip(words * dims);
        let first: Vec<_> = (0..firsts).map(|_| CategoryIndex(file.u16())).collect();
        let outputs = (0..rows).map(|_| (file.half(), file.half())).collect();
        let output_rows = file.skip(rows * dims);
        let first_rows = &bytes[output_rows + categories * dims..][..firsts * dims];
        let first_rows = Rows::new(first_rows, dims);
        let root_of = |at: &CategoryIndex| {
            taxonomy.roots().iter().position(|root| taxonomy.below(*root).contains(&at.0))
        };
        let first_roots: Option<Vec<usize>> = first.iter().map(root_of).collect();
        let buckets = buckets(&hashes);
        let model = Self {
            taxonomy,
            vectors: None,
            names: None,
            dims,
            hashes,
            buckets,
            words: word_scales,
            word_rows,
            place_factors,
            merchant_factor,
            first,
            first_roots: first_roots.ok_or(BrokenCategoryModel::Numbers)?,
            first_rows,
            outputs,
            output_rows,
            bytes,
        };
        model.check()?;
        Ok(model)
    }

    fn check(&self) -> Result<(), BrokenCategoryModel> {
        let pairs = self.words.iter().chain(&self.outputs);
        let factors = self.place_factors.iter().chain([&self.merchant_factor]);
        let finite = pairs.flat_map(|(a, b)| [a, b]).chain(factors).all(|x| x.is_finite());
        let ascending = self.hashes.is_sorted_by(|one, next| one < next) && self.first.is_sorted();
        if finite && ascending { Ok(()) } else { Err(BrokenCategoryModel::Numbers) }
    }

    /// This model with vectors to compare those of texts with.
    pub fn with_vectors(self, vectors: CategoryVectors) -> Self {
        Self { vectors: Some(vectors), ..self }
    }

    /// This model with the names of things.
    pub fn with_names(self, names: CategoryNames) -> Self {
        Self { names: Some(names), ..self }
    }

    /// Typical vectors of categories, if it has any.
    pub fn vectors(&self) -> Option<&CategoryVectors> {
        self.vectors.as_ref()
    }

    /// The taxonomy.
    pub fn taxonomy(&self) -> &Taxonomy {
        &self.taxonomy
    }

    /// Where a product belongs. `product_type` is what the merchant calls it: a few words, or a path of
    /// categories, of Shopify's or another taxonomy. `dots` are the dot products of the instant vector of
    /// its texts with each of the [vectors](Self::vectors).
    pub fn infer(
        &self,
        title: &str,
        description: &str,
        product_type: Option<&str>,
        dots: Option<&[f32]>,
    ) -> Placement {
        let stated = product_type.and_then(|stated| self.taxonomy.parse(stated));
        if let Some(category) = stated.filter(|category| self.taxonomy.depth(*category) > 1) {
            let certain = Some(InferredCategory { category, confidence: 100 });
            return Placement { likely: Some(category), certain, named: None };
        }
        BUFFERS.with_borrow_mut(|buffers| {
            buffers.read_title(title);
            let title = buffers.features.len();
            if let Some(product_type) = product_type {
                buffers.words.title(last_names(product_type), &mut buffers.features);
            }
            let stated = title..buffers.features.len();
            buffers.words.description(description, &mut buffers.features);
            self.sum(buffers, stated);
            self.descend(buffers, dots).unwrap_or_default()
        })
    }

    /// What a query may mean.
    pub fn infer_query(&self, words: &str) -> QueryCategories {
        BUFFERS.with_borrow_mut(|buffers| {
            buffers.read_title(words);
            self.sum(buffers, 0..0);
            if buffers.vector.iter().all(|x| *x == 0.0) {
                return QueryCategories::default();
            }
            self.first_decision(buffers);
            let first: Vec<(CategoryIndex, f32)> =
                self.first.iter().copied().zip(buffers.first.iter().copied()).collect();
            let (likely, shares) = (self.likely(&first, buffers), self.shares(&first, buffers));
            QueryCategories::new(likely, shares, self.named_by_query(buffers))
        })
    }

    /// The categories of what a query names, with their probabilities.
    fn named_by_query(&self, buffers: &Buffers) -> Vec<(CategoryIndex, f32)> {
        let Some(names) = &self.names else { return Vec::new() };
        let mut found = buffers.names.iter().map(|hash| names.find(*hash));
        let found = found.find(|found| !found.is_empty()).unwrap_or_default();
        let share = |category: &CategoryIndex| {
            let at = self.first_above(*category);
            (*category, at.map_or(0.0, |at| buffers.first[at]))
        };
        let named: Vec<_> = found.iter().map(share).collect();
        let total: f32 = named.iter().map(|(_, share)| share).sum();
        if total >= QUERY_SHARE { named } else { Vec::new() }
    }

    /// Likely categories, the most likely first, none of them below another.
    fn likely(
        &self,
        first: &[(CategoryIndex, f32)],
        buffers: &mut Buffers,
    ) -> Vec<(CategoryIndex, f32)> {
        let mut found = Vec::new();
        let mut open: Vec<(CategoryIndex, f32)> = first.to_vec();
        open.retain(|(_, share)| *share >= QUERY_SHARE);
        while let Some((category, share)) = open.pop() {
            let branch = self.branch(category, &buffers.vector, &mut buffers.branches);
            let likely = |part: &f32| share * part >= QUERY_SHARE.max(share / 3.0);
            let below = branch.iter().filter(|(_, part)| likely(part));
            let before = open.len();
            open.extend(below.map(|(child, part)| (*child, share * part)));
            if open.len() == before {
                found.push((category, share));
            }
        }
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        found
    }

    /// The probabilities of the categories of the first decision and of those directly below them.
    fn shares(&self, first: &[(CategoryIndex, f32)], buffers: &mut Buffers) -> Vec<Share> {
        let mut all = Vec::new();
        for (category, share) in first.iter().copied().filter(|(_, share)| *share >= LEAST_SHARE) {
            let branch = self.branch(category, &buffers.vector, &mut buffers.branches);
            let below = branch.iter().map(|(child, part)| (*child, share * part));
            let below: Vec<_> = below.filter(|(_, share)| *share >= LEAST_SHARE).collect();
            all.push(Share::new(category, share, &below));
            all.extend(below.iter().map(|(child, share)| Share::new(*child, *share, &[])));
        }
        all
    }

    /// Adds up the vectors of the features; those in `stated` are the merchant's category.
    fn sum(&self, buffers: &mut Buffers, stated: Range<usize>) {
        let Buffers { features, rows, vector, branches, .. } = buffers;
        branches.known.clear();
        branches.shares.clear();
        rows.clear();
        let mut total = PRIOR;
        for (at, feature) in features.iter().enumerate() {
            let Some(row) = self.row(feature.hash) else { continue };
            let mut factor = self.place_factors[feature.place as usize];
            if stated.contains(&at) {
                factor *= self.merchant_factor;
            }
            let (weight, scale) = self.words[row];
            total += factor * weight;
            rows.push((row, factor * scale));
        }
        vector.clear();
        vector.resize(self.dims, 0.0);
        linear::add_rows(vector, &self.bytes[self.word_rows..], rows);
        vector.iter_mut().for_each(|x| *x *= SCALE / total);
    }

    fn row(&self, hash: u32) -> Option<usize> {
        let bucket = (hash >> 16) as usize;
        let (start, end) = (self.buckets[bucket] as usize, self.buckets[bucket + 1] as usize);
        self.hashes[start..end].binary_search(&hash).ok().map(|at| start + at)
    }

    /// The place in the first decision that leads to a category.
    fn first_above(&self, category: CategoryIndex) -> Option<usize> {
        self.first.binary_search(&self.taxonomy.level_two(category)).ok()
    }

    /// What the title names: the place in the first decision that leads there, and the category. `None` if
    /// it says no name, or none that is likely.
    fn named(&self, buffers: &mut Buffers) -> Option<(usize, CategoryIndex)> {
        let names = self.names.as_ref()?;
        let Buffers { names: said, first, vector, branches, .. } = buffers;
        said.iter().find_map(|hash| {
            let mut best: Option<(usize, CategoryIndex, f32)> = None;
            for category in names.find(*hash) {
                let Some(at) = self.first_above(*category) else { continue };
                if first[at] < LEAST_NAMED {
                    continue;
                }
                let part = self.part(*category, vector, branches);
                let is_better =
                    best.is_none_or(|(at_best, _, best)| first[at] * part > first[at_best] * best);
                if part >= LEAST_NAMED_PART && is_better {
                    best = Some((at, *category, part));
                }
            }
            best.map(|(at, category, _)| (at, category))
        })
    }

    /// What the title names, however unlikely: of the categories of its first name, the likeliest.
    fn said(&self, buffers: &mut Buffers) -> Option<CategoryIndex> {
        let names = self.names.as_ref()?;
        let Buffers { names: said, first, vector, branches, .. } = buffers;
        let found = said.iter().map(|hash| names.find(*hash)).find(|found| !found.is_empty())?;
        let mut share = |category: CategoryIndex| {
            let at = self.first_above(category);
            at.map_or(0.0, |at| first[at] * self.part(category, vector, branches))
        };
        let shares: Vec<_> = found.iter().map(|category| (*category, share(*category))).collect();
        shares.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(category, _)| category)
    }

    /// How likely a category is if its ancestor of level two is right.
    fn part(&self, category: CategoryIndex, vector: &[f32], branches: &mut Branches) -> f32 {
        let mut part = 1.0;
        for below in self.taxonomy.ancestors(category).filter(|one| self.taxonomy.depth(*one) > 2) {
            let Some(parent) = self.taxonomy.parent(below) else { break };
            let branch = self.branch(parent, vector, branches);
            let own = branch.iter().find(|(child, _)| *child == below);
            part *= own.map_or(1.0, |(_, part)| *part);
        }
        part
    }

    fn descend(&self, buffers: &mut Buffers, dots: Option<&[f32]>) -> Option<Placement> {
        let least = self.decide(buffers, dots)?;
        let (best, mut category, least) = match self.named(buffers) {
            Some((at, category)) => (at, category, LEAST_BY_NAME),
            None => {
                let best = buffers.first.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
                let at = best.map(|(at, _)| at)?;
                (at, self.first[at], least)
            }
        };
        let share = buffers.first[best];
        let root = if share < least { self.level_one(&buffers.first) } else { None };
        // Below level two the words decide alone, if they find it likely at all.
        while buffers.by_words.get(best).is_some_and(|share| *share >= LEAST_BELOW) {
            let branch = self.branch(category, &buffers.vector, &mut buffers.branches);
            let likeliest = branch.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            match likeliest {
                Some((child, part)) if *part >= BRANCH => category = *child,
                _ => break,
            }
        }
        let certain = match share < least {
            true => root,
            false => Some(InferredCategory { category, confidence: hundredths(share) }),
        };
        let is_told = !buffers.by_words.is_empty() || share >= LEAST_TOLD;
        let named = self.said(buffers);
        Some(Placement { likely: is_told.then_some(category), certain, named })
    }

    /// The probabilities of the categories of level two by all that is known of a text, and how likely
    /// one has to be; `None` if nothing is.
    fn decide(&self, buffers: &mut Buffers, dots: Option<&[f32]>) -> Option<f32> {
        let by_vector = &mut buffers.by_vector;
        let has_vector = self
            .vectors
            .as_ref()
            .zip(dots)
            .is_some_and(|(vectors, dots)| vectors.compare(dots, &self.first, by_vector));
        let has_words = buffers.vector.iter().any(|x| *x != 0.0);
        if has_words {
            self.first_decision(buffers);
        } else {
            buffers.first.clear();
        }
        let Buffers { first, by_words, by_vector, .. } = buffers;
        by_words.clone_from(first);
        match (has_words, has_vector) {
            (false, false) => None,
            (true, false) => Some(LEAST_BY_WORDS),
            (false, true) => {
                first.clone_from(by_vector);
                Some(LEAST_BY_VECTOR)
            }
            (true, true) => {
                linear::combine(first, by_vector);
                Some(LEAST_BY_BOTH)
            }
        }
    }

    /// The root that together with everything below it is likely enough, given the shares of the
    /// categories of the first decision.
    fn level_one(&self, shares: &[f32]) -> Option<InferredCategory> {
        let mut roots = vec![0.0; self.taxonomy.roots().len()];
        for (root, share) in self.first_roots.iter().zip(shares) {
            roots[*root] += share;
        }
        let roots = self.taxonomy.roots().iter().copied().zip(roots);
        let (category, share) = roots.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (share >= LEVEL_ONE).then(|| InferredCategory { category, confidence: hundredths(share) })
    }

    /// The probabilities of the categories of level two.
    fn first_decision(&self, buffers: &mut Buffers) {
        let Buffers { vector, first, .. } = buffers;
        self.first_rows.dots(vector, first);
        first.truncate(self.first.len());
        let outputs = &self.outputs[self.taxonomy.len()..];
        for (score, (scale, bias)) in first.iter_mut().zip(outputs) {
            *score = bias + scale * *score;
        }
        linear::softmax(first);
    }

    /// The probabilities of the categories directly below one, if there are several.
    fn branch<'b>(
        &self,
        category: CategoryIndex,
        vector: &[f32],
        branches: &'b mut Branches,
    ) -> &'b [(CategoryIndex, f32)] {
        let Branches { known, shares } = branches;
        if let Some((_, range)) = known.iter().find(|(one, _)| *one == category) {
            return &shares[range.clone()];
        }
        let start = shares.len();
        let row_of = |child: CategoryIndex| {
            let start = self.output_rows + usize::from(child.0) * self.dims;
            (child, &self.bytes[start..][..self.dims])
        };
        let rows = self.taxonomy.children(category).map(row_of);
        linear::for_each_dot(vector, rows, |child, dot| {
            let (scale, bias) = self.outputs[usize::from(child.0)];
            shares.push((child, bias + scale * dot));
        });
        if shares.len() == start + 1 {
            // There is nothing to decide, but not everything in the category is of that kind.
            shares.pop();
        }
        softmax(&mut shares[start..]);
        known.push((category, start..shares.len()));
        &shares[start..]
    }
}

impl std::fmt::Debug for CategoryModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CategoryModel").field("words", &self.words.len()).finish_non_exhaustive()
    }
}

/// Turns the scores of categories, of which there are few, into probabilities.
fn softmax(categories: &mut [(CategoryIndex, f32)]) {
    let scores = categories.iter().map(|(_, score)| *score);
    let highest = scores.fold(f32::NEG_INFINITY, f32::max);
    categories.iter_mut().for_each(|(_, score)| *score = linear::exp(*score - highest));
    let total: f32 = categories.iter().map(|(_, score)| *score).sum();
    categories.iter_mut().for_each(|(_, score)| *score /= total);
}

/// The last two names of a path of categories: the first ones say what is nearby.
fn last_names(product_type: &str) -> &str {
    let mut ends = product_type.rmatch_indices('>').map(|(at, _)| at + 1);
    ends.next();
    ends.next().map_or(product_type, |start| &product_type[start..])
}

fn hundredths(share: f32) -> u8 {
    (share * 100.0).round().clamp(0.0, 100.0) as u8
}

fn buckets(hashes: &[u32]) -> Vec<u32> {
    let mut starts = vec![0; (1 << 16) + 1];
    for hash in hashes {
        starts[(hash >> 16) as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    starts
}
