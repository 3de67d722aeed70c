"""Encoders as they are measured: a list of texts in, unit vectors out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import numpy as np
import onnxruntime
import torch

from .encoders import Deep
from .export import read_instant
from .gather import Ragged, WIDTHS
from .wording import Wording


class Encoder(Protocol):
    def encode(self, texts: list[str]) -> np.ndarray:
        """Unit vectors of queries, or of any text."""

    def products(self, titles: list[str], listings: list[str]) -> np.ndarray:
        """Unit vectors of products, given as title and as "title. description"."""


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-9)


class ReadsListings:
    """A transformer knows a title when it sees one at the start, and has learned to give it weight."""

    def products(self, titles: list[str], listings: list[str]) -> np.ndarray:
        return self.encode(listings)


class FloatDeep(ReadsListings):
    """A PyTorch encoder in single precision, on whatever device there is."""

    def __init__(self, model: Deep, wording: Wording, device: torch.device) -> None:
        self.model, self.wording, self.device = model.to(device).eval(), wording, device

    @torch.no_grad()
    def encode(self, texts: list[str]) -> np.ndarray:
        tokens = [self.wording.tokens(pieces) for pieces in self.wording.pieces(texts)]
        lengths = np.array([len(one) for one in tokens])
        ragged = Ragged(np.concatenate([np.array(one, np.int64) for one in tokens]), lengths.cumsum(), self.device)
        out = np.zeros((len(texts), self.model.shape.dims), np.float32)
        shorter = 0
        for width in WIDTHS:
            chosen = np.nonzero((lengths > shorter) & (lengths <= width))[0]
            shorter = width
            for part in np.array_split(chosen, max(1, len(chosen) // 1024)):
                if len(part):
                    out[part] = self.model(*ragged.padded(torch.from_numpy(part).to(self.device), width)).cpu().numpy()
        return out


class Int8Deep(ReadsListings):
    """The exported encoder, one text at a time: its activations are scaled together, so company would change a vector."""

    def __init__(self, path: Path, wording: Wording, threads: int) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.wording, self.threads = wording, threads

    def encode(self, texts: list[str]) -> np.ndarray:
        def one(pieces: list[int]) -> np.ndarray:
            ids = np.array([self.wording.tokens(pieces)], np.int64)
            return self.session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]

        with ThreadPoolExecutor(self.threads) as workers:
            return np.stack(list(workers.map(one, self.wording.pieces(texts))))


class TableInstant:
    """The exported table."""

    def __init__(self, path: Path, wording: Wording) -> None:
        self.table, vocab = read_instant(path)
        self.wording = Wording(wording.vocab, len(self.table) - vocab)

    def encode(self, texts: list[str]) -> np.ndarray:
        out = np.zeros((len(texts), self.table.shape[1]), np.float32)
        for i, pieces in enumerate(self.wording.pieces(texts)):
            rows = self.wording.rows(pieces)
            if rows:
                summed = self.table[rows].sum(0)
                out[i] = summed / max(1e-9, float(np.linalg.norm(summed)))
        return out

    def products(self, titles: list[str], listings: list[str]) -> np.ndarray:
        """A sum of rows has no first place, so the title is given its weight here: half, whatever follows it."""
        return unit(self.encode(titles) + self.encode(listings))
