//! Properties of the formula and of its bounds.

use proptest::prelude::*;

use super::*;

fn signals() -> impl Strategy<Value = Signals> {
    (0.0_f32..=1.0, prop::option::of(-1.0_f32..=1.0)).prop_map(|(lexical, similarity)| Signals {
        lexical,
        similarity,
        is_exact_title: lexical > 0.9,
    })
}

fn profile() -> impl Strategy<Value = QueryProfile> {
    (0.0_f32..=1.0, prop::option::of(-1.0_f32..=1.0), 0.0_f32..=1.0, any::<bool>()).prop_map(
        |(function_word_ratio, phrase_similarity, recognised_ratio, is_foreign)| QueryProfile {
            function_word_ratio,
            phrase_similarity,
            recognised_ratio,
            is_foreign,
        },
    )
}

fn fusion() -> impl Strategy<Value = (QueryProfile, Fusion)> {
    (profile(), 0.0_f32..=1.0).prop_map(|(profile, best_lexical)| {
        (profile, Fusion::hybrid(&FUSION_PARAMS, profile, Coverage { best_lexical }))
    })
}

fn may_pass(profile: QueryProfile, signals: Signals) -> bool {
    ScoreBounds::absolute(&FUSION_PARAMS, profile).may_pass(signals.lexical, signals.dense_score())
}

proptest! {
    #[test]
    fn scores_are_between_0_and_1(signals in signals(), (_, both) in fusion()) {
        for fusion in [both, Fusion::lexical_only(&FUSION_PARAMS)] {
            let score = fusion.score(signals);
            prop_assert!((0.0..=1.0).contains(&score), "{score}");
        }
    }

    #[test]
    fn scores_are_monotonic_in_every_signal(
        signals in signals(),
        (_, fusion) in fusion(),
        more in 0.0_f32..1.0,
    ) {
        let lexical = (signals.lexical + more).min(1.0);
        let similarity = signals.similarity.map(|similarity| similarity + more);
        let better = [Signals { lexical, ..signals }, Signals { similarity, ..signals }];
        for better in better {
            prop_assert!(fusion.score(better) >= fusion.score(signals));
        }
    }

    #[test]
    fn what_does_not_pass_is_worse_than_the_shortlist_and_below_a_cutoff(
        profile in profile(),
        shortlist in prop::collection::vec(signals(), 1..20),
        one in signals(),
        (at_least, best_lexical) in (0.0_f32..=1.0, 0.0_f32..=1.0),
    ) {
        let at_least = Coverage { best_lexical: at_least.min(best_lexical) };
        let candidates = FUSION_PARAMS.for_candidates();
        let bounds = ScoreBounds::relative_to(&candidates, profile, at_least, None)
            .with_second_stage(&FUSION_PARAMS, profile, None, &shortlist);
        let one = Signals { is_exact_title: false, ..one };
        let unmatched = Signals { lexical: 0.0, ..one }.dense_score();
        prop_assert!(!bounds.may_pass(0.0, unmatched) || unmatched >= bounds.least_dense_score());
        prop_assert!(!bounds.may_pass(0.0, bounds.least_dense_score() * 0.999));
        if !bounds.may_pass(one.lexical, one.dense_score()) {
            let fusion = Fusion::hybrid(&candidates, profile, Coverage { best_lexical });
            let score = fusion.score(one);
            let is_worse = shortlist.iter().all(|other| fusion.score(*other) > score);
            let usual = fusion.cutoff_by(&FUSION_PARAMS, profile).at(0.0);
            prop_assert!(score < fusion.cutoff().at(0.0) || is_worse && score < usual);
        }
    }

    #[test]
    fn the_parts_of_a_score_add_up_to_it(signals in signals(), (_, fusion) in fusion()) {
        for fusion in [fusion, Fusion::lexical_only(&FUSION_PARAMS)] {
            let explanation = fusion.explain(signals, Vec::new(), 0.0);
            prop_assert_eq!(explanation.score, fusion.score(signals));
            let difference = explanation.sum() - explanation.score;
            prop_assert!(difference.abs() < 1e-6, "{:?}", explanation);
        }
    }

    #[test]
    fn a_relevant_product_passes_the_absolute_bounds(signals in signals(), (profile, fusion) in fusion()) {
        let signals = Signals { is_exact_title: false, ..signals };
        let relevant = fusion.score(signals) >= fusion.cutoff().at(0.0);
        prop_assert!(!relevant || may_pass(profile, signals));
    }

    #[test]
    fn a_relevant_product_passes_the_bounds_relative_to_any_other(
        profile in profile(),
        others in prop::collection::vec(signals(), 1..6),
        known in any::<prop::sample::Index>(),
        covered in 0.0_f32..=1.0,
    ) {
        let plain = |signals: &Signals| Signals { is_exact_title: false, ..*signals };
        let others: Vec<Signals> = others.iter().map(plain).collect();
        let best_lexical = others.iter().map(|one| one.lexical).fold(0.0, f32::max);
        let fusion = Fusion::hybrid(&FUSION_PARAMS, profile, Coverage { best_lexical });
        let best = others.iter().map(|one| fusion.score(*one)).fold(0.0, f32::max);
        let at_least = Coverage { best_lexical: best_lexical * covered };
        let found = others[known.index(others.len())];
        let bounds = ScoreBounds::relative_to(&FUSION_PARAMS, profile, at_least, Some(found));
        for one in &others {
            let relevant = fusion.score(*one) >= fusion.cutoff().at(best);
            prop_assert!(!relevant || bounds.may_pass(one.lexical, one.dense_score()));
        }
    }

    #[test]
    fn the_best_product_is_relevant_if_any_is(scores in prop::collection::vec(0.0_f32..1.0, 1..9)) {
        let best = scores.iter().copied().fold(0.0, f32::max);
        for cutoff in [FUSION_PARAMS.lexical_cutoff, FUSION_PARAMS.dense_cutoff] {
            let cutoff = cutoff.at(best);
            prop_assert!(best >= cutoff || scores.iter().all(|score| *score < cutoff));
        }
    }
}

fn weight(profile: QueryProfile) -> f32 {
    Fusion::hybrid(&FUSION_PARAMS, profile, Coverage { best_lexical: 0.5 }).lexical_weight()
}

#[test]
fn function_words_lower_the_lexical_weight() {
    let list = QueryProfile { phrase_similarity: Some(0.7), ..QueryProfile::NEUTRAL };
    let sentence = QueryProfile { function_word_ratio: 0.5, ..list };
    assert!(weight(sentence) < weight(list));
    assert!(FUSION_PARAMS.interpolation(sentence) > FUSION_PARAMS.interpolation(list));
}

#[test]
fn phrase_similarity_lowers_the_lexical_weight() {
    let phrase = QueryProfile { phrase_similarity: Some(0.95), ..QueryProfile::NEUTRAL };
    let number = QueryProfile { phrase_similarity: Some(0.4), ..phrase };
    assert!(weight(phrase) < weight(number));
    assert!(FUSION_PARAMS.interpolation(phrase) > FUSION_PARAMS.interpolation(number));
}

#[test]
fn a_full_lexical_match_is_relevant_at_any_similarity() {
    let number = QueryProfile { phrase_similarity: Some(0.4), ..QueryProfile::NEUTRAL };
    let fusion = Fusion::hybrid(&FUSION_PARAMS, number, Coverage { best_lexical: 1.0 });
    let score =
        fusion.score(Signals { lexical: 1.0, similarity: Some(0.0), is_exact_title: false });
    assert!(score >= fusion.cutoff().at(score), "{score}");
}

#[test]
fn a_product_without_a_vector_is_ranked_by_its_lexical_score() {
    let sofa = QueryProfile { phrase_similarity: Some(0.95), ..QueryProfile::NEUTRAL };
    let fusion = Fusion::hybrid(&FUSION_PARAMS, sofa, Coverage { best_lexical: 0.7 });
    let unknown = Signals { lexical: 0.7, similarity: None, is_exact_title: false };
    let score = fusion.score(unknown);
    assert!(score >= fusion.cutoff().at(score), "{score} {:?}", fusion.cutoff());
    assert!(may_pass(sofa, unknown));
    let far = Signals { similarity: Some(0.0), ..unknown };
    assert!(fusion.score(far) < score);
}

#[test]
fn an_unrecognised_query_needs_a_higher_similarity() {
    let word = QueryProfile { phrase_similarity: Some(0.5), ..QueryProfile::NEUTRAL };
    let nonsense = QueryProfile { recognised_ratio: 0.0, ..word };
    let guess = Signals { lexical: 0.0, similarity: Some(0.5), is_exact_title: false };
    assert!(may_pass(word, guess));
    assert!(!may_pass(nonsense, guess));
}

#[test]
fn a_score_of_zero_is_never_relevant() {
    assert!(FUSION_PARAMS.lexical_only_cutoff.at(0.0) > 0.0);
}
