"""Writes `multilingual.bin` and the texts of the agreement test in Rust, and reads the file as the service does.

Little-endian, no padding:

| bytes | what |
|---|---|
| 8 | `SKMULT01` |
| 8 × u32 | dims *d*, rows *n*, smallest n-gram 3, largest 5, smallest of dense scripts 1, largest 3, bits *b* of the filter of known words (a multiple of 8), probes *k* |
| 2 × f32 | constant of the votes, scale of the votes |
| *n* × u16 | scale of each row: the upper half of a 32-bit float |
| *n* × i8 | vote of each row: positive for "not English" |
| *n* × *d* × i8 | the rows; number × scale is the value |
| *b* / 8 | a Bloom filter of the words of all texts in other languages |

Which rows a text has is in spelling.py. Its vector is the sum of its rows, divided by its length. Whether it is English
is decided by the first words whose rows reach `VOTERS`: it is not if more than half of their letters are not Latin
(below U+0250, or U+1E00 to U+1EFF), or if the constant plus scale × the sum of their rows' votes is positive. A text
without rows is left to the English encoder.

A folded word that is not dense is known if all its bits are set: with h the FNV-1a of 64 bits over its UTF-8 bytes, l the
lower half of h and u the upper half with its lowest bit set, the bits (l + i × u) mod 2^32 mod *b* for i from 0 to *k* − 1;
bit j is bit j mod 8 of byte j / 8.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

from category.export import from_half, quantised

from . import spelling
from .english import unit
from .train import Model

MAGIC = b"SKMULT01"
HEADER = 8 + 8 * 4 + 2 * 4
GOLDEN_NUMBERS = 16
VOTE_MOST = 3.0
"""Larger votes are cut off, so that the others keep their precision as bytes."""
WORD_BITS = 12
PROBES = 8
"""Of the filter of known words: three of a thousand unknown words pass."""
MARGIN = 0.0
"""What the votes for another language must exceed; a larger one leaves more to the English encoder."""


def probes(word: str, bits: int) -> list[int]:
    state = spelling.fnv1a(word)
    low, step = state & 0xFFFFFFFF, state >> 32 | 1
    return [(low + probe * step & 0xFFFFFFFF) % bits for probe in range(PROBES)]


def word_filter(words: set[str]) -> bytes:
    bits = np.zeros((len(words) * WORD_BITS + 7) // 8 * 8, np.uint8)
    for word in words:
        bits[probes(word, len(bits))] = 1
    return np.packbits(bits, bitorder="little").tobytes()


def write(model: Model, words: set[str], path: Path) -> None:
    table, scales = quantised(model.table)
    votes = model.votes[:-1].clip(-VOTE_MOST, VOTE_MOST)
    vote_scale = float(np.abs(votes).max() / 127) or 1.0
    known = word_filter(words)
    sizes = (table.shape[1], len(table), spelling.NGRAMS[0], spelling.NGRAMS[-1], spelling.DENSE_NGRAMS[0], spelling.DENSE_NGRAMS[-1])
    with path.open("wb") as file:
        file.write(MAGIC)
        file.write(struct.pack("<8I", *sizes, 8 * len(known), PROBES))
        file.write(struct.pack("<2f", float(model.votes[-1]) - MARGIN, vote_scale))
        file.write(scales.tobytes())
        file.write(np.rint(votes / vote_scale).astype(np.int8).tobytes())
        file.write(table.tobytes())
        file.write(known)


class Multilingual:
    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        assert raw.startswith(MAGIC)
        self.dims, self.rows, *_, self.bits, _ = struct.unpack_from("<8I", raw, 8)
        self.constant, self.vote_scale = struct.unpack_from("<2f", raw, HEADER - 8)
        at = HEADER
        self.scales = from_half(np.frombuffer(raw, "<u2", self.rows, at))
        at += 2 * self.rows
        self.votes = np.frombuffer(raw, np.int8, self.rows, at)
        at += self.rows
        self.table = np.frombuffer(raw, np.int8, self.rows * self.dims, at).reshape(self.rows, self.dims)
        self.known = np.unpackbits(np.frombuffer(raw, np.uint8, offset=at + self.table.size), bitorder="little")

    def sum(self, text: str) -> np.ndarray:
        rows = spelling.text_rows(text, self.rows)
        return (self.table[rows].astype(np.float32) * self.scales[rows][:, None]).sum(0)

    def encode(self, texts: list[str]) -> np.ndarray:
        return unit(np.stack([self.sum(text) for text in texts]))

    def vote(self, text: str) -> float:
        """Positive if the rows say that the text is not English."""
        rows = [row for word in spelling.voters(text) for row in spelling.word_rows(word, self.rows)]
        return self.constant + self.vote_scale * int(self.votes[rows].astype(np.int64).sum())

    def is_foreign(self, text: str) -> bool:
        if not spelling.text_rows(text, self.rows):
            return False
        return not spelling.is_mostly_latin(spelling.voters(text)) or self.vote(text) > 0

    def knows(self, word: str) -> bool:
        return bool(self.known[probes(spelling.folded(word), self.bits)].all())


def write_golden(model: Multilingual, texts: list[str], path: Path) -> None:
    lines = []
    for text in texts:
        rows = spelling.text_rows(text, model.rows)
        vector = [round(float(x), 6) for x in model.encode([text])[0][:GOLDEN_NUMBERS]]
        known = [model.knows(word) for word in spelling.words(text) if not spelling.is_dense(word[0])]
        found = {"text": text, "rows": rows, "vote": round(model.vote(text), 4), "foreign": model.is_foreign(text), "known": known, "vector": vector}
        lines.append(json.dumps(found, ensure_ascii=False))
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
