"""What does int8 do to a number? The same rounding as the exported file's, but a gradient passes through."""

from __future__ import annotations

import torch
from torch import Tensor

WEIGHT_STEPS = 64
"""Seven bits of the eight: see export.py."""


def _through(x: Tensor, rounded: Tensor) -> Tensor:
    return x + (rounded - x).detach()


def rounded_weight(weight: Tensor) -> Tensor:
    """A matrix, each output with a scale of its own."""
    scale = weight.detach().abs().amax(1, keepdim=True).clamp_min(1e-9) / WEIGHT_STEPS
    return _through(weight, (weight / scale).round() * scale)


def rounded_table(table: Tensor) -> Tensor:
    """An embedding, with one scale for all of it."""
    scale = table.detach().abs().amax().clamp_min(1e-9) / WEIGHT_STEPS
    return _through(table, (table / scale).round() * scale)


def rounded_activation(x: Tensor, seen: Tensor) -> Tensor:
    """What goes into a matrix product: 255 steps between the smallest and largest number of the whole text."""
    with torch.no_grad():
        real = x.float() * seen[:, :, None]
        low, high = real.amin((1, 2), keepdim=True).clamp_max(0), real.amax((1, 2), keepdim=True).clamp_min(0)
        scale = ((high - low) / 255).clamp_min(1e-9)
        zero = (-low / scale).round()
        rounded = (((real / scale).round() + zero).clamp(0, 255) - zero) * scale
    return _through(x, rounded.to(x.dtype))
