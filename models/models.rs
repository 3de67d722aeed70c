//! The files of the models, which the program contains: what they are, README.md says.
//!
//! Each is a `static`, so that it stands in the program once, whichever crates use it. A crate of its
//! own, so that nothing compiles the 90 MB again.

/// Each file as an array, and its name in the crate.
macro_rules! files {
    ($($name:ident: $file:literal),+ $(,)?) => {$(
        #[doc = concat!("`", $file, "`")]
        pub static $name: [u8; include_bytes!($file).len()] = *include_bytes!($file);
    )+};
}

files! {
    MANIFEST: "model.json",
    VOCABULARY: "vocab.txt",
    WORDS: "words.txt",
    PHRASES: "phrases.bin",
    NAMES: "names.tsv",
    INSTANT: "instant.bin",
    DEEP: "deep.onnx",
    MULTILINGUAL: "multilingual.bin",
    TAXONOMY: "taxonomy.tsv",
    CATEGORY: "category.bin",
    CATEGORY_VECTORS: "category-vectors.bin",
    CATEGORY_NAMES: "category-names.bin",
}
