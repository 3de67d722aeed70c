"""Step "export": the deep encoder as the file the service embeds, and the texts it is checked against."""

from __future__ import annotations

import json
import re
import struct
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

from .encoders import Deep, Shape
from .phrases import Kind, Phrase
from .wording import DEEP_TOKENS, MAX_TOKENS, NGRAM_SIZES

OPSET = 17
MAGIC = b"SKINST01"
WORD = re.compile(r"[a-z]{2,}")


def export_deep(model: Deep, path: Path) -> None:
    """int8 ONNX: weights of the matrix products by column and of the embeddings as a whole, activations as they come.

    Seven bits of the eight are used for the weights, because on processors without VNNI a product of full-range
    unsigned and signed bytes can overflow its 16-bit sum.
    """
    model = model.cpu().float().eval()
    ids = torch.ones(2, 8, dtype=torch.int64)
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "float.onnx"
        torch.onnx.export(
            model,
            (ids, torch.ones_like(ids)),
            str(whole),
            input_names=["input_ids", "attention_mask"],
            output_names=["vector"],
            dynamic_axes={name: {0: "batch", 1: "tokens"} for name in ("input_ids", "attention_mask")}
            | {"vector": {0: "batch"}},
            opset_version=OPSET,
            dynamo=False,
        )
        quantize_dynamic(
            whole,
            path,
            op_types_to_quantize=["MatMul", "Gather"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={"MatMulConstBOnly": True},
        )
    onnx.checker.check_model(onnx.load(path))


def read_instant(path: Path) -> tuple[np.ndarray, int]:
    """The table as floats, and how many of its rows belong to the vocabulary."""
    raw = path.read_bytes()
    if raw[:8] != MAGIC:
        raise ValueError(f"{path} is no instant table")
    dims, vocab, ngrams, *_ = struct.unpack_from("<6I", raw, 8)
    rows = vocab + ngrams
    scales = np.frombuffer(raw, "<f4", rows, 32)
    numbers = np.frombuffer(raw, np.int8, rows * dims, 32 + 4 * rows).reshape(rows, dims)
    return numbers.astype(np.float32) * scales[:, None], vocab


def write_vocab(vocab: list[str], path: Path) -> None:
    path.write_text("\n".join(vocab) + "\n", encoding="utf-8")


def write_words(phrases: list[Phrase], vocab: list[str], path: Path) -> None:
    """Words that shoppers use and that the vocabulary has only in pieces, or that are as short as its syllables: with
    these, the service can tell a word from a slip of the fingers. Titles are left out, they are full of made-up names."""
    said = (word for phrase in phrases if phrase.kind != Kind.TITLE for word in WORD.findall(phrase.text.lower()))
    path.write_text("".join(f"{word}\n" for word in sorted(set(said) - {piece for piece in vocab if len(piece) > 2})), encoding="utf-8")


def write_manifest(path: Path, name: str, deep: Shape, dims: int, ngram_rows: int) -> None:
    """What the service must know before it reads the weights. `dims` are those of the instant table."""
    manifest = {
        "model": name,
        "dims": dims,
        "max_tokens": MAX_TOKENS,
        "deep": {"file": "deep.onnx", "layers": deep.layers, "dims": deep.dims, "max_tokens": DEEP_TOKENS},
        "instant": {"file": "instant.bin", "ngram_rows": ngram_rows, "ngram_sizes": list(NGRAM_SIZES)},
        "vocab": "vocab.txt",
    }
    path.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


GOLDEN = [
    "settee",
    "make a hole in the wall",
    "something to keep my neck warm",
    "wirless headphnoes",
    "Café crème – Naïve Décor, 12\" × 18\" (2-Pack)",
    "OtterBox - Defender Series Case for Apple® iPhone® 6 and 6s - Glacier",
    "T-Shirt",
    "5x8 rug",
    "北京 tea 茶",
    "Ünïcödé ßtraße ΑΒΓ Йод",
    "co-ord set, women's; 3/4 sleeve!!",
    "Vintage Sunburst Acoustic Guitar. A warm-toned dreadnought with a spruce top, mahogany back and sides, rosewood "
    "fingerboard and chrome tuners. Comes with a padded gig bag, a strap, picks and a clip-on tuner, so that a beginner "
    "can start the same evening. The slim neck is easy on small hands; the bracing is light, the sound carries across a "
    "room without an amplifier. Finished by hand in a satin sunburst that shows the grain. Two-year guarantee, spare "
    "strings included, thirty days to change your mind. Weight 2.1 kg, length 104 cm, scale 648 mm, 20 frets, bone nut, "
    "adjustable truss rod, dual-action. Also available left-handed, in natural, in midnight blue and in cherry red.",
]
"""Texts that trip tokenisers: accents, dashes, signs, other scripts, misspellings, and one that is too long."""
