"""Step "prepare": from phrases, product texts and pairs to one file of token ids.

Tokenising inside the training loop once cost ten times the accelerator's own time, so all of it happens here: every
text, every misspelling and every snippet is tokenised once, and training only gathers numbers.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import os
import random
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from .phrases import Kind, Phrase, Split, plain, read_phrases
from .typos import with_typo
from .wording import Wording

WISHES = "wishes.jsonl"
"""Wishes with three right titles and four tempting wrong ones: eight groups of departments, as many lines of each."""
WISH_GROUPS = 8
RIGHTS, WRONGS = 3, 4

PHRASE_TYPOS = 4
TEXT_TYPOS = 2
LONGEST_WITH_TYPO = 10
"""Only query-like texts, up to this many words, get misspelled: nobody types a description."""

SNIPPET_WORDS = (1, 6)
DESCRIPTION_WORDS = 15
"""A pair's right side of this many words or more, beside a shorter left side, is a description."""

DEV_EVERY = 50
"""One text in fifty is never trained on and tells whether the teacher's knowledge survives."""


@dataclass
class Prepared:
    """All texts as ragged rows of ids, and which text plays which part. Every field is one array of the file."""

    tokens: np.ndarray
    token_ends: np.ndarray
    phrase_text: np.ndarray
    phrase_type: np.ndarray
    phrase_kind: np.ndarray
    phrase_split: np.ndarray
    phrase_typos: np.ndarray
    types: np.ndarray
    pairs: np.ndarray
    pool: np.ndarray
    """Texts whose meaning the teacher knows: titles, names, glosses, snippets."""
    pool_typos: np.ndarray
    """The pool's misspellings, -1 where a text has none."""
    pool_dev: np.ndarray
    listings: np.ndarray
    """(title, "title. description") of the same product."""
    wishes: np.ndarray
    """A wish, its right titles, its tempting wrong ones."""
    wish_typos: np.ndarray
    wish_group: np.ndarray
    """The group of departments of each wish."""

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **{field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: Path) -> Prepared:
        with np.load(path) as file:
            return cls(**{field.name: file[field.name] for field in fields(cls)})


class _Texts:
    """Gives each distinct text one number."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._index: dict[str, int] = {}

    def add(self, text: str) -> int:
        index = self._index.setdefault(text, len(self.all))
        if index == len(self.all):
            self.all.append(text)
        return index

    def add_typo(self, text: str, chance: random.Random) -> int:
        return self.add(with_typo(text, chance))


def read_evaluation_texts(shared: Path) -> set[str]:
    """Every title and description of the catalogs we measure on, so that none of them is trained on."""
    seen: set[str] = set()
    for name in ("catalogs/store", "relevance/general-products", "relevance/home-products"):
        path = shared / f"{name}.jsonl.gz"
        if path.exists():
            with gzip.open(path, "rt", encoding="utf-8") as file:
                for line in file:
                    product = json.loads(line)
                    seen.add(plain(product["title"]))
                    if product.get("description"):
                        seen.add(plain(product["description"]))
    return seen


def read_wishes(path: Path) -> list[tuple[int, str, list[str], list[str]]]:
    """(group of departments, wish, right titles, wrong titles)"""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    size = len(lines) // WISH_GROUPS
    return [(i // size, line["wish"], line["right"], line["wrong"]) for i, line in enumerate(lines)]


def prepare(
    phrases_path: Path, shared: Path, wording: Wording, seed: int, limit: int | None = None, snippets: int = 300_000
) -> Prepared:
    """Read everything, leave out what is kept back, misspell, snip and tokenise. `limit` makes a tiny corpus for tests."""
    chance = random.Random(seed)
    texts = _Texts()
    phrases = read_phrases(phrases_path, limit_types=limit)
    types = list(dict.fromkeys(phrase.type for phrase in phrases))
    type_index = {type_: i for i, type_ in enumerate(types)}
    phrase_text = [texts.add(phrase.text) for phrase in phrases]
    phrase_typos = [_phrase_typos(phrase.text, texts, chance) for phrase in phrases]

    source = json.loads(gzip.decompress((shared / "training/train.json.gz").read_bytes()))
    kept_back = read_evaluation_texts(shared) | {
        plain(phrase.text).replace(" > ", " ") for phrase in phrases if phrase.split != Split.TRAIN
    }
    loose = [text for text in source["texts"][: limit and limit * 20] if plain(text) not in kept_back]
    pairs = [
        (left, right)
        for left, right in source["pairs"][: limit and limit * 20]
        if plain(left) not in kept_back and plain(right) not in kept_back and plain(left) != plain(right)
    ]
    print(f"{len(phrases)} phrases of {len(types)} types, {len(loose)} texts, {len(pairs)} pairs", flush=True)

    pool = dict.fromkeys(texts.add(text) for text in loose)
    pair_index = []
    listings = []
    for left, right in pairs:
        pair_index.append((texts.add(left), texts.add(right)))
        pool.update(dict.fromkeys(pair_index[-1]))
        if len(right.split()) >= DESCRIPTION_WORDS > len(left.split()):
            listings.append((texts.add(left), texts.add(f"{left}. {right}")))
    pool.update(
        (text, None)
        for text, phrase in zip(phrase_text, phrases)
        if phrase.split == Split.TRAIN and phrase.kind == Kind.TITLE
    )
    pool.update((texts.add(_snippet(texts.all[i], chance)), None) for i in chance.choices(list(pool), k=snippets))
    pool_typos = [_text_typos(texts.all[i], texts, chance) for i in pool]
    wishes = [wish for wish in read_wishes(phrases_path.with_name(WISHES)) if plain(wish[1]) not in kept_back][: limit]
    print(f"{len(texts.all)} distinct texts, {len(pool)} in the pool, {len(listings)} listings, {len(wishes)} wishes; tokenising", flush=True)
    wish_texts = [[texts.add(text) for text in (wish, *right, *wrong)] for _, wish, right, wrong in wishes]
    wish_typos = [_phrase_typos(wish, texts, chance) for _, wish, _, _ in wishes]

    tokens, token_ends = _tokenise(texts.all, wording)
    everything = np.arange(len(pool))
    return Prepared(
        tokens=tokens,
        token_ends=token_ends,
        phrase_text=np.array(phrase_text, np.int64),
        phrase_type=np.array([type_index[phrase.type] for phrase in phrases], np.int64),
        phrase_kind=np.array([phrase.kind for phrase in phrases], np.int64),
        phrase_split=np.array([phrase.split for phrase in phrases], np.int64),
        phrase_typos=np.array(phrase_typos, np.int64),
        types=np.array(types),
        pairs=np.array(pair_index, np.int64).reshape(-1, 2),
        pool=np.array(list(pool), np.int64),
        pool_typos=np.array(pool_typos, np.int64),
        pool_dev=everything[everything % DEV_EVERY == 0],
        listings=np.array(listings, np.int64).reshape(-1, 2),
        wishes=np.array(wish_texts, np.int64),
        wish_typos=np.array(wish_typos, np.int64),
        wish_group=np.array([group for group, *_ in wishes], np.int64),
    )


def _phrase_typos(text: str, texts: _Texts, chance: random.Random) -> list[int]:
    return [texts.add_typo(text, chance) for _ in range(PHRASE_TYPOS)]


def _text_typos(text: str, texts: _Texts, chance: random.Random) -> list[int]:
    if len(text.split(" ")) > LONGEST_WITH_TYPO:
        return [-1] * TEXT_TYPOS
    return [texts.add_typo(text, chance) for _ in range(TEXT_TYPOS)]


def _snippet(text: str, chance: random.Random) -> str:
    """A few words in a row: what a shopper might type of a title, and new food for distillation."""
    words = text.split()
    length = min(len(words), chance.randint(*SNIPPET_WORDS))
    start = chance.randint(0, len(words) - length)
    return " ".join(words[start : start + length])


def _tokenise(texts: list[str], wording: Wording) -> tuple[np.ndarray, np.ndarray]:
    """All texts' tokens and where each text's end, by as many processes as there are cores."""
    global _wording
    _wording = wording
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    chunks = [texts[start : start + 20_000] for start in range(0, len(texts), 20_000)]
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as workers:
        tokens, lengths = zip(*workers.imap(_tokenise_chunk, chunks))
    return np.concatenate(tokens), np.concatenate(lengths).cumsum()


_wording: Wording | None = None
"""Inherited by the worker processes."""


def _tokenise_chunk(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    assert _wording is not None
    tokens = [_wording.tokens(one) for one in _wording.pieces(texts)]
    lengths = np.array([len(one) for one in tokens], np.int64)
    return np.fromiter((value for one in tokens for value in one), np.int32, int(lengths.sum())), lengths
