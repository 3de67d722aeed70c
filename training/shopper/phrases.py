"""Which phrases are there, what are they about, and which of them must never be trained on?"""

from __future__ import annotations

import csv
import zlib
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path


class Kind(IntEnum):
    """What a phrase is to its product type (the letters of shopper-phrases.tsv, in this order)."""

    NAME = 0
    PATH = 1
    SYNONYM = 2
    NEED = 3
    TITLE = 4


class Split(IntEnum):
    """Trained on, or kept back: a phrase of a trained type, or a whole type."""

    TRAIN = 0
    HELD_PHRASE = 1
    HELD_TYPE = 2


KINDS = {"C": Kind.NAME, "P": Kind.PATH, "S": Kind.SYNONYM, "N": Kind.NEED, "T": Kind.TITLE}


OBJECTS = "everyday-objects.tsv"
"""More phrases beside the first file, all for training: nothing in them is held out, and nothing held out is in them."""


PLAIN = "plain-phrases.tsv"
"""Common things in plain words, for the phrase book: written without a look at any request they are measured with."""


@dataclass(frozen=True)
class Phrase:
    type: str
    kind: Kind
    text: str
    split: Split


def plain(text: str) -> str:
    """One spelling for comparing texts: lower case, single spaces."""
    return " ".join(text.lower().split())


def _tenth(key: str) -> bool:
    """A fixed tenth of all keys, the same on every machine and for every seed."""
    return zlib.crc32(key.encode("utf-8")) % 10 == 0


def read_phrases(path: Path, limit_types: int | None = None) -> list[Phrase]:
    """All phrases with their split.

    A type is held out with all its phrases when its id falls in the fixed tenth and no other type bears its name:
    a twin in the training part would give it away. A phrase is held out when "type, text" falls in the tenth, and
    then the same words are kept out of training under every other type as well.
    """
    rows = _rows(path)
    if limit_types:
        keep = set(list(dict.fromkeys(row["type"] for row in rows))[:limit_types])
        rows = [row for row in rows if row["type"] in keep]

    bearers: dict[str, set[str]] = {}
    for row in rows:
        if row["kind"] == "C":
            bearers.setdefault(plain(row["text"]).rstrip("s"), set()).add(row["type"])
    shared_names = {type_ for types in bearers.values() if len(types) > 1 for type_ in types}

    def holds_type(type_: str) -> bool:
        return _tenth(type_) and type_ not in shared_names

    def holds_phrase(row: dict[str, str]) -> bool:
        return row["kind"] in "SNT" and _tenth(row["type"] + "\t" + row["text"])

    kept_words = {plain(row["text"]) for row in rows if holds_type(row["type"]) or holds_phrase(row)}
    phrases = []
    for row in rows:
        if holds_type(row["type"]):
            split = Split.HELD_TYPE
        elif row["kind"] in "SNT" and plain(row["text"]) in kept_words:
            split = Split.HELD_PHRASE
        else:
            split = Split.TRAIN
        phrases.append(Phrase(row["type"], KINDS[row["kind"]], row["text"], split))
    more = path.with_name(OBJECTS)
    if more.exists() and not limit_types:
        phrases += [Phrase(row["type"], KINDS[row["kind"]], row["text"], Split.TRAIN) for row in _rows(more) if plain(row["text"]) not in kept_words]
    return phrases


def read_phrasebook(path: Path, limit_types: int | None = None) -> list[Phrase]:
    """What goes into the phrase book: the first file and the plain words beside it. The everyday objects stay out: their
    writer had seen some of the requests that the book is measured with."""
    phrases = [phrase for phrase in read_phrases(path, limit_types) if not is_object(phrase.type)]
    return phrases + [Phrase(row["type"], KINDS[row["kind"]], row["text"], Split.TRAIN) for row in _rows(path.with_name(PLAIN))]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def is_object(type_: str) -> bool:
    return type_.startswith("object:")


def family(type_: str) -> str:
    """What an everyday object has in common with the others of its family: "object:purse/2" belongs to "object:purse"."""
    return type_.split("/")[0]


def is_below(type_: str, other: str) -> bool:
    """Whether a taxonomy type is a kind of the other: "aa-1-1-2" is below "aa-1"."""
    return type_.startswith(other + "-")
