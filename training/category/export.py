"""Writes the files that the service embeds: the taxonomy's ids and names, and the model as signed bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .taxonomy import Taxonomy
from .train import Model
from .tree import Tree

MAGIC = b"SKCATE01"
DESCRIPTION = 0.1
"""Factor of a description's words, set on labelled products: there are no descriptions to train with."""
MERCHANT = 1.0
"""Factor of the merchant's own category, likewise."""
TEMPERATURE = 0.75
"""Of the first decision, likewise: examples are harder than real titles, so the model is too modest."""


def write_taxonomy(taxonomy: Taxonomy, path: Path) -> None:
    lines = (f"{id_}\t{names[-1]}\n" for id_, names in zip(taxonomy.ids, taxonomy.paths))
    path.write_text("".join(lines), encoding="utf-8")


def upper_half(numbers: np.ndarray) -> np.ndarray:
    """The upper 16 bits of 32-bit floats, rounded."""
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2")


def from_half(halves: np.ndarray) -> np.ndarray:
    return (halves.astype(np.uint32) << 16).view(np.float32)


def quantised(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Signed bytes, and the scale of each row as a half."""
    scales = upper_half(np.abs(rows).max(1) / 127 + 1e-9)
    return np.clip(np.round(rows / from_half(scales)[:, None]), -127, 127).astype(np.int8), scales


def write_model(model: Model, taxonomy: Taxonomy, path: Path) -> None:
    tree = Tree.of(taxonomy)
    hashes = np.array(sorted(model.rows), "<u4")
    order = np.array([model.rows[int(hash_)] for hash_ in hashes])
    words, word_scales = quantised(model.table[order])
    sharper = np.where(np.arange(len(model.out)) < len(taxonomy.ids), 1, 1 / TEMPERATURE).astype(np.float32)
    out, out_scales = quantised(model.out * sharper[:, None])
    factors = np.append(np.exp(model.place_weight), MERCHANT).astype("<f4")
    factors[-2] = DESCRIPTION
    with path.open("wb") as file:
        file.write(MAGIC)
        file.write(np.array([words.shape[1], len(hashes), len(taxonomy.ids), len(tree.first)], "<u4").tobytes())
        file.write(factors.tobytes())
        file.write(hashes.tobytes())
        file.write(upper_half(np.exp(model.weight[order])).tobytes())
        file.write(word_scales.tobytes())
        file.write(words.tobytes())
        file.write(np.array(tree.first, "<u2").tobytes())
        file.write(np.stack([out_scales, upper_half(model.bias * sharper)], 1).tobytes())
        file.write(out.tobytes())
