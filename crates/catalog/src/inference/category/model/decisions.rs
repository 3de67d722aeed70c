//! Decides where a product belongs, and what a query may mean, by the probabilities of the model.

use std::cell::RefCell;

use super::{Branches, Buffers, CategoryModel};
use crate::{
    inference::category::{
        linear,
        query::{QueryCategories, Share},
    },
    product::inferred::{CategoryIndex, InferredCategory},
};

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
    pub shown: Option<InferredCategory>,
    /// What the title calls the product, however unlikely that is; `None` if it says no known name.
    pub named: Option<CategoryIndex>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

impl CategoryModel {
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
            let shown = Some(InferredCategory { category, confidence: 100 });
            return Placement { likely: Some(category), shown, named: None };
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
        let shown = match share < least {
            true => root,
            false => Some(InferredCategory { category, confidence: hundredths(share) }),
        };
        let is_told = !buffers.by_words.is_empty() || share >= LEAST_TOLD;
        let named = self.said(buffers);
        Some(Placement { likely: is_told.then_some(category), shown, named })
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
