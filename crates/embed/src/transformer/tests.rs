//! The kernels agree on all processors, and no file makes the encoder panic.

use std::{borrow::Cow, fs, path::Path};

use fearless_simd::{Level, Simd};
use proptest::prelude::*;

use super::{
    Transformer, Workspace,
    matmul::{Matrix, Quantised},
};

/// The levels of instructions that this processor has.
fn levels() -> Vec<Level> {
    let best = Level::new();
    #[cfg(target_arch = "x86_64")]
    let lower = [
        best.as_avx2().map(Level::Avx2),
        best.as_sse4_2().map(Level::Sse4_2),
        best.as_sse2().map(Level::Sse2),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let lower = [None];
    [Some(best)].into_iter().chain(lower).flatten().collect()
}

fn tiny_file() -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny-model");
    fs::read(folder.join("deep.onnx")).unwrap()
}

fn real_transformer() -> Transformer {
    let file: &[u8] = models::DEEP.as_slice();
    Transformer::new(Cow::Borrowed(file)).unwrap()
}

fn products(level: Level, matrix: &Matrix, values: &[f32]) -> Vec<f32> {
    fn products<S: Simd>(simd: S, matrix: &Matrix, values: &[f32]) -> Vec<f32> {
        let mut quantised = Quantised::default();
        quantised.set(simd, matrix.inputs(), values);
        let mut products = vec![0.0; values.len() / matrix.inputs() * matrix.outputs()];
        matrix.multiply(simd, &quantised, &mut products);
        products
    }
    fearless_simd::dispatch!(level, simd => products(simd, matrix, values))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn products_are_the_same_at_every_level(
        tokens in 1_usize..40,
        inputs in (1_usize..6).prop_map(|times| 16 * times),
        outputs in (1_usize..12).prop_map(|times| 8 * times),
        seed in any::<u64>(),
    ) {
        let mut random = fastrand::Rng::with_seed(seed);
        let weights: Vec<i8> = (0..inputs * outputs).map(|_| random.i8(..)).collect();
        let values: Vec<f32> = (0..tokens * inputs).map(|_| random.f32() * 8.0 - 3.0).collect();
        let scales: Vec<f32> = (0..outputs).map(|_| random.f32()).collect();
        let bias: Vec<f32> = (0..outputs).map(|_| random.f32()).collect();
        let bytes: Vec<u8> = weights.iter().map(|weight| weight.cast_unsigned()).collect();
        let matrix = Matrix::new(inputs, &[(&bytes, outputs)], &scales, &bias);
        let found = products(Level::new(), &matrix, &values);
        for level in levels() {
            prop_assert_eq!(&products(level, &matrix, &values), &found, "{:?}", level);
        }
        // Each value is off by half a step at most, plus half a step for the zero point.
        let step = 8.0 / 255.0;
        for (token, found) in values.chunks(inputs).zip(found.chunks(outputs)) {
            for column in 0..outputs {
                let weight = |input: usize| f32::from(weights[input * outputs + column]);
                let of = |weigh: fn(f32, f32) -> f32| -> f32 {
                    token.iter().enumerate().map(|(at, x)| weigh(*x, weight(at))).sum()
                };
                let expected = of(|x, weight| x * weight) * scales[column] + bias[column];
                let most = of(|_, weight| weight.abs()) * scales[column] * step + 1e-2;
                prop_assert!((found[column] - expected).abs() <= most);
            }
        }
    }

    #[test]
    fn damaged_files_are_rejected_or_run(
        bytes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut file = tiny_file();
        for (at, byte) in bytes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
        }
        if let Ok(model) = Transformer::new(file.into()) {
            let tokens = [2, 5, 7, 3].map(|token| token % model.vocabulary() as u32);
            let vector = model.encode(&tokens, &mut Workspace::default());
            prop_assert_eq!(vector.is_some(), model.max_tokens() >= tokens.len());
        }
    }
}

#[test]
fn vectors_depend_on_their_text_alone() {
    let model = real_transformer();
    let long: Vec<u32> = (2000..2100).collect();
    let short = [101, 2242, 2000, 2562, 2026, 3300, 4010, 102];
    let mut used = Workspace::default();
    let found = model.encode(&short, &mut used).unwrap();
    model.encode(&long, &mut used).unwrap();
    assert_eq!(model.encode(&short, &mut used).unwrap(), found);
    assert_eq!(model.encode(&short, &mut Workspace::default()).unwrap(), found);
    let cosine = |a: &[f32], b: &[f32]| {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    };
    for level in levels() {
        let other = model.encode_at(level, &short, &mut used).unwrap();
        assert!(cosine(&other, &found) > 0.9999, "{level:?}");
    }
}

#[test]
fn texts_that_the_encoder_cannot_take_get_no_vector() {
    let model = Transformer::new(tiny_file().into()).unwrap();
    let mut workspace = Workspace::default();
    let unknown = model.vocabulary() as u32;
    assert_eq!(model.encode(&[], &mut workspace), None);
    assert_eq!(model.encode(&[unknown], &mut workspace), None);
    assert_eq!(model.encode(&vec![0; model.max_tokens() + 1], &mut workspace), None);
    assert!(model.encode(&vec![unknown - 1; model.max_tokens()], &mut workspace).is_some());
}

#[test]
fn other_graphs_are_rejected() {
    let file = tiny_file();
    let error_after = |from: &str, to: &str, count: usize| {
        assert_eq!(from.len(), to.len());
        let mut file = file.clone();
        let places = 0..file.len() - from.len();
        let places = places.filter(|at| file[*at..].starts_with(from.as_bytes()));
        for at in places.take(count).collect::<Vec<_>>() {
            file[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
        Transformer::new(file.into()).err().unwrap()
    };
    let error = error_after("Softmax", "Hardmax", usize::MAX);
    assert!(error.contains("does not know: Softmax was expected to make"), "{error}");
    let error = error_after("words.weight_quantized", "words.weight_quantised", 1);
    assert_eq!(error, "has no usable constant \"words.weight_quantised\"");
    let error = |file: &[u8]| Transformer::new(file.to_vec().into()).err().unwrap();
    assert_eq!(error(&file[..file.len() / 2]), "is not a complete ONNX file");
    assert!(error(b"").contains("\"vector\""), "{}", error(b""));
}
