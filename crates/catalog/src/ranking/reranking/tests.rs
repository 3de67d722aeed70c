use super::*;

/// A query that shoppers phrase like this, whose words the best title says in part.
const QUERY: QueryEvidence = QueryEvidence {
    function_word_ratio: 0.0,
    phrase_similarity: 0.85,
    agreement: 0.8,
    title_coverage: 0.7,
    is_foreign: false,
    none_agrees: false,
};

const PRODUCT: Evidence = Evidence {
    lexical: 0.5,
    similarity: 0.5,
    deep_similarity: 0.5,
    phrase_similarity: 0.5,
    soft_coverage: 0.5,
    attribute_coverage: 0.0,
    names: 0.5,
    category: 0.5,
    head: 1.0,
    attributes: AttributeEvidence {
        color: 0.0,
        material: 0.0,
        pattern: 0.0,
        audience: 0.0,
        size: 0.0,
        unasked_audience: 0.0,
    },
    kind: None,
};

/// Of the right kind, by its name, and with every attribute.
const KIND: KindEvidence = KindEvidence {
    nearness: 1.0,
    named: 0.5,
    own_words: 0.0,
    subcategory: 0.0,
    agreement: 1.0,
    category: None,
};

fn score(evidence: Evidence) -> f32 {
    Reranker::new(&RERANK_PARAMS, &QUERY).score(&evidence)
}

#[test]
fn every_kind_of_evidence_counts() {
    let color = AttributeEvidence { color: 1.0, ..PRODUCT.attributes };
    let kind = KindEvidence { named: 1.0, own_words: 1.0, ..KIND };
    let better = [
        Evidence { lexical: 0.6, ..PRODUCT },
        Evidence { similarity: 0.6, ..PRODUCT },
        Evidence { deep_similarity: 0.6, ..PRODUCT },
        Evidence { phrase_similarity: 0.6, ..PRODUCT },
        Evidence { soft_coverage: 0.6, ..PRODUCT },
        Evidence { attribute_coverage: 0.5, ..PRODUCT },
        Evidence { names: 0.6, ..PRODUCT },
        Evidence { category: 1.0, ..PRODUCT },
        Evidence { attributes: color, ..PRODUCT },
        Evidence { kind: Some(kind), ..PRODUCT },
    ];
    better.into_iter().for_each(|better| assert!(score(better) > score(PRODUCT), "{better:?}"));
}

#[test]
fn contradiction_counts_whatever_the_product_is_and_agreement_only_for_the_thing() {
    let with = |color: f32, head: f32| {
        let attributes = AttributeEvidence { color, ..PRODUCT.attributes };
        score(Evidence { attributes, head, similarity: 0.0, ..PRODUCT })
    };
    assert!(with(1.0, 1.0) > with(1.0, 0.2));
    assert_eq!(with(-1.0, 1.0), with(-1.0, 0.2));
    assert!(with(0.0, 1.0) - with(-1.0, 1.0) > with(1.0, 1.0) - with(0.0, 1.0));
}

#[test]
fn only_the_right_kind_with_every_attribute_is_preferred() {
    let is_preferred = |kind: KindEvidence, category: f32| {
        Evidence { kind: Some(kind), category, ..PRODUCT }.is_preferred(&RERANK_PARAMS.preference)
    };
    assert!(is_preferred(KIND, 0.0));
    assert!(!is_preferred(KindEvidence { agreement: 0.0, ..KIND }, 0.0));
    assert!(!is_preferred(KindEvidence { nearness: 0.5, ..KIND }, 0.0));
    let unnamed = KindEvidence { named: 0.0, nearness: 0.6, ..KIND };
    assert!(!is_preferred(unnamed, 0.0));
    assert!(is_preferred(unnamed, 0.9));
    assert!(is_preferred(KindEvidence { subcategory: 1.0, ..unnamed }, 0.0));
    let far = KindEvidence { nearness: 0.2, subcategory: 1.0, ..unnamed };
    assert!(!is_preferred(far, 0.9));
    // Where the category is known, it decides.
    let in_category = |category| KindEvidence { category: Some(category), ..unnamed };
    assert!(is_preferred(KindEvidence { nearness: 0.2, ..in_category(1.0) }, 0.0));
    assert!(!is_preferred(in_category(0.0), 0.9));
    assert!(is_preferred(KindEvidence { nearness: 0.8, ..in_category(0.0) }, 0.9));
}

#[test]
fn where_none_agrees_the_right_kind_comes_first_and_is_shown() {
    let of_kind = KindEvidence { agreement: -1.0, ..KIND };
    let attributes = AttributeEvidence { color: -1.0, ..PRODUCT.attributes };
    let armchair = Evidence { kind: Some(of_kind), attributes, ..PRODUCT };
    let purple = KindEvidence { nearness: 0.2, named: 0.0, ..KIND };
    let attributes = AttributeEvidence { color: 1.0, ..PRODUCT.attributes };
    let kneeling_pad = Evidence { kind: Some(purple), attributes, names: 0.0, ..PRODUCT };
    let kneeling_pad = Evidence { head: 0.3, similarity: 0.2, ..kneeling_pad };
    let kneeling_pad = Evidence { phrase_similarity: 0.2, deep_similarity: 0.2, ..kneeling_pad };
    let kneeling_pad = Evidence { category: 0.0, ..kneeling_pad };
    let chair = KindEvidence { nearness: MAY_BE_OF_KIND, ..purple };
    let purple_chair = Evidence { kind: Some(chair), ..kneeling_pad };
    let none_agrees = |all: &[Evidence]| none_agrees(all, &RERANK_PARAMS.preference);
    let purple_armchair = Evidence { kind: Some(KIND), ..armchair };
    assert!(none_agrees(&[armchair, kneeling_pad]));
    assert!(none_agrees(&[armchair, kneeling_pad, purple_chair]));
    assert!(!none_agrees(&[armchair, purple_armchair]));
    assert!(!none_agrees(&[PRODUCT]), "no attribute is asked for");

    let query = |none_agrees| QueryEvidence { none_agrees, ..QUERY };
    let [usual, alone] = [false, true].map(|none| Reranker::new(&RERANK_PARAMS, &query(none)));
    assert!(usual.score(&armchair) < usual.score(&kneeling_pad));
    assert!(alone.score(&armchair) > alone.score(&kneeling_pad));
    assert!(alone.is_preferred(&purple_chair), "it may be of the kind");
    let of_other_category = KindEvidence { category: Some(0.0), ..of_kind };
    let armchair_cover = Evidence { kind: Some(of_other_category), ..armchair };
    assert!(armchair_cover.is_of_kind() && !alone.is_preferred(&armchair_cover));
    let poor =
        Evidence { lexical: 0.0, soft_coverage: 0.0, names: 0.0, similarity: 0.0, ..armchair };
    let poor = Evidence { deep_similarity: 0.0, ..poor };
    let is_shown = |reranker: &Reranker<'_>, all: &[Evidence]| {
        reranker.are_relevant(all, &vec![false; all.len()]).pop()
    };
    assert_eq!(is_shown(&usual, &[kneeling_pad, poor]), Some(false));
    assert_eq!(is_shown(&alone, &[kneeling_pad, poor]), Some(true));
    let stool = KindEvidence { agreement: -1.0, ..chair };
    let stool = Evidence { kind: Some(stool), category: 0.0, ..armchair };
    assert!(!stool.is_of_kind());
    let mut all = vec![armchair; ENOUGH];
    all.push(stool);
    assert_eq!(is_shown(&alone, &all), Some(true), "armchairs do not agree either");
}

#[test]
fn the_category_that_is_asked_for_comes_before_others_that_are_preferred() {
    let product = |category| {
        let kind = KindEvidence { category, ..KIND };
        score(Evidence { kind: Some(kind), ..PRODUCT })
    };
    assert!(product(Some(1.0)) > product(Some(0.0)));
    assert_eq!(product(Some(0.0)), product(None));
}

#[test]
fn what_is_far_below_the_best_is_irrelevant_unless_it_is_preferred() {
    let poor =
        Evidence { lexical: 0.0, similarity: 0.1, soft_coverage: 0.0, names: 0.0, ..PRODUCT };
    let poor = Evidence { deep_similarity: 0.1, phrase_similarity: 0.1, category: 0.0, ..poor };
    let kind = KindEvidence { named: 1.0, own_words: 1.0, ..KIND };
    let preferred = Evidence { kind: Some(kind), ..poor };
    let reranker = Reranker::new(&RERANK_PARAMS, &QUERY);
    let relevant =
        reranker.are_relevant(&[PRODUCT, poor, preferred, poor], &[false, false, false, true]);
    assert_eq!(relevant, [true, false, true, true]);
}

#[test]
fn contradictions_are_shown_unless_enough_others_agree() {
    let attributes = AttributeEvidence { color: -1.0, ..PRODUCT.attributes };
    let contradicting = Evidence { attributes, soft_coverage: 1.0, lexical: 1.0, ..PRODUCT };
    let preferred = Evidence { kind: Some(KIND), ..PRODUCT };
    let reranker = Reranker::new(&RERANK_PARAMS, &QUERY);
    let relevant = |agreeing: usize, is_certain: bool| {
        let mut all = vec![preferred; agreeing];
        all.push(contradicting);
        let mut certain = vec![false; agreeing];
        certain.push(is_certain);
        reranker.are_relevant(&all, &certain).pop()
    };
    assert_eq!(relevant(ENOUGH - 1, false), Some(true));
    assert_eq!(relevant(ENOUGH, false), Some(false));
    assert_eq!(relevant(ENOUGH, true), Some(true));
}

#[test]
fn meaning_counts_more_in_sentences_and_less_where_titles_say_every_word() {
    let weight = |query: QueryEvidence| query.semantic_weight(&RERANK_PARAMS.semantic_weight);
    assert!(weight(QueryEvidence { function_word_ratio: 0.5, ..QUERY }) > weight(QUERY));
    assert!(weight(QueryEvidence { title_coverage: 1.0, ..QUERY }) < weight(QUERY));
    let cutoff = |query| Reranker::new(&RERANK_PARAMS, &query).relative_cutoff();
    let sentence = QueryEvidence { function_word_ratio: 0.5, ..QUERY };
    assert!(cutoff(sentence) > cutoff(QUERY));
    assert!(cutoff(QueryEvidence { is_foreign: true, ..sentence }) < cutoff(sentence));
}

#[test]
fn the_deep_similarity_counts_more_where_meaning_does_and_conditions_keep_their_weight() {
    let share = |query: QueryEvidence| {
        let found = Reranker::new(&RERANK_PARAMS, &query).contributions(&PRODUCT);
        found.deep_similarity / found.sum()
    };
    assert!(share(QueryEvidence { function_word_ratio: 0.5, ..QUERY }) > share(QUERY));
    assert!(share(QueryEvidence { title_coverage: 1.0, ..QUERY }) < share(QUERY));
    let deep = DeepParams { literal: 0.0, semantic: 0.0, ..RERANK_PARAMS.deep };
    let without = RerankParams { deep, ..RERANK_PARAMS };
    let attributes = AttributeEvidence { color: 1.0, ..PRODUCT.attributes };
    let red = Evidence { attributes, ..PRODUCT };
    let condition = |params| Reranker::new(params, &QUERY).contributions(&red).attributes;
    assert!((condition(&RERANK_PARAMS) - condition(&without)).abs() < 1e-6);
}

#[test]
fn what_a_merchant_states_comes_first_and_makes_nothing_else_irrelevant() {
    let reranker = Reranker::new(&RERANK_PARAMS, &QUERY);
    let stated = Evidence { attribute_coverage: 1.0, ..PRODUCT };
    assert!(reranker.score(&stated) > reranker.score(&PRODUCT));
    let relevance = |product| reranker.contributions(product).without_preference();
    assert_eq!(relevance(&stated), relevance(&PRODUCT));
}

#[test]
fn the_contributions_add_up_to_the_score() {
    let reranker = Reranker::new(&RERANK_PARAMS, &QUERY);
    let evidence = Evidence { kind: Some(KIND), ..PRODUCT };
    let parts = reranker.contributions(&evidence);
    assert!((parts.sum() - reranker.score(&evidence)).abs() < 1e-4);
    assert!(parts.preference > 0.0 && parts.sum() > parts.without_preference());
}
