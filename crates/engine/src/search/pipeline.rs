//! The steps of a search, the same for every source.

use std::borrow::Cow;

use catalog::{
    inference::attributes::QueryAttribute,
    product::{
        Product, ProductId,
        attributes::AttributeName,
        inferred::{Attribute, CategoryIndex},
    },
    query::{
        QueryText,
        filter::{AttributeTest, Condition, FoldedText, ProductFilter},
        parser::{ParseOptions, ParsedQuery},
    },
    ranking::hits::Hit,
};
use embed::inference::taxonomy;
use index::{Matches, Plan, QueryKind};
use store::StoreError;

use super::{
    SearchContext, SearchRequest, SearchResults, SearchSource, StageTimer,
    query_encoder::{QueryLanguage, categories},
};

/// Searches a source. Results depend only on products that its caller may see.
pub(crate) fn search(
    source: &dyn SearchSource,
    context: &SearchContext<'_>,
    request: &SearchRequest,
) -> Result<SearchResults, StoreError> {
    let mut timer = StageTimer::start(request.time_limit);
    let (parsed, language) = parse(source, context, request);
    let filter = filter(request, &parsed);
    let mut plan = plan(source, request, &parsed);
    plan.filter = &filter;
    (plan.threads, plan.deadline) = (context.threads(), timer.deadline);
    if let QueryKind::Terms(words) = &plan.kind {
        source.prefetch_words(words);
    }
    timer.end_stage("understand")?;

    // A query of punctuation or pictures has no words and gets no vector.
    let has_words = matches!(&plan.kind, QueryKind::Terms(words) if !words.is_empty());
    let contains = |word: &str| source.contains_word(word) || parsed.has_forms(word);
    let encoded = match has_words {
        true => context.encode(&parsed, language, &contains, &plan.tuning.fusion),
        false => None,
    };
    plan.dense = encoded.as_ref().and_then(|encoded| encoded.dense_query());
    if let (Some(encoded), QueryKind::Terms(terms)) = (&encoded, &plan.kind) {
        let rerank = context.rerank_query(encoded, &parsed, terms, &plan.tuning.fusion);
        plan.rerank = rerank;
    }
    let encoder = encoded.filter(|_| plan.dense.is_some()).map(|encoded| encoded.encoder);
    timer.end_stage("encode")?;

    let scored = source.score(&plan, &parsed, &mut timer)?;
    let Matches { hits, total, explanations, timed_out, facets, .. } = scored.matches;
    if timed_out {
        return Err(StoreError::search_timeout());
    }
    timer.end_stage("score")?;

    let products = fetch(source, &filter, &parsed, &hits)?;
    let total = total - (hits.len() - products.len());
    timer.finish("fetch");
    Ok(SearchResults {
        products,
        explanations,
        total,
        is_total_exact: scored.is_total_exact,
        facets,
        seq: source.seq(),
        encoder,
        category: category(&plan, &parsed),
        parsed,
    })
}

/// The plan of a request. An order that the request states wins over one in the text.
fn plan<'a>(
    source: &dyn SearchSource,
    request: &'a SearchRequest,
    parsed: &'a ParsedQuery,
) -> Plan<'a> {
    let mut plan = Plan::of(parsed, source.visibility(), request.offset, request.limit);
    if request.query.is_none() {
        plan = plan.matching_all();
    }
    if let Some(sort) = &request.sort {
        plan = plan.ordered(sort.clone());
    }
    plan.key = key(request);
    (plan.facets, plan.facet_limit) = (&request.facets, request.facet_limit);
    (plan.explain, plan.tuning) = (request.explain, request.tuning);
    plan
}

/// The conditions of a request, with the attributes that its query requires: "only black or white"
/// is one of both colors.
fn filter<'a>(request: &'a SearchRequest, parsed: &ParsedQuery) -> Cow<'a, ProductFilter> {
    let mut filter = Cow::Borrowed(&request.filter);
    for attribute in Attribute::ALL {
        let required = |one: &&QueryAttribute| one.is_required && one.attribute == attribute;
        // Merchants may write the shade where the value is its base.
        let written = |one: &QueryAttribute| one.value_names().chain(one.special);
        let values: Vec<_> = parsed.attributes.iter().filter(required).flat_map(written).collect();
        if let (false, Ok(name)) = (values.is_empty(), AttributeName::parse(attribute.name())) {
            let test = AttributeTest::AnyOf(values.into_iter().map(FoldedText::of).collect());
            filter.to_mut().all.push(Condition::Required(name, test));
        }
    }
    filter
}

/// The category that a query means, if that is clear.
fn category(plan: &Plan<'_>, parsed: &ParsedQuery) -> Option<CategoryIndex> {
    let found = match &plan.rerank {
        Some(rerank) => Cow::Borrowed(&rerank.categories),
        None => Cow::Owned(categories(parsed)),
    };
    found.category(taxonomy())
}

/// The query as a key.
fn key(request: &SearchRequest) -> Option<&str> {
    request.query.as_ref().map(|query| query.as_str().trim())
}

/// Parses the query, tells its language, finds other forms of its words and corrects its spelling, all
/// with the vocabulary of the source.
fn parse(
    source: &dyn SearchSource,
    context: &SearchContext<'_>,
    request: &SearchRequest,
) -> (ParsedQuery, QueryLanguage) {
    let Some(query) = request.query.as_ref().map(QueryText::as_str) else {
        return (ParsedQuery::default(), QueryLanguage::ENGLISH);
    };
    if key(request).is_some_and(|key| source.contains_key(key)) {
        // The words of a key are not conditions.
        return (ParseOptions::NOTHING.parse(query, &|_| false), QueryLanguage::ENGLISH);
    }
    source.prefetch_text(query);
    let mut parsed = request.parse_options.parse(query, &|word| source.contains_word(word));
    let language = context.language_of(&parsed, || source.language());
    let is_word = |word: &str| context.recognises(word, language.text);
    source.with_vocabulary(&is_word, &mut |vocabulary| {
        parsed.relate(vocabulary);
        // Correct words of another language are no misspelled words of the shop.
        if request.parse_options.corrections && !language.is_translated {
            parsed.correct(query, vocabulary);
        }
    });
    (parsed, language)
}

/// The rows of the hits. A write that committed after the source's state may have hidden a product,
/// or changed it so that it breaks a condition; such a product is omitted.
fn fetch(
    source: &dyn SearchSource,
    filter: &ProductFilter,
    parsed: &ParsedQuery,
    hits: &[Hit],
) -> Result<Vec<Product>, StoreError> {
    let ids: Vec<ProductId> = hits.iter().map(|hit| hit.product).collect();
    let mut products = source.products(&ids)?;
    products.retain(|product| {
        parsed.admits(&product.price)
            && filter.matches(product.price.money(), &product.attributes, &product.inferred)
            && parsed.allows(
                product.title.as_str(),
                product.description.as_str(),
                &product.attributes.text(),
            )
    });
    Ok(products)
}
