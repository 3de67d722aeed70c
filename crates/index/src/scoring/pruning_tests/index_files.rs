//! Random indexes that are written to a file and read again.

use catalog::product::{access::Visibility, change::Seq};
use proptest::prelude::*;

use super::{
    random::Random,
    selections::{catalog_and_index, check_request, run_request},
};
use crate::{
    IndexChange,
    file::tests::{forge, read_bytes, written},
    reference::id,
    segment::merge,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn searches_of_a_restored_index_match_the_definitions(seed in any::<u64>(), count in 1_u64..250) {
        let mut random = Random(seed);
        let (mut catalog, index) = catalog_and_index(&mut random, count);
        let restored = read_bytes(&written(&index)).unwrap();
        prop_assert_eq!(restored.snapshot().seq(), index.snapshot().seq());
        for _ in 0..10 {
            check_request(&mut random, &catalog, &restored);
        }
        // It takes further changes like any other index.
        let numbers: Vec<u64> = catalog.reference.0.keys().copied().collect();
        for number in numbers {
            match random.below(4) {
                0 => {
                    drop(catalog.reference.0.remove(&number));
                    restored.apply(&[IndexChange::Delete(id(number))], Seq(1));
                }
                1 => restored.apply(&[IndexChange::Upsert(catalog.entry(number))], Seq(1)),
                _ => {}
            }
        }
        for _ in 0..10 {
            check_request(&mut random, &catalog, &restored);
        }
    }

    /// Whatever a file with valid checksums contains: it is rejected, or searches and merges work.
    #[test]
    fn a_forged_file_causes_no_panic(seed in any::<u64>(), bytes in any::<[(u32, u8); 20]>()) {
        let mut random = Random(seed);
        let (catalog, index) = catalog_and_index(&mut random, 80);
        let file = written(&index);
        for (at, byte) in bytes {
            let Ok(read) = read_bytes(&forge(&file, at as usize, byte)) else { continue };
            for _ in 0..3 {
                run_request(&mut random, &catalog, &read);
            }
            let snapshot = read.snapshot();
            for number in 1..20 {
                snapshot.similar(id(number), Visibility::All, 5);
            }
            let merged = merge(snapshot.segments());
            let again = crate::ShopIndex::with_segments(Seq(1), vec![merged]);
            run_request(&mut random, &catalog, &again);
        }
    }
}
