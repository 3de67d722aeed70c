"""Typical vectors of the categories of level two, from the things of the phrase book: category-vectors.bin.

The classifier knows words, and only those of its examples. The instant vector of a product knows more of them, also of
other languages; where both agree, the category is nearly always right.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from shopper.phrasebook import read_instant_targets
from shopper.phrases import read_phrasebook

from .examples import THINGS, read_rows
from .taxonomy import Taxonomy
from .tree import Tree

MAGIC = b"SKCATV01"
EACH = 2
"""Vectors of a category: many have two kinds of things in them."""
PASSES = 10


def write_vectors(data: Path, models: Path, taxonomy: Taxonomy, path: Path) -> int:
    """Header, the category of each vector, the vectors; the format is in crates/catalog/src/inference/category/vectors.rs."""
    things, categories = _things(data, models, taxonomy)
    found = [(int(category), vector) for category in sorted(set(categories)) for vector in typical(things[categories == category])]
    vectors = np.stack([vector for _, vector in found])
    rows = np.rint(vectors / np.abs(vectors).max(axis=1, keepdims=True) * 127).astype(np.int8)
    header = MAGIC + struct.pack("<2I", rows.shape[1], len(rows))
    path.write_bytes(header + np.array([category for category, _ in found], "<u2").tobytes() + rows.tobytes())
    return len(rows)


def typical(vectors: np.ndarray) -> np.ndarray:
    """The centres of at most `EACH` groups of vectors, beginning with those that differ most."""
    if len(vectors) <= EACH:
        return vectors
    centres = vectors[[int((vectors @ vectors.mean(axis=0)).argmin())]]
    while len(centres) < EACH:
        centres = np.concatenate([centres, vectors[[int((vectors @ centres.T).max(axis=1).argmin())]]])
    for _ in range(PASSES):
        nearest = (vectors @ centres.T).argmax(axis=1)
        centres = np.stack([_unit(vectors[nearest == at].mean(axis=0)) if (nearest == at).any() else centre for at, centre in enumerate(centres)])
    return centres


def _things(data: Path, models: Path, taxonomy: Taxonomy) -> tuple[np.ndarray, np.ndarray]:
    """The vectors of the things that have a category, and the categories of the first decision that they belong to."""
    ids = {row["type"]: row["category"] for row in read_rows(data / THINGS)}
    first = {int(category) for category in Tree.of(taxonomy).first}
    vectors = read_instant_targets(models / "phrases.bin")
    types = dict.fromkeys(phrase.type for phrase in read_phrasebook(data / "shopper-phrases.tsv", None))
    categories = np.full(len(vectors), -1)
    for at, type_ in enumerate(types):
        category = taxonomy.index.get(ids.get(type_, type_))
        above = () if category is None else taxonomy.chains[category]
        categories[at] = next((int(one) for one in above if int(one) in first), -1)
    has_category = categories >= 0
    return _unit(vectors[has_category]), categories[has_category]


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True).clip(1e-9)
