//! Merges segments: live products in order of cell and id, postings term by term.

use catalog::ranking::bm25f::TermFreqs;

use super::{
    DocId, Segment, attributes::AttributeColumns, bigrams::BigramsBuilder, columns::Columns,
    dictionary::DictionaryBuilder, keys::Keys, live_docs::LiveSegment, title_index::TitleIndex,
    title_words::TitleWordsBuilder, word_places::WordPlaces,
};
use crate::{bits::BitSet, dense::Vectors};

/// In place of the new number of a deleted product.
const DELETED: u32 = u32::MAX;

/// One segment with the live products of all sources. A product is live in one source at most.
pub(crate) fn merge(sources: &[LiveSegment]) -> LiveSegment {
    let order = live_products(sources);
    let new_numbers = new_numbers(sources, &order);
    let merged = merge_postings(sources, &new_numbers);
    let MergedPostings { terms, ends, docs, freqs, new_terms } = merged;
    let products = || order.iter().map(|&(source, doc)| (&sources[source], doc));
    let vectors = [
        Vectors::gathered(products().map(|(live, doc)| (live.vectors(), doc))),
        Vectors::gathered(products().map(|(live, doc)| (live.deep(), doc))),
    ];
    let mut bigrams = BigramsBuilder::default();
    for (live, numbers) in sources.iter().zip(&new_numbers) {
        let new_number = |doc: DocId| new_number(numbers, usize::from(doc));
        bigrams.add_segment(&live.segment.bigrams, new_number);
    }
    let mut title_words = TitleWordsBuilder::default();
    for &(source, doc) in &order {
        let words = sources[source].segment.title_words.of(doc);
        title_words.push_title(words, &new_terms[source], ends.len());
    }
    let versions: Vec<_> = products().map(|(live, doc)| live.columns().version(doc)).collect();
    let prices: Vec<_> = products().map(|(live, doc)| live.columns().price(doc)).collect();
    let hidden = products().enumerate();
    let hidden = hidden.filter(|(_, (live, doc))| live.columns().hidden().get(*doc));
    let hidden = BitSet::with(order.len(), hidden.map(|(at, _)| at));
    let keys = (0..).zip(products());
    let keys = keys.filter_map(|(at, (live, doc))| Some((at, live.segment.keys.get(doc)?)));
    let keys: Vec<(DocId, &str)> = keys.collect();
    let segment = Segment {
        ids: products().map(|(live, doc)| live.segment.ids.get(doc)).collect(),
        lengths: products().map(|(live, doc)| live.segment.lengths[doc]).collect(),
        titles: merge_titles(sources, &new_numbers),
        bigrams: bigrams.finish(),
        title_words: title_words.finish_numbered(),
        inferred: products().map(|(live, doc)| live.segment.inferred.get(doc)).collect(),
        attributes: merge_attributes(sources, &new_numbers, order.len()),
        keys: Keys::of(&keys, order.len()),
        terms: terms.finish(),
        word_places: WordPlaces::default(),
        ends: ends.into(),
        docs: docs.into(),
        freqs: freqs.into(),
    };
    LiveSegment::new(segment, Columns::new(hidden, &versions, &prices), vectors)
}

/// Source and document number of every live product, in order of cell and id.
fn live_products(sources: &[LiveSegment]) -> Vec<(usize, usize)> {
    let mut order: Vec<_> = sources
        .iter()
        .enumerate()
        .flat_map(|(source, live)| {
            let docs = 0..live.segment.len();
            docs.filter(|doc| !live.is_deleted(*doc)).map(move |doc| (source, doc))
        })
        .collect();
    order.sort_by_cached_key(|&(source, doc)| {
        let live = &sources[source];
        (live.vectors().cell(doc), live.segment.ids.get(doc))
    });
    order
}

/// For each source, the new number of every product.
fn new_numbers(sources: &[LiveSegment], order: &[(usize, usize)]) -> Vec<Vec<u32>> {
    let mut numbers: Vec<_> =
        sources.iter().map(|live| vec![DELETED; live.segment.len()]).collect();
    for (new, &(source, doc)) in (0..).zip(order) {
        numbers[source][doc] = new;
    }
    numbers
}

/// The new number of a product; `None` if it is deleted.
fn new_number(numbers: &[u32], doc: usize) -> Option<DocId> {
    (numbers[doc] != DELETED).then_some(numbers[doc] as DocId)
}

/// The titles of the live products.
fn merge_titles(sources: &[LiveSegment], new_numbers: &[Vec<u32>]) -> TitleIndex {
    let each = sources.iter().zip(new_numbers);
    let titles = each.flat_map(|(live, numbers)| {
        let new = |(title, doc)| Some((title, new_number(numbers, usize::from(doc))?));
        live.segment.titles.iter().filter_map(new)
    });
    titles.collect()
}

/// The attributes of the live products.
fn merge_attributes(
    sources: &[LiveSegment],
    new_numbers: &[Vec<u32>],
    len: usize,
) -> AttributeColumns {
    let new_numbers: Vec<_> =
        new_numbers.iter().map(|numbers| move |doc| new_number(numbers, doc)).collect();
    let sources = sources.iter().zip(&new_numbers);
    let sources: Vec<_> = sources
        .map(|(live, new)| (&live.segment.attributes, new as &dyn Fn(usize) -> Option<DocId>))
        .collect();
    AttributeColumns::merge(&sources, len)
}

struct MergedPostings {
    terms: DictionaryBuilder,
    ends: Vec<u32>,
    docs: Vec<DocId>,
    freqs: Vec<TermFreqs>,
    /// For each source, the new number of every term of a live product.
    new_terms: Vec<Vec<u32>>,
}

/// The postings of each term of all sources, without deleted products.
fn merge_postings(sources: &[LiveSegment], new_numbers: &[Vec<u32>]) -> MergedPostings {
    let most_postings = sources.iter().map(|live| live.segment.posting_count()).sum();
    let most_terms = sources.iter().map(|live| live.segment.terms.len()).max().unwrap_or(0);
    let mut merged = MergedPostings {
        terms: DictionaryBuilder::with_capacity(most_terms),
        ends: Vec::with_capacity(most_terms),
        docs: Vec::with_capacity(most_postings),
        freqs: Vec::with_capacity(most_postings),
        new_terms: sources.iter().map(|live| vec![DELETED; live.segment.terms.len()]).collect(),
    };
    let mut cursors = vec![0; sources.len()];
    let mut run: Vec<(DocId, TermFreqs)> = Vec::new();
    loop {
        let heads = sources.iter().zip(&cursors).map(|(live, &at)| {
            let terms = &live.segment.terms;
            (at < terms.len()).then(|| terms.term(at))
        });
        let Some(term) = heads.flatten().min() else { break };
        run.clear();
        let sources = sources.iter().zip(&mut cursors).zip(new_numbers).zip(&mut merged.new_terms);
        for (((live, cursor), new_numbers), new_terms) in sources {
            let segment = &live.segment;
            if *cursor == segment.terms.len() || segment.terms.term(*cursor) != term {
                continue;
            }
            let postings = segment.postings(*cursor);
            let docs = postings.docs.iter().map(|doc| new_numbers[usize::from(*doc)]);
            run.extend(
                docs.zip(postings.freqs)
                    .filter(|(doc, _)| *doc != DELETED)
                    .map(|(doc, freqs)| (doc as DocId, *freqs)),
            );
            new_terms[*cursor] = merged.ends.len() as u32;
            *cursor += 1;
        }
        if run.is_empty() {
            continue;
        }
        if !run.is_sorted_by_key(|(doc, _)| *doc) {
            run.sort_by_key(|(doc, _)| *doc);
        }
        merged.terms.push(term);
        merged.docs.extend(run.iter().map(|(doc, _)| *doc));
        merged.freqs.extend(run.iter().map(|(_, freqs)| *freqs));
        merged.ends.push(merged.docs.len() as u32);
    }
    merged
}
