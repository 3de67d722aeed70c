//! Whatever bytes arrive as a body, reading them ends in a request or in faults, never in a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use server::http::{json, requests};

fuzz_target!(|bytes: &[u8]| {
    let Ok(body) = json::parse(bytes) else { return };
    if let Ok(draft) = requests::draft(&body) {
        // What makes a product also changes one into it.
        let patch = requests::patch(&body).expect("a draft is a patch");
        assert_eq!(patch.title.as_ref(), Some(&draft.title));
        assert_eq!(patch.price.as_ref(), Some(&draft.price));
    }
    if let Err(faults) = requests::patch(&body) {
        assert!(!faults.is_empty(), "refused without a reason");
    }
    if let Ok(elements) = requests::bulk_elements(&body) {
        assert!((1..=requests::MAX_BULK).contains(&elements.len()));
        for element in elements {
            let _ = requests::draft(element);
        }
    }
    let _ = requests::bulk_ids(&body);
    let _ = requests::search(&body);
    let _ = requests::token(&body, jiff::Timestamp::UNIX_EPOCH);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = requests::list_parameters(Some(text));
    }
});
