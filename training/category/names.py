"""The names of things with their categories: category-names.bin. A title or a query that says such a name says what it is."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from . import features
from .examples import NAMES, THINGS, read_of_categories, read_rows
from .taxonomy import Taxonomy

MAGIC = b"SKCATN01"
MOST_WORDS = 3


def write_names(data: Path, taxonomy: Taxonomy, path: Path) -> int:
    """Header, hashes of names, ascending, and the category of each; the format is in crates/catalog/src/inference/category/names.rs."""
    found = sorted(set(names(data, taxonomy)))
    hashes = np.array([hash_ for hash_, _ in found], "<u4")
    categories = np.array([category for _, category in found], "<u2")
    path.write_bytes(MAGIC + struct.pack("<I", len(found)) + hashes.tobytes() + categories.tobytes())
    return len(found)


def names(data: Path, taxonomy: Taxonomy) -> list[tuple[int, int]]:
    """Hash and category of the names of the taxonomy, of our phrases and of our own list.

    Where a name is that of a category in the taxonomy, it is not also a name of one above or below: a blanket is a
    blanket, although some call their bedding so. Otherwise the deepest category counts: a jumper is a sweater, and so
    a top."""
    own = by_hash((category, part) for category, path in enumerate(taxonomy.paths) for part in parts(path[-1]))
    ids = {row["type"]: row["category"] for row in read_rows(data / THINGS)}
    texts = [(example.category, example.text) for example in read_of_categories(data / NAMES, taxonomy, 1.0, "S")]
    for row in read_rows(data / "shopper-phrases.tsv"):
        category = taxonomy.index.get(ids.get(row["type"], row["type"]))
        if category is not None and row["kind"] in "CS":
            texts.append((category, row["text"]))
    found = [(hash_, category) for hash_, categories in own.items() for category in categories]
    for hash_, categories in by_hash(texts).items():
        others = {one for one in categories if not any(related(taxonomy, one, of_taxonomy) for of_taxonomy in own.get(hash_, ()))}
        above = {one for category in others for one in taxonomy.chains[category][:-1]}
        found += [(hash_, category) for category in others - above]
    return found


def by_hash(texts: Iterable[tuple[int, str]]) -> dict[int, set[int]]:
    found: dict[int, set[int]] = defaultdict(set)
    for category, text in texts:
        hash_ = hashed(text)
        if hash_ is not None:
            found[hash_].add(category)
    return found


def related(taxonomy: Taxonomy, one: int, other: int) -> bool:
    """Whether one is above or below the other."""
    return one in taxonomy.chains[other] or other in taxonomy.chains[one]


def hashed(name: str) -> int | None:
    """The hash of a name's words; `None` for one that is none, such as "case for a phone"."""
    found = features.parts(name)
    if len(found) != 1 or found[0][0] != "thing" or len(found[0][1]) > MOST_WORDS:
        return None
    return features.hashed(" ".join(found[0][1]))


def parts(name: str) -> list[str]:
    """The names in the name of a category: of "Chairs & Sofas" these are two, of "Chair & Sofa Covers" the last one
    alone, and of "School Dresses & Jumpers" the first one alone: not every jumper is for school."""
    others, _, last = name.rpartition(" & ")
    found = [part.strip() for part in others.replace("&", ",").split(",") if part.strip().endswith("s")]
    return found if " " not in last and any(" " in part for part in found) else [*found, last]
