"""Step "evaluate": how good is it? Dense scores only, no help from words.

The judged queries are read here and nowhere else: they are never trained on.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .corpus import RIGHTS, WISHES, WRONGS, read_wishes
from .measured import Encoder
from .phrases import Kind, Phrase, Split, plain, read_phrases
from .typos import with_typo

TYPO_ROUNDS = 5
"""Each query is misspelled this many times, and the mean is taken: one round alone moves by a point or two."""


def listing(product: dict[str, str]) -> str:
    """What the service embeds of a product."""
    description = product.get("description") or ""
    return f"{product['title']}. {description}" if description else product["title"]


def read_products(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_judgments(path: Path) -> dict[str, dict[int, float]]:
    judged: dict[str, dict[int, float]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            judged[row["query"]][int(row["product"])] = float(row["grade"])
    return dict(judged)


def best(scores: np.ndarray, count: int) -> np.ndarray:
    """Indices of the highest scores, best first; the earlier product wins a tie."""
    top = np.argpartition(-scores, min(count, len(scores) - 1))[:count]
    return top[np.lexsort((top, -scores[top]))]


def ndcg(ranked: Iterable[int], grades: dict[int, float], cut: int = 10) -> float:
    def gain(values: Iterable[float]) -> float:
        return sum((2**grade - 1) / np.log2(rank + 2) for rank, grade in enumerate(values))

    ideal = gain(sorted(grades.values(), reverse=True)[:cut])
    return gain(grades.get(int(product), 0.0) for product in ranked) / ideal if ideal else 0.0


@dataclass
class Catalog:
    """Products and what is asked of them; vectors are made once for each encoder."""

    titles: list[str]
    listings: list[str]
    vectors: dict[int, np.ndarray] = field(default_factory=dict)

    def of(self, encoder: Encoder) -> np.ndarray:
        if id(encoder) not in self.vectors:
            self.vectors[id(encoder)] = encoder.products(self.titles, self.listings)
        return self.vectors[id(encoder)]


@dataclass(frozen=True)
class Everyday:
    """A request in everyday words, and which titles are of the right kind."""

    query: str
    match: re.Pattern[str]
    exclude: re.Pattern[str] | None

    def fits(self, title: str) -> bool:
        return bool(self.match.search(title)) and not (self.exclude and self.exclude.search(title))


def read_everyday(path: Path) -> list[Everyday]:
    def starts_of_words(pattern: str) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{pattern})", re.IGNORECASE)

    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Everyday(row["query"], starts_of_words(row["match"]), starts_of_words(row["exclude"]) if row["exclude"] else None)
        for row in rows
    ]


class Examination:
    """All measures of an encoder. `without`: the group of departments whose wishes it was not trained on."""

    def __init__(self, data: Path, shared: Path, without: int | None = None) -> None:
        self.phrases: list[Phrase] = read_phrases(data / "shopper-phrases.tsv")
        wishes = read_wishes(data / WISHES)
        self.wishes = [(wish, right + wrong) for group, wish, right, wrong in wishes if group == without]
        said = {plain(phrase.text) for phrase in self.phrases} | {plain(wish) for _, wish, _, _ in wishes}
        self.everyday = read_everyday(data / "everyday-requests.tsv")
        self.unsaid = [plain(request.query) not in said for request in self.everyday]
        self.catalogs: dict[str, Catalog] = {}
        self.judged: dict[str, dict[str, dict[int, float]]] = {}
        for name, products in (
            ("store", "catalogs/store"),
            ("general", "relevance/general-products"),
            ("home", "relevance/home-products"),
        ):
            path = shared / f"{products}.jsonl.gz"
            if path.exists():
                loaded = read_products(path)
                self.catalogs[name] = Catalog([product["title"] for product in loaded], [listing(p) for p in loaded])
        for name in ("general-dev", "home-dev", "home-typos-dev-judgments"):
            path = shared / f"relevance/{name}.tsv"
            if path.exists():
                self.judged[name] = read_judgments(path)
        titles = [p.text for p in self.phrases if p.split == Split.HELD_TYPE and p.kind == Kind.TITLE]
        self.held_titles = Catalog(titles, titles)

    def measures(self, encoder: Encoder) -> dict[str, float]:
        """Name of the measure to its value, in the order of the table."""
        result = {"held-out types": self.held_types(encoder)}
        if "general-dev" in self.judged:
            judged = self.judged["general-dev"]
            result["general"] = self.ranking(encoder, "general", list(judged), list(judged.values()))
            queries = [with_typo(q, random.Random(f"{q} {r}")) for r in range(TYPO_ROUNDS) for q in judged]
            result["general, typo"] = self.ranking(encoder, "general", queries, list(judged.values()) * TYPO_ROUNDS)
        if "home-dev" in self.judged:
            judged = self.judged["home-dev"]
            result["home"] = self.ranking(encoder, "home", list(judged), list(judged.values()))
            judged = self.judged["home-typos-dev-judgments"]
            result["home, misspelled"] = self.ranking(encoder, "home", list(judged), list(judged.values()))
        if "store" in self.catalogs:
            right = self.everyday_precision(encoder)
            result["everyday"] = float(right[self.unsaid].mean())
            result["everyday, all"] = float(right.mean())
        if self.wishes:
            result["wishes"] = self.pairs_in_order(encoder)
        return result

    def pairs_in_order(self, encoder: Encoder) -> float:
        """Share of the pairs of a right and a tempting wrong title of which the right one is nearer to the wish."""
        asked = encoder.encode([wish for wish, _ in self.wishes])
        titles = encoder.encode([title for _, titles in self.wishes for title in titles])
        scores = np.einsum("wd,wtd->wt", asked, titles.reshape(len(asked), RIGHTS + WRONGS, -1))
        return float((scores[:, :RIGHTS, None] > scores[:, None, RIGHTS:]).mean())

    def held_types(self, encoder: Encoder) -> float:
        questions = [p for p in self.phrases if p.split == Split.HELD_TYPE and p.kind in (Kind.SYNONYM, Kind.NEED)]
        answers = [p.type for p in self.phrases if p.split == Split.HELD_TYPE and p.kind == Kind.TITLE]
        found = (encoder.encode([q.text for q in questions]) @ self.held_titles.of(encoder).T).argmax(1)
        return float(np.mean([answers[answer] == q.type for answer, q in zip(found, questions)]))

    def ranking(
        self, encoder: Encoder, catalog: str, queries: list[str], judged: list[dict[int, float]]
    ) -> float:
        products = self.catalogs[catalog].of(encoder)
        values = []
        for start in range(0, len(queries), 256):
            scores = encoder.encode(queries[start : start + 256]) @ products.T
            values += [ndcg(best(row, 10), grades) for row, grades in zip(scores, judged[start : start + 256])]
        return float(np.mean(values))

    def everyday_precision(self, encoder: Encoder) -> np.ndarray:
        """Share of the first five that are of the right kind, for each request."""
        store = self.catalogs["store"]
        scores = encoder.encode([request.query for request in self.everyday]) @ store.of(encoder).T
        return np.array(
            [
                np.mean([request.fits(store.titles[i]) for i in best(row, 5)])
                for request, row in zip(self.everyday, scores)
            ]
        )


def table(rows: dict[str, dict[str, float]]) -> str:
    """The measures as a Markdown table, encoders down, measures across."""
    names = list(next(iter(rows.values())))
    lines = ["| vectors | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| {row} | " + " | ".join(f"{values[name]:.3f}" for name in names) + " |" for row, values in rows.items()]
    return "\n".join(lines)
