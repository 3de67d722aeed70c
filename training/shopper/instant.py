"""What does the table start from? Each token alone through the transformer."""

from __future__ import annotations

import torch

from .encoders import Deep, Instant
from .gather import Store
from .wording import Wording

COMMON = 1e-3
"""A token's row starts at half length when this share of all rows is its own."""


def first_table(deep: Deep, store: Store, wording: Wording) -> Instant:
    """Each token alone through the transformer, frequent ones short; n-grams start at nothing and learn what is left."""
    vocab, rows = len(wording.vocab), len(wording.vocab) + wording.ngram_rows
    model = Instant(rows, deep.shape.dims).to(store.device)
    counts = torch.bincount(store.rows.values, minlength=rows)[:vocab].float()
    share = counts / counts.sum()
    ids = torch.arange(vocab, device=store.device)
    alone = torch.stack([torch.full_like(ids, wording.cls), ids, torch.full_like(ids, wording.sep)], dim=1)
    with torch.no_grad():
        vectors = torch.cat([deep(part, torch.ones_like(part)) for part in alone.split(8192)])
        model.table[:vocab] = vectors * (COMMON / (COMMON + share))[:, None]
    return model
