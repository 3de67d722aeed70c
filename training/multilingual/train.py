"""Training, start to finish: texts as rows, passes over the examples, and the votes for English."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import numpy as np

from shopper.phrases import plain
from shopper.typos import with_typo

from . import learn, spelling
from .english import unit
from .examples import Example, Examples


UNSEEN = np.float32(1e-6)
"""Adagrad's number of a row that no text has."""


@dataclass(frozen=True)
class Recipe:
    rows: int = 1 << 17
    passes: int = 4
    batch: int = 1024
    rate: float = 0.03
    first: float = 0.005
    """Spread of the rows at the beginning."""
    temperature: float = 0.05
    cosine: float = 4.0
    """Weight of the direction beside the choice among the other targets of the batch."""
    twins: float = 0.85
    """Targets more alike than this are no wrong answers to each other."""
    drop_words: float = 0.1
    drop_rows: float = 0.15
    attributes: float = 0.3
    """Share of the texts that get an attribute or an empty word beside them; a third of those get two."""
    vote_passes: int = 4
    vote_rate: float = 0.1
    vote_pull: float = 1e-4


@dataclass
class Model:
    table: np.ndarray
    votes: np.ndarray
    """Of each row for "not English", and the constant."""


class Texts:
    """Texts as words and words as rows, in flat arrays."""

    def __init__(self, texts: list[str], rows: int) -> None:
        numbers: dict[str, int] = {}
        of_words: list[list[int]] = []
        in_text: list[int] = []
        self.text_start = np.zeros(len(texts) + 1, np.int64)
        for at, text in enumerate(texts):
            for word in spelling.words(text):
                if word not in numbers:
                    numbers[word] = len(of_words)
                    of_words.append(spelling.word_rows(word, rows))
                in_text.append(numbers[word])
            self.text_start[at + 1] = len(in_text)
        self.text_words = np.array(in_text, np.int32)
        self.word_start = np.concatenate([[0], np.cumsum([len(one) for one in of_words])]).astype(np.int64)
        self.word_rows = np.array([row for one in of_words for row in one], np.int32)

    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.text_start, self.text_words, self.word_start, self.word_rows


def train(examples: Examples, recipe: Recipe, seed: int, look=None) -> Model:
    chance = np.random.default_rng(seed)
    trained = examples.trained
    beside = [(language, text, means) for language, found in examples.attributes.items() for text, means in found]
    texts = Texts([example.text for example in trained] + [text for _, text, _ in beside], recipe.rows)
    usable = np.array([at for at in range(len(trained)) if texts.text_start[at + 1] > texts.text_start[at]])
    weights = np.array([trained[at].weight for at in usable])
    targets = np.array([example.target for example in trained])
    extras = _Beside(trained, beside, recipe.attributes)
    table = chance.normal(0, recipe.first, (recipe.rows, examples.targets.shape[1])).astype(np.float32)
    seen = np.full(recipe.rows, UNSEEN, np.float32)
    whole = weights.astype(np.int64)
    steps_done, steps = 0, recipe.passes * int(weights.sum()) // recipe.batch
    for number in range(recipe.passes):
        order = chance.permutation(np.repeat(usable, whole + (chance.random(len(usable)) < weights - whole)))
        began, losses = time.monotonic(), []
        for part in np.array_split(order, max(1, len(order) // recipe.batch)):
            rate = recipe.rate * max(0.02, 1 - steps_done / steps)
            chosen, means = extras.choose(part, chance)
            wanted = unit(examples.targets[targets[part]] + means)
            rows, start = learn.gather(part, chosen, *texts.arrays(), recipe.drop_words, recipe.drop_rows, int(chance.integers(1 << 31)))
            losses.append(_step(rows, start, wanted, table, seen, rate, recipe))
            steps_done += 1
        print(f"pass {number + 1}: loss {np.mean(losses):.3f}, {len(order):,} texts, {time.monotonic() - began:.0f} s", flush=True)
        if look:
            look(table)
    table[seen == UNSEEN] = 0
    return Model(table, learn_votes(trained, [text for _, text, _ in beside], recipe, seed))


def _step(rows: np.ndarray, start: np.ndarray, wanted: np.ndarray, table: np.ndarray, seen: np.ndarray, rate: float, recipe: Recipe) -> float:
    sums = learn.sums(rows, start, table)
    length = np.linalg.norm(sums, axis=1, keepdims=True).clip(1e-6)
    vectors = sums / length
    scores = vectors @ wanted.T
    right = np.diagonal(scores).copy()
    twins = wanted @ wanted.T > recipe.twins
    np.fill_diagonal(twins, False)
    scores /= recipe.temperature
    scores[twins] = -1e4
    scores -= scores.max(1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(1, keepdims=True)
    own = np.diagonal(scores).copy()
    np.fill_diagonal(scores, own - 1 - recipe.temperature * recipe.cosine)
    grads = scores @ wanted / recipe.temperature
    grads -= vectors * (grads * vectors).sum(1, keepdims=True)
    learn.update(rows, start, grads / length, table, seen, rate)
    return float(np.mean(-np.log(own.clip(1e-9)) + recipe.cosine * (1 - right)))


class _Beside:
    """Attribute words of the text's own language, which move the target as the English words do."""

    def __init__(self, trained: list[Example], beside: list[tuple[str, str, np.ndarray]], share: float) -> None:
        self.share, self.first = share, len(trained)
        self.means = np.stack([means for *_, means in beside]) if beside else np.zeros((1, 1), np.float32)
        own: dict[str, list[int]] = {}
        for at, (language, *_) in enumerate(beside):
            own.setdefault(language, []).append(at)
        numbers = {language: number for number, language in enumerate(own)}
        self.language = np.array([numbers.get(example.language, -1) for example in trained])
        self.own = [np.array(found) for found in own.values()]

    def choose(self, part: np.ndarray, chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        chosen = np.full((len(part), 2), -1, np.int64)
        means = np.zeros((len(part), self.means.shape[1]), np.float32)
        for place, share in ((0, self.share), (1, self.share / 3)):
            taken = (chance.random(len(part)) < share) & (self.language[part] >= 0)
            for language, own in enumerate(self.own):
                which = np.nonzero(taken & (self.language[part] == language))[0]
                words = chance.choice(own, len(which))
                chosen[which, place] = self.first + words
                means[which] += self.means[words]
        return chosen, means


def learn_votes(trained: list[Example], beside: list[str], recipe: Recipe, seed: int) -> np.ndarray:
    """English texts and their words, as they are and misspelled, against all others; what is also English is none of the others."""
    draw = random.Random(seed)
    english = list(dict.fromkeys(example.text for example in trained if example.language == "en"))
    english_words = list(dict.fromkeys(word for text in english for word in spelling.words(text)))
    known = {plain(text) for text in english} | set(english_words)
    foreign = [example.text for example in trained if example.language != "en"] + beside
    others = list(dict.fromkeys(text for text in foreign if plain(text) not in known))
    other_words = [word for word in dict.fromkeys(word for text in others for word in spelling.words(text)) if word not in known]
    english += english_words
    others += other_words
    labels = np.array([0] * (2 * len(english)) + [1] * len(others))
    weights = np.where(labels, 1.0, len(others) / (2 * len(english)))
    coded = Texts(english + [with_typo(text, draw) for text in english] + others, recipe.rows)
    votes, seen = np.zeros(recipe.rows + 1), np.full(recipe.rows + 1, 1e-3)
    chance = np.random.default_rng(seed)
    for number in range(recipe.vote_passes):
        rate = recipe.vote_rate * (1 - number / recipe.vote_passes)
        loss = learn.learn_votes(chance.permutation(len(labels)), labels, weights, *coded.arrays(), votes, seen, rate, recipe.vote_pull)
        print(f"votes, pass {number + 1}: loss {loss:.4f}", flush=True)
    return votes.astype(np.float32)
