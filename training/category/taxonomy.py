"""The taxonomy as a tree of numbered categories, parents before their children."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Taxonomy:
    ids: list[str]
    paths: list[list[str]]

    @staticmethod
    def read(path: Path) -> Taxonomy:
        """Shopify's order: depth first, so that a category and all below it are one range of numbers."""
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        paths = {row["id"]: row["path"].split(" > ") for row in rows}
        order = sorted(paths, key=lambda id_: (_numbers(id_)))
        return Taxonomy(order, [paths[id_] for id_ in order])

    @staticmethod
    def read_names(path: Path) -> Taxonomy:
        """The file that was exported: ids and names."""
        names = dict(line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
        above = {id_: ["-".join(id_.split("-")[: n + 1]) for n in range(id_.count("-") + 1)] for id_ in names}
        return Taxonomy(list(names), [[names[at] for at in above[id_]] for id_ in names])

    @cached_property
    def index(self) -> dict[str, int]:
        return {id_: at for at, id_ in enumerate(self.ids)}

    @cached_property
    def parents(self) -> np.ndarray:
        """The parent of each; a root is its own."""
        above = [id_.rsplit("-", 1)[0] if "-" in id_ else id_ for id_ in self.ids]
        return np.array([self.index[id_] for id_ in above])

    @cached_property
    def depths(self) -> np.ndarray:
        return np.array([len(path) for path in self.paths])

    def ancestors(self, at: int) -> list[int]:
        """From the root down to the category itself."""
        chain = [at]
        while self.parents[chain[-1]] != chain[-1]:
            chain.append(int(self.parents[chain[-1]]))
        return chain[::-1]

    @cached_property
    def chains(self) -> list[list[int]]:
        return [self.ancestors(at) for at in range(len(self.ids))]

    def above(self, depth: int) -> np.ndarray:
        """The ancestor of each at a depth, or the category itself where it is higher."""
        return np.array([chain[min(depth, len(chain)) - 1] for chain in self.chains])


def _numbers(id_: str) -> tuple:
    first, *rest = id_.split("-")
    return (first, *map(int, rest))
