//! How do several segments become one? Live products in order of id, postings word by word.

use catalog::ranking::TermFreqs;

use super::{
    bits::Bits,
    columns::Columns,
    dictionary::DictionaryBuilder,
    live::LiveSegment,
    neighbours::NeighboursBuilder,
    segment::{Doc, Segment},
    vectors::Vectors,
};

/// In place of the new number of a product that is left out.
const LEFT_OUT: u32 = u32::MAX;

/// One segment with the live products of all sources, which hold each product at most once.
pub(super) fn merge(sources: &[LiveSegment]) -> LiveSegment {
    let order = order_of_products(sources);
    let renumbered = renumber(sources, &order);
    let column = |at: usize| &sources[order[at].0].segment;
    let all = 0..order.len();
    let merged = merge_postings(sources, &renumbered);
    let vectors = order.iter().map(|&(source, doc)| sources[source].vectors().get(doc));
    let vectors = Vectors::of(vectors);
    let mut neighbours = NeighboursBuilder::default();
    all.clone().for_each(|at| neighbours.copy(column(at).neighbours.of(order[at].1)));
    let live = |at: usize| (&sources[order[at].0], order[at].1);
    let is_hidden = |at: &usize| live(*at).0.columns().hidden().get(live(*at).1);
    let versions: Vec<_> = all.clone().map(|at| live(at).0.columns().version(live(at).1)).collect();
    let prices: Vec<_> = all.clone().map(|at| live(at).0.columns().price(live(at).1)).collect();
    let hidden = Bits::with(order.len(), all.clone().filter(is_hidden));
    let columns = Columns::new(hidden, &versions, &prices);
    let segment = Segment {
        ids: all.clone().map(|at| column(at).ids[order[at].1]).collect(),
        lengths: all.clone().map(|at| column(at).lengths[order[at].1]).collect(),
        titles: all.map(|at| column(at).titles[order[at].1]).collect(),
        neighbours: neighbours.finish(),
        words: merged.words.finish(),
        ends: merged.ends.into_boxed_slice(),
        docs: merged.docs.into_boxed_slice(),
        occurrences: merged.occurrences.into_boxed_slice(),
    };
    LiveSegment::new(segment, columns, vectors)
}

/// Source and number of every live product, in ascending order of id.
fn order_of_products(sources: &[LiveSegment]) -> Vec<(usize, usize)> {
    let mut order: Vec<_> = sources
        .iter()
        .enumerate()
        .flat_map(|(source, live)| {
            (0..live.segment.len()).filter(|doc| !live.is_dead(*doc)).map(move |doc| (source, doc))
        })
        .collect();
    // The stable sort makes use of the ascending runs that the sources are.
    order.sort_by_key(|&(source, doc)| sources[source].segment.ids[doc]);
    order
}

/// The new number of every product of every source.
fn renumber(sources: &[LiveSegment], order: &[(usize, usize)]) -> Vec<Vec<u32>> {
    let mut renumbered: Vec<_> =
        sources.iter().map(|live| vec![LEFT_OUT; live.segment.len()]).collect();
    for (new, &(source, doc)) in (0..).zip(order) {
        renumbered[source][doc] = new;
    }
    renumbered
}

struct MergedPostings {
    words: DictionaryBuilder,
    ends: Vec<u32>,
    docs: Vec<Doc>,
    occurrences: Vec<TermFreqs>,
}

fn merge_postings(sources: &[LiveSegment], renumbered: &[Vec<u32>]) -> MergedPostings {
    let most_postings = sources.iter().map(|live| live.segment.posting_count()).sum();
    let most_words = sources.iter().map(|live| live.segment.words.len()).max().unwrap_or(0);
    let mut merged = MergedPostings {
        words: DictionaryBuilder::with_capacity(most_words),
        ends: Vec::with_capacity(most_words),
        docs: Vec::with_capacity(most_postings),
        occurrences: Vec::with_capacity(most_postings),
    };
    let mut cursors = vec![0; sources.len()];
    let mut run: Vec<(Doc, TermFreqs)> = Vec::new();
    loop {
        let heads = sources.iter().zip(&cursors).map(|(live, &at)| {
            let words = &live.segment.words;
            (at < words.len()).then(|| words.term(at))
        });
        let Some(term) = heads.flatten().min() else { break };
        run.clear();
        for ((live, cursor), new_number) in sources.iter().zip(&mut cursors).zip(renumbered) {
            let segment = &live.segment;
            if *cursor == segment.words.len() || segment.words.term(*cursor) != term {
                continue;
            }
            let postings = segment.postings(*cursor);
            let renumbered = postings.docs.iter().map(|doc| new_number[usize::from(*doc)]);
            run.extend(
                renumbered
                    .zip(postings.occurrences)
                    .filter(|(doc, _)| *doc != LEFT_OUT)
                    .map(|(doc, occurrences)| (doc as Doc, *occurrences)),
            );
            *cursor += 1;
        }
        if run.is_empty() {
            continue;
        }
        if !run.is_sorted_by_key(|(doc, _)| *doc) {
            run.sort_by_key(|(doc, _)| *doc);
        }
        merged.words.push(term);
        merged.docs.extend(run.iter().map(|(doc, _)| *doc));
        merged.occurrences.extend(run.iter().map(|(_, occurrences)| *occurrences));
        merged.ends.push(merged.docs.len() as u32);
    }
    merged
}
