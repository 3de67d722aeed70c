"""What the table learns from: texts of all languages, each with the place where the English text lies that means the same."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from shopper.phrasebook import read_instant_targets
from shopper.phrases import plain, read_phrasebook

from . import spelling
from .english import English, unit

MULTILINGUAL = "shopper-phrases-multilingual.tsv"
ENGLISH = ("shopper-phrases.tsv", "plain-phrases.tsv")
ATTRIBUTES = "attribute-words-multilingual.tsv"
FILLER = "-"
"""The English word of those that say nothing about a product."""
HELD_OUT_SHARE = 10


@dataclass(frozen=True)
class Example:
    language: str
    type: str
    kind: str
    text: str
    target: int
    weight: float


@dataclass(frozen=True)
class Weights:
    names: float = 1.0
    phrases: float = 6.0
    """Of our phrases in other languages."""
    english: float = 1.0


@dataclass
class Examples:
    trained: list[Example]
    held: list[Example]
    """Of the types that nothing is learned about."""
    targets: np.ndarray
    """Sums of rows of the English table: their lengths weigh words against each other."""
    attributes: dict[str, list[tuple[str, np.ndarray]]]
    """By language: a word or two, and the sum of rows of the English word."""
    names: dict[str, int] = field(default_factory=dict)
    """The target of each type's English name."""

    def words(self) -> set[str]:
        """The folded words of other languages, without those of dense scripts."""
        texts = [example.text for example in self.trained if example.language != "en"]
        texts += [text for found in self.attributes.values() for text, _ in found]
        return {spelling.folded(word) for text in texts for word in spelling.words(text) if not spelling.is_dense(word[0])}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_taxonomy(path: Path) -> dict[str, dict[str, str]]:
    """Names by type and language tag."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return {row["id"]: row["names"] for row in map(json.loads, file)}


def held_types(names: dict[str, str]) -> set[str]:
    """A fixed tenth of the types, as for the other encoders: unless another type has the same name."""
    bearers: dict[str, int] = {}
    for name in names.values():
        bearers[plain(name).rstrip("s")] = bearers.get(plain(name).rstrip("s"), 0) + 1
    return {type_ for type_, name in names.items() if zlib.crc32(type_.encode()) % HELD_OUT_SHARE == 0 and bearers[plain(name).rstrip("s")] == 1}


def read(data: Path, taxonomy: dict[str, dict[str, str]], models: Path, weights: Weights, hold: bool = True) -> Examples:
    english = English(models)
    phrases = [row for name in ENGLISH for row in rows(data / name)]
    names = {row["type"]: row["text"] for row in reversed(phrases) if row["kind"] == "C"}
    names |= {type_: by_language["en"] for type_, by_language in taxonomy.items()}
    held = held_types({type_: name for type_, name in names.items() if not type_.startswith("plain:")})
    found = _Found(english, _things(data, models))
    for type_, name in names.items():
        found.examples.names[type_] = found.target(name)
    for type_, by_language in taxonomy.items():
        for language, name in by_language.items():
            if language == "en":
                found.add("en", type_, "C", name, found.examples.names[type_], weights.english)
            else:
                found.add(language.split("-")[0], type_, "C", name, found.meant(type_, "C"), weights.names)
    for row in rows(data / MULTILINGUAL):
        found.add(row["language"], row["type"], row["kind"], row["text"], found.meant(row["type"], row["kind"]), weights.phrases)
    for row in phrases:
        if row["kind"] != "P":
            meant = found.meant(row["type"], "N") if row["kind"] == "N" else found.target(row["text"])
            found.add("en", row["type"], row["kind"], row["text"], meant, weights.english)
    for row in rows(data / ATTRIBUTES):
        means = np.zeros(english.dims, np.float32) if row["english"] == FILLER else english.sum(row["english"])
        found.examples.attributes.setdefault(row["language"], []).append((row["text"], means))
    return found.done(held if hold else set())


def _things(data: Path, models: Path) -> dict[str, np.ndarray]:
    """Where the phrase index leads a need: by type, the unit vector of the thing."""
    vectors = read_instant_targets(models / "phrases.bin")
    types = dict.fromkeys(phrase.type for phrase in read_phrasebook(data / ENGLISH[0]))
    assert len(types) == len(vectors), "phrases.bin was made from other phrases"
    return dict(zip(types, unit(vectors)))


class _Found:
    def __init__(self, english: English, things: dict[str, np.ndarray]) -> None:
        self.english, self.things = english, things
        self.vectors: list[np.ndarray] = []
        self.numbers: dict[str, int] = {}
        self.all: dict[tuple[str, str, str, int], Example] = {}
        self.examples = Examples([], [], np.zeros(0), {})

    def target(self, text: str) -> int:
        """The English text's own vector."""
        if text not in self.numbers:
            self.numbers[text] = len(self.vectors)
            self.vectors.append(self.english.sum(text))
        return self.numbers[text]

    def meant(self, type_: str, kind: str) -> int:
        """A name is its English name; a need is what the phrase index leads to."""
        name = self.examples.names[type_]
        if kind != "N" or type_ not in self.things:
            return name
        key = f"\t{type_}"
        if key not in self.numbers:
            self.numbers[key] = len(self.vectors)
            self.vectors.append(self.things[type_] * np.linalg.norm(self.vectors[name]))
        return self.numbers[key]

    def add(self, language: str, type_: str, kind: str, text: str, target: int, weight: float) -> None:
        if np.any(self.vectors[target]):
            example = Example(language, type_, kind, text, target, weight)
            self.all.setdefault((language, type_, plain(text), target), example)

    def done(self, held: set[str]) -> Examples:
        self.examples.targets = np.stack(self.vectors)
        kept_back = {(example.language, plain(example.text)) for example in self.all.values() if example.type in held}
        for example in self.all.values():
            if example.type in held:
                self.examples.held.append(example)
            elif (example.language, plain(example.text)) not in kept_back:
                self.examples.trained.append(example)
        return self.examples
