"""Step "phrasebook": what shoppers say, and where the things lie that they mean by it.

The service looks up the phrases nearest to a query and leans toward what they stand for. That is a memory beside the
model's weights: a new phrase counts as soon as this file is made anew, without training.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from .measured import Encoder, unit
from .phrases import Kind, Phrase, plain

MAGIC = b"SKPHRA01"
SAID = (Kind.NAME, Kind.SYNONYM, Kind.NEED)
"""What a shopper says of a thing."""
SOLD = (Kind.NAME, Kind.TITLE)
"""What a shop calls it."""


def write_phrasebook(phrases: Iterable[Phrase], encoder: Encoder, path: Path) -> tuple[int, int]:
    """Header, the type of each phrase, each phrase's vector, each type's vector; see README.md, "phrases.bin"."""
    phrases = list(phrases)
    numbers = {type_: number for number, type_ in enumerate(dict.fromkeys(phrase.type for phrase in phrases))}
    said = list({(plain(p.text), p.type): p for p in phrases if p.kind in SAID}.values())
    sold = [p for p in phrases if p.kind in SOLD]
    answers = np.zeros((len(numbers), encoder.encode(["shop"]).shape[1]), np.float32)
    np.add.at(answers, [numbers[p.type] for p in sold], encoder.encode([p.text for p in sold]))
    keys = encoder.encode([p.text for p in said])
    header = MAGIC + struct.pack("<4I", keys.shape[1], len(said), len(answers), 0)
    types = np.array([numbers[p.type] for p in said], "<u4")
    path.write_bytes(header + types.tobytes() + _bytes(keys) + _bytes(unit(answers)))
    return len(said), len(answers)


def write_names(phrases: Iterable[Phrase], path: Path) -> int:
    """A line for each thing of the phrase book, in its order: names, a tab, other names, separated by "|".

    A name such as "Hats & Caps" is two names.
    """
    names: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for phrase in phrases:
        own, others = names.setdefault(phrase.type, ({}, {}))
        if phrase.kind == Kind.NAME:
            own.update(dict.fromkeys(_parts(phrase.text)))
        elif phrase.kind == Kind.SYNONYM:
            others[plain(phrase.text)] = None
    lines = ("|".join(own) + "\t" + "|".join(name for name in others if name not in own) for own, others in names.values())
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return len(names)


def _parts(name: str) -> list[str]:
    parts = plain(name).replace(" & ", ",").replace("/", ",").split(",")
    return [part.strip() for part in parts if part.strip()]


def _bytes(vectors: np.ndarray) -> bytes:
    """Directions as signed bytes, the largest number of each 127: lengths do not matter."""
    largest = np.abs(vectors).max(axis=1, keepdims=True).clip(1e-9)
    return np.rint(vectors / largest * 127).astype(np.int8).tobytes()
