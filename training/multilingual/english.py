"""The instant encoder for English texts, as the service has it: targets of the training, and products to be found."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path

import numpy as np

from category.instant import WordVectors


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True).clip(1e-9)


def _is_punctuation(char: str) -> bool:
    return (char.isascii() and char.isprintable() and not char.isalnum() and char != " ") or unicodedata.category(char)[0] == "P"


def _is_cjk(char: str) -> bool:
    spans = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))
    return any(first <= ord(char) <= last for first, last in spans)


def basic_tokens(text: str) -> list[str]:
    """BERT's words before WordPiece, uncased."""
    spaced = []
    for char in text:
        if char.isspace():
            spaced.append(" ")
        elif char != "\ufffd" and unicodedata.category(char)[0] != "C":
            spaced.append(f" {char} " if _is_cjk(char) else char)
    plain = unicodedata.normalize("NFD", "".join(spaced))
    plain = "".join(char for char in plain if unicodedata.category(char) != "Mn").lower()
    return "".join(f" {char} " if _is_punctuation(char) else char for char in plain).split()


class English:
    def __init__(self, models: Path) -> None:
        self.words = WordVectors(models)
        self.dims = self.words.dims
        self._of_word = lru_cache(maxsize=None)(self.words.of_word)

    def sum(self, text: str) -> np.ndarray:
        """Of the rows; texts here are shorter than the 126 pieces that the service reads."""
        found = np.zeros(self.dims, np.float32)
        for token in basic_tokens(text):
            found += self._of_word(token)
        return found

    def encode(self, texts: list[str]) -> np.ndarray:
        return unit(np.stack([self.sum(text) for text in texts]))


def product_vectors(encode, titles: list[str], descriptions: list[str]) -> np.ndarray:
    """As the service forms them: the title has half of the weight."""
    wholes = [f"{title}. {text}" if text else title for title, text in zip(titles, descriptions)]
    return unit(encode(titles) + encode(wholes))
