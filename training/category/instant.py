"""The instant encoder's vectors of single words, with which the rows of the words begin."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .features import hashed


class WordVectors:
    def __init__(self, models: Path) -> None:
        self.pieces = {piece: at for at, piece in enumerate((models / "vocab.txt").read_text(encoding="utf-8").splitlines())}
        raw = (models / "instant.bin").read_bytes()
        self.dims, self.vocabulary, self.ngrams = (int(x) for x in np.frombuffer(raw, "<u4", 3, 8))
        rows = self.vocabulary + self.ngrams
        self.scales = np.frombuffer(raw, "<f4", rows, 32)
        self.table = np.frombuffer(raw, np.int8, rows * self.dims, 32 + 4 * rows).reshape(rows, self.dims)

    def of_word(self, word: str) -> np.ndarray:
        rows = self._word_pieces(word)
        if len(rows) > 1:
            spelled = f"<{word}>"
            grams = [spelled] + [spelled[i : i + n] for n in (3, 4, 5) for i in range(len(spelled) - n + 1)]
            rows = rows + [self.vocabulary + hashed(gram) % self.ngrams for gram in grams]
        return (self.table[rows].astype(np.float32) * self.scales[rows][:, None]).sum(0)

    def _word_pieces(self, word: str) -> list[int]:
        found: list[int] = []
        start = 0
        while start < len(word):
            ends = (end for end in range(len(word), start, -1) if ("##" if start else "") + word[start:end] in self.pieces)
            end = next(ends, None)
            if end is None:
                return []
            found.append(self.pieces[("##" if start else "") + word[start:end]])
            start = end
        return found
