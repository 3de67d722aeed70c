"""Where do batches come from? From ragged arrays that live on the accelerator, without a loop over texts."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .corpus import Prepared
from .encoders import Deep

WIDTHS = (16, 32, 64, 128)
"""Texts are encoded in groups of about the same length, so that a short query never pays for a long description."""


class Ragged:
    """Rows of different lengths, one after the other."""

    def __init__(self, values: np.ndarray, ends: np.ndarray, device: torch.device) -> None:
        self.values = torch.from_numpy(values.astype(np.int64)).to(device)
        self.ends = torch.from_numpy(ends).to(device)
        self.starts = torch.cat([self.ends.new_zeros(1), self.ends[:-1]])
        self.lengths = self.ends - self.starts

    def padded(self, which: Tensor, width: int) -> tuple[Tensor, Tensor]:
        """The rows side by side, cut or filled up with zeros to the width, and a mask of what is real."""
        place = torch.arange(width, device=which.device)
        mask = place < self.lengths[which, None]
        ids = self.values[(self.starts[which, None] + place).clamp_max(len(self.values) - 1)]
        return ids * mask, mask


class Store:
    """Prepared texts on the accelerator, encoded by number."""

    def __init__(self, prepared: Prepared, device: torch.device) -> None:
        self.device = device
        self.tokens = Ragged(prepared.tokens, prepared.token_ends, device)

    def deep_cut(self, model: Deep, which: Tensor, width: int) -> Tensor:
        """Unit vectors of texts cut to one width.

        For training: shapes that never change and nothing the processor must wait for keep the accelerator busy.
        """
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            return model(*self.tokens.padded(which, width)).float()

    def deep(self, model: Deep, which: Tensor) -> Tensor:
        """Unit vectors of whole texts, in the order asked for."""
        lengths = self.tokens.lengths[which]
        parts, places = [], []
        shorter = 0
        for width in WIDTHS:
            chosen = torch.nonzero((lengths > shorter) & (lengths <= width)).squeeze(1)
            shorter = width
            if len(chosen):
                ids, mask = self.tokens.padded(which[chosen], width)
                with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                    parts.append(model(ids, mask).float())
                places.append(chosen)
        vectors = torch.cat(parts)
        return vectors[torch.argsort(torch.cat(places))]

    @torch.no_grad()
    def deep_all(self, model: Deep, which: Tensor, batch: int = 8192) -> Tensor:
        """Half-precision vectors of many texts."""
        return torch.cat([self.deep(model, part).half() for part in which.split(batch)])
