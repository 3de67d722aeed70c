"""Training, start to finish: vocabulary, first values, passes over the examples."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from . import features, learn
from .examples import Example
from .instant import WordVectors
from .taxonomy import Taxonomy
from .tree import Tree


@dataclass(frozen=True)
class Recipe:
    dims: int = 80
    passes: int = 12
    rate: float = 0.12
    drop: float = 0.15
    """Share of the words that a pass leaves out."""
    company: float = 0.12
    """Share of the titles that get the name of another thing beside them."""
    noise: float = 0.15
    """Share of the titles that get a few words of other titles before their head."""
    deep: float = 0.5
    """Weight of the decisions below level two."""
    pull: float = 1e-3
    """Towards a word's first vector."""
    least_pairs: int = 4
    """Points that a pair of words needs to get a row: three for being in a name or an own title, two for a turned name, one for a phrase."""


@dataclass
class Model:
    rows: dict[int, int]
    """The row of each hashed word; row 0 is none."""
    table: np.ndarray
    weight: np.ndarray
    place_weight: np.ndarray
    out: np.ndarray
    bias: np.ndarray


MOST_FEATURES = 48


def encode(found: list[list[tuple[int, int]]], rows: dict[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows and places of each text's features, and how many there are."""
    numbers = np.zeros((len(found), MOST_FEATURES), np.int64)
    places = np.zeros_like(numbers)
    counts = np.zeros(len(found), np.int64)
    for at, text in enumerate(found):
        known = [(rows[hash_], place) for hash_, place in text if hash_ in rows][:MOST_FEATURES]
        counts[at] = len(known)
        for k, (row, place) in enumerate(known):
            numbers[at, k], places[at, k] = row, place
    return numbers, places, counts


def vocabulary(examples: list[Example], least_pairs: int) -> tuple[list[str], list[str]]:
    """The words of all examples, and pairs of words that occur often enough."""
    words: dict[str, None] = {}
    pairs: Counter[str] = Counter()
    for example in examples:
        names = example.kind in "CSX"
        points = 3 if names else 0 if example.kind == "M" else 1
        turned = 2 if names or example.kind == "F" else 1
        head = ""
        for role, part in features.parts(example.text):
            words.update(dict.fromkeys(part))
            for pair in zip(part, part[1:]):
                pairs[" ".join(pair)] += points
            if role == "thing":
                head = part[-1]
            elif role == "for" and head:
                for word in part:
                    pairs[f"{head} for {word}"] += turned
    return list(words), [pair for pair, count in pairs.items() if count >= least_pairs]


def train(examples: list[Example], taxonomy: Taxonomy, vectors: WordVectors, recipe: Recipe, seed: int) -> Model:
    words, pairs = vocabulary(examples, recipe.least_pairs)
    rows: dict[int, int] = {}
    for text in words + pairs:
        rows.setdefault(features.hashed(text), len(rows) + 1)
    start, project = _first_rows(words, pairs, rows, vectors, recipe.dims)
    tree = Tree.of(taxonomy)
    model = _first_model(rows, start, _names(taxonomy, vectors) @ project, tree)
    seen = tuple(np.full(n, x, np.float32) for n, x in ((len(start), 0.01), (len(start), 0), (features.PLACES, 1), (len(model.out), 0.01), (len(model.out), 0)))
    numbers, places, counts = encode([features.of_title(example.text) for example in examples], rows)
    labels = np.array([example.category for example in examples])
    shares = np.array([example.weight for example in examples], np.float32)
    names = np.array([at for at, example in enumerate(examples) if example.kind == "C" and counts[at] < 12])
    chance = np.random.default_rng(seed)
    for number in range(recipe.passes):
        rates = [recipe.rate * (1 - at / recipe.passes) for at in (number, number + 1)]
        loss = learn.train(
            chance.permutation(len(examples)), numbers, places, counts, labels, shares,
            tree.steps, tree.step_start, tree.options, tree.option_start,
            model.table, start, model.weight, model.place_weight, model.out, model.bias, seen,
            *rates, recipe.drop, recipe.company, names, recipe.noise, len(words), recipe.pull, recipe.deep, seed + number,
        )  # fmt: skip
        print(f"pass {number + 1}: loss {loss:.3f}", flush=True)
    return model


def _first_rows(words: list[str], pairs: list[str], rows: dict[int, int], vectors: WordVectors, dims: int) -> tuple[np.ndarray, np.ndarray]:
    """A word begins with its instant vector on the main axes, a pair with the mean of its words; also the projection."""
    of_word = {word: vectors.of_word(word) for word in words}
    full = np.zeros((len(rows) + 1, vectors.dims), np.float32)
    for pair in pairs:
        first, *_, last = pair.split(" ")
        full[rows[features.hashed(pair)]] = 0.5 * (of_word[first] + of_word[last])
    for word in words:
        full[rows[features.hashed(word)]] = of_word[word]
    full /= np.linalg.norm(full, axis=1).mean()
    project = np.linalg.svd(full[1 : len(words) + 1 : 3], full_matrices=False)[2][:dims].T
    start = full @ project
    return (start / np.linalg.norm(start, axis=1).mean()).astype(np.float32), project


def _names(taxonomy: Taxonomy, vectors: WordVectors) -> np.ndarray:
    found = np.zeros((len(taxonomy.ids), vectors.dims), np.float32)
    for at, path in enumerate(taxonomy.paths):
        for _, words in features.parts(path[-1]):
            for word in words:
                found[at] += vectors.of_word(word)
    return found / (np.linalg.norm(found, axis=1, keepdims=True) + 1e-6)


def _first_model(rows: dict[int, int], start: np.ndarray, names: np.ndarray, tree: Tree) -> Model:
    out = np.concatenate([names, names[tree.first]]).astype(np.float32)
    places = np.array([1, 0.5, 0, 0, 0, 0, -1, -1, -1], np.float32)
    return Model(rows, start.copy(), np.zeros(len(start), np.float32), places, out, np.zeros(len(out), np.float32))
