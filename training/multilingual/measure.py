"""How good is it? Vectors alone, on judged queries that nothing was trained on, and on names of held-out types."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from .english import English, product_vectors, unit
from .examples import Examples, rows
from .export import Multilingual

Encode = Callable[[list[str]], np.ndarray]
EncodeProducts = Callable[[list[str], list[str]], np.ndarray]
SHOPS = ("de", "fr", "es", "ja")


def judgments(path: Path) -> dict[str, dict[str, float]]:
    judged: dict[str, dict[str, float]] = defaultdict(dict)
    for row in rows(path):
        judged[row["query"]][row["product"]] = max(0.0, float(row["grade"]))
    return dict(judged)


def ndcg(ranked: list[str], grades: dict[str, float], cut: int = 10) -> float:
    def gain(values: Iterable[float]) -> float:
        return sum((2**grade - 1) / np.log2(rank + 2) for rank, grade in enumerate(values))

    ideal = gain(sorted(grades.values(), reverse=True)[:cut])
    return gain(grades.get(product, 0.0) for product in ranked[:cut]) / ideal if ideal else 0.0


def precision(ranked: list[str], grades: dict[str, float], cut: int = 5) -> float:
    """The share of right products among the first, of as many as there are."""
    right = {product for product, grade in grades.items() if grade > 0}
    return sum(product in right for product in ranked[:cut]) / min(cut, len(right)) if right else 0.0


def demo_products(root: Path) -> tuple[list[str], list[str], list[str]]:
    """Keys, titles and descriptions of what is not hidden."""
    found = [row for path in sorted((root / "demo/catalog").glob("*.tsv")) for row in rows(path) if not row.get("hidden")]
    return [row["key"] for row in found], [row["title"] for row in found], [row["description"] for row in found]


def figures(queries: list[str], judged: dict[str, dict[str, float]], encode: Encode, keys: list[str], products: np.ndarray) -> tuple[float, float]:
    scores = encode(queries) @ products.T
    ranked = [[keys[at] for at in np.argsort(-one, kind="stable")[:10]] for one in scores]
    pairs = [(ndcg(one, judged[query]), precision(one, judged[query])) for one, query in zip(ranked, queries)]
    return float(np.mean([a for a, _ in pairs])), float(np.mean([b for _, b in pairs]))


class Examination:
    def __init__(self, root: Path) -> None:
        self.folder = root / "judgments/languages"
        self.english = English(root / "models")
        self.keys, titles, descriptions = demo_products(root)
        self.products = product_vectors(self.english.encode, titles, descriptions)
        self.shared = rows(self.folder / "shared.tsv")
        self.languages = [language for language in self.shared[0] if language != "en"]

    def demo(self, encode: Encode) -> dict[str, list[float]]:
        """By language: NDCG@10 and precision@5 of all its queries, of the shared ones, and of those in English."""
        table = {}
        english = judgments(self.folder / "en.tsv")
        for language in self.languages:
            judged = judgments(self.folder / f"{language}.tsv")
            both = [(row[language], row["en"]) for row in self.shared if row[language]]
            table[language] = [
                *figures(list(judged), judged, encode, self.keys, self.products),
                *figures([own for own, _ in both], judged, encode, self.keys, self.products),
                *figures([other for _, other in both], english, self.english.encode, self.keys, self.products),
            ]
        return table

    def shop(self, language: str, queries: Encode, products: EncodeProducts) -> tuple[float, float]:
        found = [json.loads(line) for line in (self.folder / f"shop-{language}.jsonl").read_text(encoding="utf-8").splitlines()]
        vectors = products([one["title"] for one in found], [one.get("description") or "" for one in found])
        judged = judgments(self.folder / f"shop-{language}.tsv")
        return figures(list(judged), judged, queries, [one["key"] for one in found], vectors)


def by_rule(model: Multilingual, english: English) -> Encode:
    """Each text by the encoder that the votes choose."""
    return lambda texts: unit(np.stack([model.sum(text) if model.is_foreign(text) else english.sum(text) for text in texts]))


def products_by_rule(model: Multilingual, english: English) -> EncodeProducts:
    """The whole text decides for title and description."""

    def vectors(titles: list[str], descriptions: list[str]) -> np.ndarray:
        foreign = [model.is_foreign(f"{title}. {text}" if text else title) for title, text in zip(titles, descriptions)]
        other, own = (product_vectors(encode, titles, descriptions) for encode in (model.encode, english.encode))
        return np.where(np.array(foreign)[:, None], other, own)

    return vectors


def print_demo(table: dict[str, list[float]], name: str) -> float:
    print(f"{name}: all queries NDCG P@5, shared NDCG P@5, English NDCG P@5, shares of English")
    for language, found in table.items():
        print(f"  {language} " + " ".join(f"{x:.3f}" for x in found) + f"  {found[2] / found[4]:.2f} {found[3] / found[5]:.2f}")
    shares = [found[2] / found[4] for found in table.values()]
    print(f"  mean share {np.mean(shares):.3f} NDCG, {np.mean([f[3] / f[5] for f in table.values()]):.3f} P@5, least {min(shares):.3f}; mean NDCG {np.mean([f[0] for f in table.values()]):.3f} P@5 {np.mean([f[1] for f in table.values()]):.3f}", flush=True)
    return float(np.mean(shares))


def held_out(examples: Examples, encode: Encode) -> dict[str, float]:
    """By language: how often a name of a held-out type finds the type's English name first, among those of all types."""
    types = list(examples.names)
    number = {type_: at for at, type_ in enumerate(types)}
    names = unit(examples.targets[[examples.names[type_] for type_ in types]])
    asked = defaultdict(list)
    for example in examples.held:
        if example.kind == "C" and example.language != "en" and not example.type.startswith(("everyday:", "plain:")):
            asked[example.language].append(example)
    shares = {}
    for language, found in sorted(asked.items()):
        best = (encode([example.text for example in found]) @ names.T).argmax(1)
        shares[language] = float(np.mean([float(names[at] @ names[number[example.type]]) > 0.999 for at, example in zip(best, found)]))
    return shares


def held_out_titles(examples: Examples, encode: Encode, english: Encode) -> dict[str, float]:
    """By language: how often a phrase of a held-out type finds one of its English titles first, among those of all held-out types."""
    titles = [example for example in examples.held if example.kind == "T"]
    if not titles:
        return {}
    spoken = {example.type for example in titles}
    found = english([title.text for title in titles])
    asked = defaultdict(list)
    for example in examples.held:
        if example.type in spoken and example.kind in "SN":
            asked[example.language].append(example)
    shares = {}
    for language, questions in sorted(asked.items()):
        best = ((english if language == "en" else encode)([one.text for one in questions]) @ found.T).argmax(1)
        shares[language] = float(np.mean([titles[at].type == one.type for at, one in zip(best, questions)]))
    return shares


def english_share(model: Multilingual, texts: list[str]) -> float:
    """How many English texts the rule leaves to the English encoder."""
    return float(np.mean([not model.is_foreign(text) for text in texts]))
