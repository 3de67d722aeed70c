//! Reading arbitrary bytes as a request body ends in a request or in errors, never in a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use server::http::requests::{
    MAX_BULK, ObjectDefinition, json,
    listing::list_parameters,
    products::{
        NewProduct, NewProducts, ProductChanges, ProductDeletion, ProductUpsert, ProductUpserts,
    },
    search::SearchRequest,
    tokens::TokenRequest,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(body) = json::parse(bytes) else { return };
    if let Ok(draft) = NewProduct::read(&body) {
        // A body that creates a product also changes one into it.
        let patch = ProductChanges::read(&body).expect("a new product is a valid change");
        assert_eq!(patch.title.as_ref(), Some(&draft.title));
        assert_eq!(patch.price.as_ref(), Some(&draft.price));
    }
    if let Err(errors) = ProductChanges::read(&body) {
        assert!(!errors.is_empty(), "rejected without an error");
    }
    if let Ok(elements) = NewProducts::read(&body) {
        assert!((1..=MAX_BULK).contains(&elements.len()));
        for element in elements {
            let _ = NewProduct::read(element);
        }
    }
    if let Ok(elements) = ProductUpserts::read(&body) {
        for element in elements {
            let _ = ProductUpsert::read(element);
        }
    }
    let _ = ProductDeletion::read(&body);
    let _ = SearchRequest::read(&body);
    let _ = TokenRequest::read(&body);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = list_parameters(Some(text));
    }
});
