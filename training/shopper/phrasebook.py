"""Step "phrasebook": what shoppers say, and where the things lie that they mean by it.

The service looks up the phrases nearest to a query and leans toward what they stand for. That is a memory beside the
model's weights: a new phrase counts as soon as this file is made anew, without training.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .phrases import Kind, Phrase, plain

if TYPE_CHECKING:
    from .measured import Encoder

MAGIC = b"SKPHRA02"
HEADER = "<6I"
INSTANT_KEY, DEEP_KEY = 160, 192
"""Dimensions of the keys in each space: few, because the file has 54,000 of them."""
SKETCHED = 64
"""How many of them make a sketch."""
SAID = (Kind.NAME, Kind.SYNONYM, Kind.NEED)
"""What a shopper says of a thing."""
SOLD = (Kind.NAME, Kind.TITLE)
"""What a shop calls it."""


def write_phrasebook(phrases: Iterable[Phrase], instant: Encoder, deep: Encoder, path: Path) -> tuple[int, int]:
    """Header, the type of each phrase, and for each encoder the axes of keys, each phrase's key and each type's vector;
    see README.md, "phrases.bin"."""
    phrases = list(phrases)
    numbers = {type_: number for number, type_ in enumerate(dict.fromkeys(phrase.type for phrase in phrases))}
    said = list({(plain(p.text), p.type): p for p in phrases if p.kind in SAID}.values())
    sold = [p for p in phrases if p.kind in SOLD]
    header, spaces = [len(said), len(numbers)], b""
    for encoder, key_dims in ((instant, INSTANT_KEY), (deep, DEEP_KEY)):
        answers = np.zeros((len(numbers), encoder.encode(["shop"]).shape[1]), np.float32)
        np.add.at(answers, [numbers[p.type] for p in sold], encoder.encode([p.text for p in sold]))
        vectors = encoder.encode([p.text for p in said])
        axes = key_axes(vectors, min(key_dims, vectors.shape[1]))
        header += [vectors.shape[1], len(axes)]
        spaces += axes.tobytes() + _packed(vectors @ axes.T) + _packed(answers)
    types = np.array([numbers[p.type] for p in said], "<u4")
    path.write_bytes(MAGIC + struct.pack(HEADER, *header) + types.tobytes() + spaces)
    return len(said), len(numbers)


def read_instant_targets(path: Path) -> np.ndarray:
    """The instant vector of each type, of any length."""
    raw = path.read_bytes()
    if raw[: len(MAGIC)] != MAGIC:
        raise ValueError(f"{path} is no phrase book of this version")
    said, types, dims, key_dims, *_ = struct.unpack_from(HEADER, raw, len(MAGIC))
    start = len(MAGIC) + struct.calcsize(HEADER) + said * 4 + key_dims * dims + said * key_dims // 2
    packed = np.frombuffer(raw, np.uint8, types * dims // 2, start).reshape(types, dims // 2)
    low, high = (packed << 4).view(np.int8) >> 4, packed.view(np.int8) >> 4
    return np.concatenate([low, high], axis=1).astype(np.float32)


def key_axes(vectors: np.ndarray, dims: int) -> np.ndarray:
    """The principal axes, as signed bytes of one scale. The service makes its sketches of the first 64: they are turned at
    random, and so are the others, so that rounding costs all numbers of a part alike."""
    axes = np.linalg.svd(vectors.T @ vectors)[2][:dims]
    random = np.random.default_rng(1)
    for part in (axes[:SKETCHED], axes[SKETCHED:]):
        part[:] = np.linalg.qr(random.normal(size=(len(part), len(part))))[0] @ part
    return np.rint(axes / np.abs(axes).max() * 127).astype(np.int8)


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


def _packed(vectors: np.ndarray) -> bytes:
    """Directions as numbers of four bits, the largest of each 7: lengths do not matter. A byte has a number of the first
    half of a vector, and in its high bits one of the second half."""
    largest = np.abs(vectors).max(axis=1, keepdims=True).clip(1e-9)
    numbers = np.clip(np.rint(vectors / largest * 7.49), -7, 7).astype(np.int8).view(np.uint8)
    low, high = np.split(numbers & 15, 2, axis=1)
    return (low | high << 4).tobytes()
