"""What the model learns from: texts with their categories, all written for this project or names of the taxonomy."""

from __future__ import annotations

import csv
import random
import zlib
from dataclasses import dataclass
from pathlib import Path

from .features import COMPANY, PURPOSE
from .taxonomy import Taxonomy

WEIGHTS = {"T": 1.0, "C": 1.0, "S": 0.8, "N": 0.25}
"""Of the kinds of our phrases: titles, names, synonyms, needs."""
TITLES = "category-titles.tsv"
NAMES = "category-names.tsv"
"""What merchants call the things of a category, other than the taxonomy and our phrases do."""
THINGS = "category-of-things.tsv"
"""The categories of the everyday things among our phrases, which have no id of the taxonomy."""
MEDIA = [
    ("me-1-3", 1500, "(Hardcover)|(Paperback)|(Reprint) (Paperback)|(Mass Market Paperback)|Hardcover|Paperback|(Board Book)|(Library Binding)|- Paperback Book|(Original) (Paperback)|[Paperback]|(Spiral-bound)"),
    ("me-7", 700, "(DVD)|DVD|(Blu-ray)|(Widescreen)|(Blu-ray/DVD)|[DVD]|(DVD Video)|(Full Frame)|(VHS)"),
    ("me-7-3", 200, "(DVD)|DVD|(2 Discs) (DVD)"),
    ("me-7-1", 200, "(Blu-ray)|Blu-ray Disc"),
    ("me-3", 500, "(CD)|CD|(Vinyl)|LP|(Audio CD)|(Soundtrack)|Vinyl LP|(Explicit)"),
    ("me-1-1", 100, "(Compact Disc)|Audiobook|(Unabridged) (Compact Disc)"),
    ("so-3-2", 900, "(PS4)|(Xbox 360)|(PlayStation 3)|(Nintendo Wii)|(Nintendo DS)|- Xbox One|(Wii)|(PC Games)|(PS Vita)|(Nintendo 3DS)|(Nintendo Switch)|- PlayStation 4|(Xbox One)|(PS3)|(Wii U)|(PSP)|- Nintendo DS"),
]
"""Books, films and games are called anything; only the medium tells what they are. Category, how many to make, endings."""


@dataclass(frozen=True)
class Example:
    category: int
    text: str
    weight: float
    kind: str


def is_held_out(type_: str, text: str) -> bool:
    """A fixed tenth of the titles."""
    return zlib.crc32(f"{type_}\t{text}".encode()) % 10 == 0


def read(data: Path, taxonomy: Taxonomy, seed: int) -> tuple[list[Example], list[Example]]:
    """All examples, and the held-out titles."""
    examples: list[Example] = []
    held: list[Example] = []
    ids = {row["type"]: row["category"] for row in read_rows(data / THINGS)}
    for row in read_rows(data / "shopper-phrases.tsv") + read_rows(data / "plain-phrases.tsv"):
        category, kind, text = taxonomy.index.get(ids.get(row["type"], row["type"])), row["kind"], row["text"]
        if category is None or kind == "P":
            continue
        example = Example(category, text, WEIGHTS[kind], kind)
        if kind == "T" and is_held_out(row["type"], text) and row["type"] not in ids:
            held.append(example)
        else:
            examples += [example, *_turned(example)]
    for category, path in enumerate(taxonomy.paths):
        name = Example(category, path[-1], 1.0, "C")
        examples += [name, *_turned(name)]
        if len(path) > 1:
            examples.append(Example(category, f"{path[-2]}, {path[-1]}", 0.3, "P"))
    for name in read_of_categories(data / NAMES, taxonomy, 1.0, "S"):
        examples += [name, *_turned(name)]
    examples += read_of_categories(data / TITLES, taxonomy, 2.0, "X")
    return examples + _media(examples, taxonomy, random.Random(seed)), held


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _turned(example: Example) -> list[Example]:
    """ "Watch strap" is also a "strap for watch"."""
    words = example.text.split()
    if example.kind not in "CS" or not 2 <= len(words) <= 3 or any(word.lower() in PURPOSE | COMPANY | {"&", "and", "of"} for word in words):
        return []
    return [Example(example.category, f"{words[-1]} for {' '.join(words[:-1])}", 0.3, "F")]


def read_of_categories(path: Path, taxonomy: Taxonomy, weight: float, kind: str) -> list[Example]:
    """Our own titles and names; a category there may be any one above the right one."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        id_, texts = line.split("\t")
        found += [Example(taxonomy.index[id_], text, weight, kind) for text in texts.split("|")]
    return found


def _media(examples: list[Example], taxonomy: Taxonomy, chance: random.Random) -> list[Example]:
    pool = [example.text for example in examples if example.kind in "CSNTX"]
    made = []
    for id_, count, endings in MEDIA:
        for _ in range(count):
            text = chance.choice(pool)
            if chance.random() < 0.7:
                text = text.split(",")[0]
            words = (["The"] if chance.random() < 0.3 else []) + text.split()[:8]
            made.append(Example(taxonomy.index[id_], " ".join([*words, chance.choice(endings.split("|"))]), 1.0, "M"))
    return made
