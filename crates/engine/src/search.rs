//! Which products answer a query? The shop's index scores them, the store hands out their rows.

use catalog::{
    access::ReadPass,
    change::Seq,
    product::{Product, ProductId},
    query::QueryText,
    understanding::{Understand, Understanding},
};

use crate::{
    embed::Encoder,
    index::{Meant, Plan, QueryVector, Snapshot, Wanted},
    meaning::{Meaning, QueryReader},
    store::{CatalogReads, StoreError},
};

/// A search as asked for.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The shopper's words.
    pub query: QueryText,
    /// How many products to return.
    pub limit: usize,
    /// How many of the best to skip first.
    pub offset: usize,
    /// What is read in the query besides words.
    pub understand: Understand,
}

/// What was found.
#[derive(Debug)]
pub struct SearchResults {
    /// The asked-for part, best first.
    pub products: Vec<Product>,
    /// How many there are in all.
    pub total: usize,
    /// How the query was read.
    pub understood: Understanding,
    /// Which encoder said what the query means; `None` where meaning took no part.
    pub encoder: Option<Encoder>,
    /// The change the search saw last.
    pub seq: Seq,
}

pub(crate) fn search(
    snapshot: &Snapshot,
    readers: &dyn CatalogReads,
    queries: &QueryReader<'_>,
    pass: &ReadPass,
    request: &SearchRequest,
) -> Result<SearchResults, StoreError> {
    let knows = |word: &str| snapshot.knows(word);
    let query = request.query.as_str();
    let mut understood = request.understand.read(query, &knows);
    if request.understand.corrections {
        snapshot.correct(query, &|word| queries.recognises(word), &mut understood);
    }
    let mut plan = Plan::of(&understood, pass.sight(), request.offset, request.limit);
    // Without words there is nothing to mean: what is left is punctuation or pictures.
    let has_words = matches!(&plan.wanted, Wanted::Words(words) if !words.is_empty());
    let meaning = if has_words { queries.meaning(&understood, &knows) } else { None };
    plan.meant = meaning.as_ref().and_then(meant);
    let encoder = meaning.filter(|_| plan.meant.is_some()).map(|meaning| meaning.encoder);
    let matches = snapshot.search(&plan, |in_doubt| {
        let allowed = |title: &str, description: &str| understood.allows(title, description);
        readers.refused(pass.shop(), in_doubt, &allowed)
    })?;
    let ids: Vec<ProductId> = matches.hits.iter().map(|hit| hit.product).collect();
    let mut products = readers.products(pass, &ids)?;
    // A write that commits between scoring and reading may take a product out of sight, or
    // change it so that it breaks a condition: it is not shown, and not counted.
    products.retain(|product| {
        understood.admits(&product.price)
            && understood.allows(product.title.as_str(), product.description.as_str())
    });
    let gone = ids.len() - products.len();
    let total = matches.total - gone;
    Ok(SearchResults { products, total, seq: snapshot.seq(), encoder, understood })
}

/// A query's meaning as the index looks for it.
fn meant(meaning: &Meaning) -> Option<Meant> {
    Some(Meant { vector: QueryVector::of(&meaning.vector)?, manner: meaning.manner })
}
