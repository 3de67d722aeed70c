"""The exported model, as the service reads it, and its figures on held-out titles."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from . import features, learn
from .examples import Example
from .export import MAGIC, from_half
from .taxonomy import Taxonomy
from .train import encode

BRANCH = 0.4
"""As in the service: below level two the answer is the deepest category with this share of its parent."""


class Exported:
    def __init__(self, path: Path, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        raw = path.read_bytes()
        assert raw.startswith(MAGIC)
        at = len(MAGIC)

        def take(kind: str, count: int) -> np.ndarray:
            nonlocal at
            found = np.frombuffer(raw, kind, count, at)
            at += found.nbytes
            return found

        dims, words, categories, first = (int(x) for x in take("<u4", 4))
        factors = take("<f4", features.PLACES + 1)
        self.place_weight, self.merchant = np.log(factors[:-1]), float(factors[-1])
        self.rows = {int(hash_): row for row, hash_ in enumerate(take("<u4", words))}
        self.weight = np.log(from_half(take("<u2", words)))
        scales = from_half(take("<u2", words))
        self.table = take("i1", words * dims).reshape(words, dims) * scales[:, None]
        self.first = take("<u2", first)
        halves = from_half(take("<u2", 2 * (categories + first))).reshape(-1, 2)
        self.out = take("i1", (categories + first) * dims).reshape(-1, dims) * halves[:, :1]
        self.bias = halves[:, 1]
        self.children: list[list[int]] = [[] for _ in taxonomy.ids]
        for category, parent in enumerate(taxonomy.parents):
            if parent != category:
                self.children[parent].append(category)

    def vectors(self, texts: list[list[tuple[int, int]]]) -> np.ndarray:
        return learn.vectors(*encode(texts, self.rows), self.table, self.weight, self.place_weight)

    def answer(self, vector: np.ndarray) -> tuple[int, float]:
        """The category, and the probability of its ancestor of level two."""
        shares = _softmax(self.out[len(self.taxonomy.ids) :] @ vector + self.bias[len(self.taxonomy.ids) :])
        best = int(shares.argmax())
        category = int(self.first[best])
        while len(children := self.children[category]) > 1:
            parts = _softmax(self.out[children] @ vector + self.bias[children])
            if parts.max() < BRANCH:
                break
            category = children[int(parts.argmax())]
        return category, float(shares[best])


def _softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def report(models: Path, taxonomy: Taxonomy, held: list[Example]) -> None:
    exported = Exported(models / "category.bin", taxonomy)
    level_two = parent = leaf = 0
    for example, vector in zip(held, exported.vectors([features.of_title(example.text) for example in held])):
        answer, _ = exported.answer(vector)
        above, wanted = taxonomy.chains[answer], taxonomy.chains[example.category]
        level_two += above[:2] == wanted[:2]
        parent += int(taxonomy.parents[example.category]) in above
        leaf += answer == example.category
    print(f"held-out titles: level two {level_two / len(held):.3f}, parent {parent / len(held):.3f}, leaf {leaf / len(held):.3f}")
