//! The taxonomy, the words and the model together, on a tiny model.

use std::sync::Arc;

use super::{
    words::{Feature, PLACES, Place, Words},
    *,
};
use crate::{product::inferred::InferredCategory, text::fnv};

mod real_model;

const TAXONOMY: &str = "a\tAnimals\na-1\tPets\na-1-1\tDog Supplies\na-1-2\tCat Supplies\nb\tBags\nb-1\tTotes\nc\tGift Cards\n";

fn taxonomy() -> Arc<Taxonomy> {
    Arc::new(Taxonomy::new(TAXONOMY.as_bytes().into()).unwrap())
}

fn hash(text: &str) -> u32 {
    fnv::hash_32(fnv::OFFSET_32, text.as_bytes())
}

/// Two dimensions: the first is for pets, the second for bags; below pets, for dogs and cats.
fn file() -> Vec<u8> {
    let half = |x: f32| ((x.to_bits() >> 16) as u16).to_le_bytes();
    let mut words = [("bowl", [10, 0]), ("dog", [40, 90]), ("tote", [0, 90]), ("cat", [90, -90])]
        .map(|(word, row)| (hash(word), row));
    words.sort_unstable();
    let mut bytes = b"SKCATE01".to_vec();
    [2, words.len() as u32, 7, 3].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    let factors = [4.0_f32, 2.0, 1.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1, 2.0];
    assert_eq!(factors.len(), PLACES + 1);
    factors.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
    words.iter().for_each(|(hash, _)| bytes.extend(hash.to_le_bytes()));
    words.iter().for_each(|_| bytes.extend(half(1.0)));
    words.iter().for_each(|_| bytes.extend(half(0.03125)));
    words.iter().for_each(|(_, row)| bytes.extend(row.map(|x: i8| x as u8)));
    [1_u16, 5, 6].iter().for_each(|at| bytes.extend(at.to_le_bytes()));
    let rows: [[i8; 2]; 10] =
        [[0, 0], [0, 0], [10, 90], [10, -90], [0, 0], [0, 0], [0, 0], [90, 0], [-60, 60], [0, 0]];
    rows.iter().for_each(|_| bytes.extend([half(0.015_625), half(0.0)].concat()));
    rows.iter().for_each(|row| bytes.extend(row.map(|x| x as u8)));
    bytes
}

fn model() -> CategoryModel {
    CategoryModel::new(file().into(), taxonomy()).unwrap()
}

fn id_of(model: &CategoryModel, inferred: Option<InferredCategory>) -> Option<&str> {
    inferred.map(|inferred| model.taxonomy().id(inferred.category))
}

#[test]
fn the_taxonomy_is_a_tree() {
    let taxonomy = taxonomy();
    let at = |id| taxonomy.with_id(id).unwrap();
    assert_eq!(taxonomy.len(), 7);
    assert_eq!(taxonomy.path(at("a-1-2")), ["Animals", "Pets", "Cat Supplies"]);
    assert_eq!(taxonomy.parent(at("a-1-2")), Some(at("a-1")));
    assert_eq!(taxonomy.level_two(at("a-1-2")), at("a-1"));
    assert_eq!(taxonomy.level_two(at("c")), at("c"));
    assert_eq!(taxonomy.children(at("a-1")).collect::<Vec<_>>(), [at("a-1-1"), at("a-1-2")]);
    assert_eq!(taxonomy.children(at("c")).count(), 0);
    assert_eq!(taxonomy.roots(), [at("a"), at("b"), at("c")]);
    assert!(taxonomy.is_ancestor(at("a"), at("a-1-2")) && taxonomy.is_ancestor(at("a"), at("a")));
    assert!(!taxonomy.is_ancestor(at("a-1-2"), at("a")) && !taxonomy.is_ancestor(at("a"), at("b")));
    assert_eq!(taxonomy.with_id("a-2"), None);
}

#[test]
fn ids_and_whole_paths_are_parsed() {
    let taxonomy = taxonomy();
    let parsed = |text| taxonomy.parse(text).map(|found| taxonomy.id(found));
    assert_eq!(parsed(" A-1-2 "), Some("a-1-2"));
    assert_eq!(parsed("animals > pets>Dog supplies"), Some("a-1-1"));
    assert_eq!(parsed("Animals > Pets > Horse Supplies"), None);
    assert_eq!(parsed("Pets"), None);
    assert_eq!(
        taxonomy.follow("Animals > Pets > Horses"),
        taxonomy.parse("a-1").map(|at| (at, false))
    );
}

#[test]
fn broken_taxonomies_are_rejected() {
    let refused = |text: &'static str| Taxonomy::new(text.as_bytes().into()).err();
    assert_eq!(refused("a\tA\nb-1\tB\n"), Some(BrokenTaxonomy::Parent(2)));
    assert_eq!(refused("a\tA\nb\n"), Some(BrokenTaxonomy::Line(2)));
    assert_eq!(Taxonomy::new(vec![0xff].into()).err(), Some(BrokenTaxonomy::Encoding));
}

fn places(title: &str) -> Vec<(u32, Place)> {
    let mut features = Vec::new();
    Words::default().title(title, &mut features);
    features.into_iter().map(|Feature { hash, place }| (hash, place)).collect()
}

#[test]
fn the_word_before_a_break_is_the_head() {
    let expected = [
        (hash("steel"), Place::Modifier),
        (hash("watch"), Place::BeforeHead),
        (hash("steel watch"), Place::BeforeHead),
        (hash("strap"), Place::Head),
        (hash("watch strap"), Place::Head),
        (hash("strap for galaxy"), Place::Head),
        (hash("galaxy"), Place::For),
        (hash("black"), Place::LaterHead),
    ];
    assert_eq!(places("Steel Watch Straps for Galaxy 4, 20 mm - Black"), expected);
}

#[test]
fn units_prepositions_and_plurals_are_told_apart() {
    let words = |title| places(title).into_iter().map(|(word, _)| word).collect::<Vec<_>>();
    assert_eq!(words("20 in. Boxes"), words("box"));
    assert_eq!(
        places("Box in Berries"),
        [(hash("box"), Place::Head), (hash("berry"), Place::With)]
    );
    assert_eq!(words("Men's DRESSES"), words("men dress"));
    assert_eq!(places("3 x 4 \u{1F600} of the"), []);
}

#[test]
fn products_get_the_likeliest_category() {
    let model = model();
    let id = |title, stated| id_of(&model, model.infer(title, "", stated, None).shown);
    assert_eq!(id("Dog Bowl", None), Some("a-1-1"));
    assert_eq!(id("Cat Bowl", None), Some("a-1-2"));
    assert_eq!(id("Tote", None), Some("b-1"));
    assert_eq!(id("Tote for Dogs", None), Some("b-1"));
    assert_eq!(id("Unknown words", None), None);
    assert_eq!(id("", None), None);
    assert_eq!(id("Tote", Some("a-1-2")), Some("a-1-2"));
    assert_eq!(id("Tote", Some("Animals > Pets")), Some("a-1"));
    assert_eq!(id("Unknown", Some("cats")), Some("a-1-2"));
}

/// The first dimension is for pets, the second for bags; gift cards are neither.
fn vectors_file() -> Vec<u8> {
    let mut bytes = b"SKCATV01".to_vec();
    [2_u32, 4].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    [1_u16, 1, 5, 6].iter().for_each(|at| bytes.extend(at.to_le_bytes()));
    bytes.extend(
        [[127_i8, 0], [90, -90], [0, 127], [-127, 0]]
            .as_flattened()
            .iter()
            .map(|x| x.cast_unsigned()),
    );
    bytes
}

#[test]
fn vectors_decide_where_words_do_not() {
    let vectors = CategoryVectors::new(vectors_file().into(), &taxonomy()).unwrap();
    let model = model().with_vectors(vectors);
    let infer = |title, vector: &[f32]| {
        let rows = model.vectors().unwrap().numbers().chunks_exact(2);
        let float = |y: &u8| f32::from(y.cast_signed());
        let dot = |row: &[u8]| row.iter().zip(vector).map(|(y, x)| float(y) * x).sum();
        let dots: Vec<f32> = rows.map(dot).collect();
        model.infer(title, "", None, Some(dots.as_slice()))
    };
    let id = |title, vector: &[f32]| id_of(&model, infer(title, vector).shown);
    assert_eq!(id("Cat Bowl", &[1.0, 0.0]), Some("a-1-2"));
    assert_eq!(id("Bowl", &[0.0, 1.0]), Some("b-1"), "the vector is surer");
    assert_eq!(id("Schmusekatze", &[0.8, -0.6]), Some("a-1"), "no word tells what is below");
    assert_eq!(id("Schmusekatze", &[0.714, 0.7]), None, "in between");
    for too_few in [[1.0].as_slice(), &[]] {
        let infer = |title, dots| model.infer(title, "", None, dots);
        assert_eq!(infer("Schmusekatze", Some(too_few)), Placement::default());
        assert_eq!(infer("Tote", Some(too_few)), infer("Tote", None));
    }
}

#[test]
fn broken_vectors_are_rejected() {
    let refused = |bytes: Vec<u8>| CategoryVectors::new(bytes.into(), &taxonomy()).err();
    assert_eq!(refused(vec![]), Some(BrokenCategoryModel::Magic));
    let with = |at: usize, byte: u8| {
        let mut bytes = vectors_file();
        bytes[at] = byte;
        bytes
    };
    assert_eq!(refused(with(8, 0)), Some(BrokenCategoryModel::Header));
    assert_eq!(refused(with(12, 2)), Some(BrokenCategoryModel::Header));
    assert_eq!(refused(with(22, 7)), Some(BrokenCategoryModel::Taxonomy));
    assert_eq!(refused(with(16, 6)), Some(BrokenCategoryModel::Numbers));
    assert!(refused(vectors_file()).is_none());
}

/// The names of some categories, by their indexes in the taxonomy.
fn names_file(names: &[(&str, u16)]) -> Vec<u8> {
    let mut names: Vec<_> = names.iter().map(|(name, category)| (hash(name), *category)).collect();
    names.sort_unstable();
    let mut bytes = b"SKCATN01".to_vec();
    bytes.extend((names.len() as u32).to_le_bytes());
    names.iter().for_each(|(hash, _)| bytes.extend(hash.to_le_bytes()));
    names.iter().for_each(|(_, category)| bytes.extend(category.to_le_bytes()));
    bytes
}

fn model_with_names(names: &[(&str, u16)]) -> CategoryModel {
    let names = CategoryNames::new(&names_file(names), &taxonomy()).unwrap();
    model().with_names(names)
}

#[test]
fn a_name_at_the_head_of_a_title_decides_unless_it_is_unlikely() {
    let (dogs, cats, totes) = (2, 3, 5);
    let model = model_with_names(&[("bowl", dogs), ("cat bowl", cats), ("big cat bowl", dogs)]);
    let likely = |title| {
        let likely = model.infer(title, "", None, None).likely;
        likely.map(|category| model.taxonomy().id(category))
    };
    assert_eq!(likely("Bowl"), Some("a-1-1"));
    assert_eq!(likely("Cat Bowl"), Some("a-1-2"), "the longest name counts");
    assert_eq!(likely("Big Cat Bowl"), Some("a-1-2"), "the words tell otherwise");
    let unlikely = model_with_names(&[("cat", totes)]);
    let placed = unlikely.infer("Cat", "", None, None);
    assert_eq!(id_of(&unlikely, placed.shown), Some("a-1-2"));
}

#[test]
fn a_title_names_what_stands_before_a_number_or_an_attribute() {
    let (dogs, totes) = (2, 5);
    let model = model_with_names(&[("bowl", dogs)]);
    let named = |title| {
        let placed = model.infer(title, "", None, None);
        placed.named.map(|category| model.taxonomy().id(category))
    };
    for title in ["Bowl", "Bowl Green Tote", "Bowl 3 Tote", "Bowl 3l Tote", "Tote, Bowl"] {
        assert_eq!(named(title), Some("a-1-1"), "{title}");
    }
    for title in ["Bowl Tote", "Tote for Bowl Green", "Green Tote"] {
        assert_eq!(named(title), None, "{title}");
    }
    let unlikely = model_with_names(&[("cat", totes)]);
    let placed = unlikely.infer("Cat", "", None, None);
    assert_eq!(placed.named.map(|one| unlikely.taxonomy().id(one)), Some("b-1"));
    assert_eq!(id_of(&unlikely, placed.shown), Some("a-1-2"), "nothing else tells so");
}

#[test]
fn the_words_choose_among_the_categories_of_a_name() {
    let (dogs, cats) = (2, 3);
    let model = model_with_names(&[("bowl", dogs), ("bowl", cats)]);
    let id = |title| id_of(&model, model.infer(title, "", None, None).shown);
    assert_eq!((id("Dog Bowl"), id("Cat Bowl")), (Some("a-1-1"), Some("a-1-2")));
}

#[test]
fn a_query_means_what_it_names() {
    let (pets, dogs, cats) = (1, 2, 3);
    let model = model_with_names(&[("bowl", pets), ("bowl", dogs), ("bowl", cats), ("dog", dogs)]);
    let found = model.infer_query("bowl");
    let taxonomy = model.taxonomy();
    let names = |id| found.names(taxonomy, taxonomy.with_id(id));
    assert_eq!(found.category(taxonomy).map(|one| taxonomy.id(one)), Some("a-1"));
    assert_eq!((names("a-1"), names("a-1-1"), names("b-1")), (Some(1.0), Some(1.0), Some(0.0)));
    assert_eq!(found.names(taxonomy, None), Some(0.0));
    let dog = model.infer_query("dog").category(taxonomy);
    assert_eq!(dog.map(|one| taxonomy.id(one)), Some("a-1-1"));
    let unnamed = model.infer_query("cat");
    assert_eq!(unnamed.names(taxonomy, taxonomy.with_id("a-1-2")), None);
    assert_eq!(unnamed.category(taxonomy).map(|one| taxonomy.id(one)), Some("a-1-2"));
}

#[test]
fn broken_names_are_rejected() {
    let refused = |bytes: &[u8]| CategoryNames::new(bytes, &taxonomy()).err();
    let whole = names_file(&[("bowl", 1), ("cat", 2)]);
    assert_eq!(refused(&whole), None);
    assert_eq!(refused(b"SKCATN0"), Some(BrokenCategoryModel::Magic));
    assert_eq!(refused(&whole[..whole.len() - 1]), Some(BrokenCategoryModel::Header));
    assert_eq!(refused(&names_file(&[("bowl", 7)])), Some(BrokenCategoryModel::Taxonomy));
    let mut unsorted = whole;
    unsorted[12..20].rotate_left(4);
    assert_eq!(refused(&unsorted), Some(BrokenCategoryModel::Numbers));
}

#[test]
fn queries_get_a_distribution() {
    let model = model();
    let found = model.infer_query("cat");
    let likely = found.likely();
    assert_eq!(model.taxonomy().id(likely[0].0), "a-1-2");
    assert!(likely.iter().map(|(_, share)| share).sum::<f32>() <= 1.001);
    assert_eq!(model.infer_query("zzz"), QueryCategories::default());

    let taxonomy = model.taxonomy();
    let agreement = |id| found.agreement(taxonomy, taxonomy.with_id(id).unwrap());
    assert!(agreement("a-1-2") > agreement("a-1-1"));
    assert!(agreement("a-1-1") > agreement("b-1"));
}

#[test]
fn broken_models_are_rejected() {
    let refused = |bytes: Vec<u8>| CategoryModel::new(bytes.into(), taxonomy()).err();
    assert_eq!(refused(vec![]), Some(BrokenCategoryModel::Magic));
    let mut short = file();
    short.pop();
    assert_eq!(refused(short), Some(BrokenCategoryModel::Header));
    let mut other = file();
    other[16] = 8;
    assert_eq!(refused(other), Some(BrokenCategoryModel::Taxonomy));
    let mut wrong = file();
    wrong[24..28].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(refused(wrong), Some(BrokenCategoryModel::Numbers));
}
