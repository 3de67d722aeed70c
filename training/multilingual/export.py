"""Writes `multilingual.bin` and the texts of the agreement test in Rust, and reads the file as the service does.

Little-endian, no padding:

| bytes | what |
|---|---|
| 8 | `SKMULT01` |
| 6 × u32 | dims *d*, rows *n*, smallest n-gram 3, largest 5, smallest of dense scripts 1, largest 3 |
| 2 × f32 | constant of the votes, scale of the votes |
| *n* × u16 | scale of each row: the upper half of a 32-bit float |
| *n* × i8 | vote of each row: positive for "not English" |
| *n* × *d* × i8 | the rows; number × scale is the value |

Which rows a text has is in spelling.py. Its vector is the sum of its rows, divided by its length. It is not English if
more than half of its letters are not Latin (below U+0250, or U+1E00 to U+1EFF), or if the constant plus scale × the sum
of its rows' votes is positive. A text without rows is left to the English encoder.
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
HEADER = 8 + 6 * 4 + 2 * 4
GOLDEN_NUMBERS = 16
VOTE_MOST = 3.0
"""Larger votes are cut off, so that the others keep their precision as bytes."""
MARGIN = 0.0
"""What the votes for another language must exceed; a larger one leaves more to the English encoder."""


def write(model: Model, path: Path) -> None:
    table, scales = quantised(model.table)
    votes = model.votes[:-1].clip(-VOTE_MOST, VOTE_MOST)
    vote_scale = float(np.abs(votes).max() / 127) or 1.0
    with path.open("wb") as file:
        file.write(MAGIC)
        file.write(struct.pack("<6I", table.shape[1], len(table), spelling.NGRAMS[0], spelling.NGRAMS[-1], spelling.DENSE_NGRAMS[0], spelling.DENSE_NGRAMS[-1]))
        file.write(struct.pack("<2f", float(model.votes[-1]) - MARGIN, vote_scale))
        file.write(scales.tobytes())
        file.write(np.rint(votes / vote_scale).astype(np.int8).tobytes())
        file.write(table.tobytes())


class Multilingual:
    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        assert raw.startswith(MAGIC)
        self.dims, self.rows, *_ = struct.unpack_from("<6I", raw, 8)
        self.constant, self.vote_scale = struct.unpack_from("<2f", raw, 32)
        at = HEADER
        self.scales = from_half(np.frombuffer(raw, "<u2", self.rows, at))
        at += 2 * self.rows
        self.votes = np.frombuffer(raw, np.int8, self.rows, at)
        at += self.rows
        self.table = np.frombuffer(raw, np.int8, self.rows * self.dims, at).reshape(self.rows, self.dims)

    def sum(self, text: str) -> np.ndarray:
        rows = spelling.text_rows(text, self.rows)
        return (self.table[rows].astype(np.float32) * self.scales[rows][:, None]).sum(0)

    def encode(self, texts: list[str]) -> np.ndarray:
        return unit(np.stack([self.sum(text) for text in texts]))

    def vote(self, text: str) -> float:
        """Positive if the rows say that the text is not English."""
        rows = spelling.text_rows(text, self.rows)
        return self.constant + self.vote_scale * int(self.votes[rows].astype(np.int64).sum())

    def is_foreign(self, text: str) -> bool:
        if not spelling.text_rows(text, self.rows):
            return False
        return not spelling.is_mostly_latin(text) or self.vote(text) > 0


def write_golden(model: Multilingual, texts: list[str], path: Path) -> None:
    lines = []
    for text in texts:
        rows = spelling.text_rows(text, model.rows)
        vector = [round(float(x), 6) for x in model.encode([text])[0][:GOLDEN_NUMBERS]]
        lines.append(json.dumps({"text": text, "rows": rows, "vote": round(model.vote(text), 4), "foreign": model.is_foreign(text), "vector": vector}, ensure_ascii=False))
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
