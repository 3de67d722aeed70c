//! What must hold of every [`Embedder`], whoever made it.

use super::{endpoint::Endpoint, tiny_model};
use crate::embed::{Embedder, Embedding, Encoder, Text, Turn};

macro_rules! embedder_conformance {
    ($name:ident, $embedder:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn vectors_are_of_the_space_and_of_unit_length() {
                super::vectors_are_of_the_space_and_of_unit_length($embedder);
            }

            #[test]
            fn the_same_text_always_means_the_same() {
                super::the_same_text_always_means_the_same($embedder);
            }

            #[test]
            fn a_description_adds_to_the_meaning() {
                super::a_description_adds_to_the_meaning($embedder);
            }

            #[test]
            fn company_changes_nothing() {
                super::company_changes_nothing($embedder);
            }

            #[test]
            fn odd_texts_have_a_meaning_too() {
                super::odd_texts_have_a_meaning_too($embedder);
            }

            #[test]
            fn many_threads_may_ask() {
                super::many_threads_may_ask($embedder);
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
}

fn vectors_are_of_the_space_and_of_unit_length(embedder: &dyn Embedder) {
    for turn in [Turn::Search, Turn::Background] {
        let vectors = embedder.deep(&TEXTS, turn).unwrap();
        assert_eq!(vectors.len(), TEXTS.len());
        vectors.iter().for_each(|embedding| check(embedder, embedding, Encoder::Deep));
    }
    for embedding in TEXTS.into_iter().filter_map(|text| embedder.instant(text)) {
        check(embedder, &embedding, Encoder::Instant);
    }
    assert_eq!(embedder.deep(&[], Turn::Background), Ok(vec![]));
}

fn the_same_text_always_means_the_same(embedder: &dyn Embedder) {
    let first = embedder.deep(&TEXTS, Turn::Background).unwrap();
    assert_eq!(embedder.deep(&TEXTS, Turn::Background).unwrap(), first);
    assert_ne!(first[0].vector, first[1].vector);
    for text in TEXTS {
        assert_eq!(embedder.instant(text), embedder.instant(text));
    }
}

fn a_description_adds_to_the_meaning(embedder: &dyn Embedder) {
    let bare = Text::Product { title: "drill", description: "" };
    let vectors = embedder.deep(&[Text::Query("drill"), bare, TEXTS[3]], Turn::Search).unwrap();
    assert_eq!(vectors[0], vectors[1]);
    assert_ne!(vectors[1], vectors[2]);
}

fn company_changes_nothing(embedder: &dyn Embedder) {
    let together = embedder.deep(&TEXTS, Turn::Background).unwrap();
    for (text, embedding) in TEXTS.iter().zip(together) {
        assert_eq!(embedder.deep(&[*text], Turn::Search).unwrap(), [embedding]);
    }
}

fn odd_texts_have_a_meaning_too(embedder: &dyn Embedder) {
    let long = "settee ".repeat(5000);
    let odd = ["", " \n\t", "\u{0}\u{fffd}", "☃☃☃", "茶", "e\u{301}\u{301}\u{301}", &long];
    let odd = odd.map(|text| [Text::Query(text), Text::Product { title: text, description: text }]);
    let odd = odd.concat();
    for (text, embedding) in odd.iter().zip(embedder.deep(&odd, Turn::Background).unwrap()) {
        check(embedder, &embedding, Encoder::Deep);
        if let Some(embedding) = embedder.instant(*text) {
            check(embedder, &embedding, Encoder::Instant);
        }
    }
}

fn many_threads_may_ask(embedder: &dyn Embedder) {
    let alone = embedder.deep(&TEXTS, Turn::Background).unwrap();
    std::thread::scope(|scope| {
        for turn in [Turn::Search, Turn::Background].repeat(3) {
            let alone = &alone;
            scope.spawn(move || assert_eq!(embedder.deep(&TEXTS, turn).unwrap(), *alone));
        }
    });
}
