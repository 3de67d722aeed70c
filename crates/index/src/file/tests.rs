use catalog::{
    product::{
        ProductId,
        attributes::{AttributeName, AttributeValue, Attributes, Number},
        inferred::Inferred,
        price::Price,
    },
    ranking::facets::AttributeCounts,
};
use embed::{StoredVectors, Vector};

use super::*;
use crate::{Entry, EntryVectors, IndexChange};

/// The file that the tests write.
pub(crate) fn key() -> FileKey<'static> {
    FileKey { shop: ShopId::new(7).unwrap(), id: 5, model: None }
}

/// The bytes of an index file.
pub(crate) fn written(index: &ShopIndex) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let len = write(&path, key(), Timestamp::UNIX_EPOCH, &index.snapshot(), &|| false).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(len, Some(bytes.len() as u64));
    bytes
}

/// The index in the bytes of a file.
pub(crate) fn read_bytes(bytes: &[u8]) -> Result<ShopIndex, Rejected> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    fs::write(&path, bytes).unwrap();
    read(&path, key()).map(|(index, _)| index)
}

/// Replaces a byte of the segments, and corrects the checksums.
pub(crate) fn forge(bytes: &[u8], at: usize, byte: u8) -> Vec<u8> {
    let mut from = bytes;
    let mut header = read_header(&mut from, key()).unwrap();
    let mut segments = from.to_vec();
    let at = at % segments.len();
    segments[at] = byte;
    let mut start = 0;
    for (len, checksum) in &mut header.sections {
        let end = start + *len as usize;
        *checksum = crc32fast::hash(&segments[start..end]);
        start = end;
    }
    let mut forged = Vec::new();
    write_header(&mut forged, key(), &header).unwrap();
    forged.extend(segments);
    forged
}

/// Products whose index uses every part of the format.
fn products() -> Vec<(Attributes, StoredVectors)> {
    let value = |at: usize| match at % 4 {
        0 => AttributeValue::Text("Dark Oak".into()),
        1 => AttributeValue::Texts([Box::from("red"), Box::from("Red")].into()),
        2 => AttributeValue::Number(Number::new(4.5).unwrap()),
        _ => AttributeValue::Boolean(true),
    };
    let attributes =
        |at| Attributes::new(vec![(AttributeName::parse("finish").unwrap(), value(at))]);
    let vector = |at: usize, dims: usize| {
        let numbers = (0..dims).map(|dim| ((at * 7 + dim * dim) % 31) as f32 - 15.0).collect();
        Vector::normalized(numbers).unwrap().stored()
    };
    let vectors = |at: usize| StoredVectors {
        vector: vector(at, 64),
        deep: (at > 1).then(|| vector(at + 1, 96)),
    };
    (0..5).map(|at| (attributes(at), vectors(at))).collect()
}

fn index() -> ShopIndex {
    const TEXTS: [(&str, &str); 5] = [
        ("Leather-free running shoes, size 42", "Without laces. Fits children's feet."),
        ("Crème brûlée torch 3/4\"", "Refillable with butane gas; no batteries"),
        ("Nähmaschinenöl 100 ml", "Für alle Nähmaschinen"),
        ("防水ジャケット", "軽量で、雨の日に最適です"),
        ("Sofa", ""),
    ];
    let products = products();
    let entries =
        (1..).zip(&TEXTS).zip(&products).map(|((number, texts), (attributes, vectors))| {
            IndexChange::Upsert(Entry {
                id: ProductId::new(number).unwrap(),
                version: Seq(number),
                hidden: number == 4,
                price: (number != 5).then(|| Price::parse("12.50 EUR").unwrap().money().unwrap()),
                title: texts.0,
                description: texts.1,
                key: (number % 2 == 0).then_some("SKU-ä/7"),
                attributes,
                inferred: Inferred::default(),
                vectors: EntryVectors::Known(vectors),
            })
        });
    let index = ShopIndex::empty();
    index.apply(&entries.collect::<Vec<_>>(), Seq(9));
    index
}

/// If this fails, products are indexed in another way than before, and files of earlier builds must
/// be rejected: increase [`FORMAT`] and replace the checksum.
#[test]
fn what_is_indexed_changes_only_with_the_format() {
    let bytes = written(&index());
    let header = read_header(&mut &bytes[..], key()).unwrap();
    assert_eq!((FORMAT, header.sections[0].1), (9, 3_612_305_118));
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let index = index();
    let read = read_bytes(&written(&index)).unwrap();
    let (before, after) = (index.snapshot(), read.snapshot());
    assert_eq!(after.seq(), Seq(9));
    assert_eq!(format!("{:?}", after.segments()), format!("{:?}", before.segments()));
    assert_eq!(after.memory_bytes(), before.memory_bytes());
}

#[test]
fn another_shop_id_or_model_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    fs::write(&path, written(&index())).unwrap();
    let model = ModelId::new("other");
    let others = [
        FileKey { shop: ShopId::new(8).unwrap(), ..key() },
        FileKey { id: 6, ..key() },
        FileKey { model: Some(&model), ..key() },
    ];
    for other in others {
        assert!(matches!(read(&path, other), Err(Rejected::Invalid(_))), "{other:?}");
    }
    assert!(read(&path, key()).is_ok());
}

#[test]
fn every_truncation_and_every_flipped_bit_is_rejected() {
    let bytes = written(&index());
    for len in 0..bytes.len() {
        assert!(read_bytes(&bytes[..len]).is_err(), "{len} of {} bytes", bytes.len());
    }
    assert!(read_bytes(&[&bytes[..], &[0]].concat()).is_err());
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(read_bytes(&damaged).is_err(), "byte {at}");
    }
}

#[test]
fn a_forged_file_gives_no_product_values_of_two_types() {
    let bytes = written(&index());
    let docs = [0, 1, 2, 3, 4];
    let mut accepted = 0;
    for (at, byte) in (0..bytes.len()).flat_map(|at| (0..8).map(move |byte| (at, byte))) {
        let Ok(read) = read_bytes(&forge(&bytes, at, byte)) else { continue };
        let snapshot = read.snapshot();
        let attributes = &snapshot.segments()[0].segment.attributes;
        let Some(column) = attributes.get("finish") else { continue };
        let stated = column.count(&docs, &mut AttributeCounts::default());
        assert_eq!(stated, column.members().count(), "byte {at} is {byte}");
        accepted += 1;
    }
    assert!(accepted > 0);
}

#[test]
fn a_deleted_product_is_not_written() {
    let index = index();
    assert!(index.snapshot().segments()[0].segment.terms.find("torch").is_some());
    index.apply(&[IndexChange::Delete(ProductId::new(2).unwrap())], Seq(10));
    assert_eq!(index.snapshot().segments()[0].deleted_count(), 1);
    let read = read_bytes(&written(&index)).unwrap().snapshot();
    let segment = &read.segments()[0];
    assert_eq!((read.product_count(), segment.deleted_count()), (4, 0));
    assert_eq!(segment.segment.terms.find("torch"), None);
    assert!(segment.segment.terms.find("sofa").is_some());
}

#[test]
fn a_cancelled_write_ends_early() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let written = write(&path, key(), Timestamp::UNIX_EPOCH, &index().snapshot(), &|| true);
    assert_eq!(written.unwrap(), None);
    assert!(read(&path, key()).is_err());
}
