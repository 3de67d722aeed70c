//! The conformance suite of all [`Embedder`]s.

use crate::{
    Embedder, Embedding, Encoder, Priority, Text,
    testing::{Endpoint, tiny_model},
};

macro_rules! embedder_conformance {
    ($name:ident, $embedder:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn vectors_have_the_models_dimension_and_unit_length() {
                super::vectors_have_the_models_dimension_and_unit_length($embedder);
            }

            #[test]
            fn embedding_is_deterministic() {
                super::embedding_is_deterministic($embedder);
            }

            #[test]
            fn the_description_changes_the_vector() {
                super::the_description_changes_the_vector($embedder);
            }

            #[test]
            fn batching_does_not_change_vectors() {
                super::batching_does_not_change_vectors($embedder);
            }

            #[test]
            fn unusual_texts_are_embedded() {
                super::unusual_texts_are_embedded($embedder);
            }

            #[test]
            fn embedding_is_thread_safe() {
                super::embedding_is_thread_safe($embedder);
            }
        }
    };
}

embedder_conformance!(built_in, &tiny_model());
embedder_conformance!(remote, &Endpoint::start().embedder());

const TEXTS: [Text<'_>; 5] = [
    Text::Query("red sofa"),
    Text::Query("blue lamp for the table"),
    Text::Product { title: "warm bed", description: "" },
    Text::Product { title: "drill", description: "a case for the drill" },
    Text::Product { title: "phone", description: "with a case" },
];

fn check(embedder: &dyn Embedder, embedding: &Embedding, encoder: Encoder) {
    assert_eq!(embedding.model, *embedder.model());
    assert_eq!(embedding.encoder, encoder);
    assert_eq!(embedding.vector.dims(), embedder.dims());
    let length = embedding.vector.cosine(&embedding.vector);
    assert!((length - 1.0).abs() < 1e-5 || embedding.vector.is_zero(), "{length}");
    if let Some(deep) = &embedding.deep {
        assert_eq!(encoder, Encoder::Deep);
        assert!((deep.cosine(deep) - 1.0).abs() < 1e-5, "{deep:?}");
    }
}

fn vectors_have_the_models_dimension_and_unit_length(embedder: &dyn Embedder) {
    for priority in [Priority::Search, Priority::Background] {
        let vectors = embedder.deep(&TEXTS, priority).unwrap();
        assert_eq!(vectors.len(), TEXTS.len());
        vectors.iter().for_each(|embedding| check(embedder, embedding, Encoder::Deep));
    }
    for embedding in TEXTS.into_iter().filter_map(|text| embedder.instant(text)) {
        check(embedder, &embedding, Encoder::Instant);
    }
    assert_eq!(embedder.deep(&[], Priority::Background), Ok(vec![]));
}

fn embedding_is_deterministic(embedder: &dyn Embedder) {
    let first = embedder.deep(&TEXTS, Priority::Background).unwrap();
    assert_eq!(embedder.deep(&TEXTS, Priority::Background).unwrap(), first);
    assert_ne!(first[0].vector, first[1].vector);
    for text in TEXTS {
        assert_eq!(embedder.instant(text), embedder.instant(text));
    }
}

fn the_description_changes_the_vector(embedder: &dyn Embedder) {
    let bare = Text::Product { title: "drill", description: "" };
    let vectors = embedder.deep(&[Text::Query("drill"), bare, TEXTS[3]], Priority::Search).unwrap();
    assert_eq!(vectors[0], vectors[1]);
    assert_ne!(vectors[1], vectors[2]);
}

fn batching_does_not_change_vectors(embedder: &dyn Embedder) {
    let together = embedder.deep(&TEXTS, Priority::Background).unwrap();
    for (text, embedding) in TEXTS.iter().zip(together) {
        assert_eq!(embedder.deep(&[*text], Priority::Search).unwrap(), [embedding]);
    }
}

fn unusual_texts_are_embedded(embedder: &dyn Embedder) {
    let long = "settee ".repeat(5000);
    let odd = ["", " \n\t", "\u{0}\u{fffd}", "☃☃☃", "茶", "e\u{301}\u{301}\u{301}", &long];
    let odd = odd.map(|text| [Text::Query(text), Text::Product { title: text, description: text }]);
    let odd = odd.concat();
    for (text, embedding) in odd.iter().zip(embedder.deep(&odd, Priority::Background).unwrap()) {
        check(embedder, &embedding, Encoder::Deep);
        if let Some(embedding) = embedder.instant(*text) {
            check(embedder, &embedding, Encoder::Instant);
        }
    }
}

fn embedding_is_thread_safe(embedder: &dyn Embedder) {
    let alone = embedder.deep(&TEXTS, Priority::Background).unwrap();
    std::thread::scope(|scope| {
        for priority in [Priority::Search, Priority::Background].repeat(3) {
            let alone = &alone;
            scope.spawn(move || assert_eq!(embedder.deep(&TEXTS, priority).unwrap(), *alone));
        }
    });
}
