"""Does it know what it was never told? Measures on held-out phrases and types, on prepared texts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from .corpus import Prepared
from .phrases import Kind, Split

Encode = Callable[[Tensor], Tensor]


class HeldOut:
    """Questions (phrases) and answers (titles); a question is right when the best title is of its own type."""

    def __init__(self, prepared: Prepared, device: torch.device) -> None:
        kind, split = prepared.phrase_kind, prepared.phrase_split
        self.type = torch.from_numpy(prepared.phrase_type).to(device)
        self.text = torch.from_numpy(prepared.phrase_text).to(device)
        self.typo = torch.from_numpy(prepared.phrase_typos[:, 0]).to(device)
        asks = (kind == Kind.SYNONYM) | (kind == Kind.NEED)
        self.phrase_questions = _where(asks & (split == Split.HELD_PHRASE), device)
        self.phrase_titles = _where((kind == Kind.TITLE) & (split == Split.TRAIN), device)
        self.type_questions = _where(asks & (split == Split.HELD_TYPE), device)
        self.type_titles = _where((kind == Kind.TITLE) & (split == Split.HELD_TYPE), device)
        self.dev = torch.from_numpy(prepared.pool[prepared.pool_dev]).to(device)

    def phrases(self, ask: Encode, find: Encode, typos: bool = False) -> float:
        """Top 1 of held-out phrases of trained types: what early stopping looks at."""
        return self._top1(self.phrase_questions, self.phrase_titles, ask, find, typos)

    def types(self, ask: Encode, find: Encode, typos: bool = False) -> float:
        """Top 1 on types of which nothing was trained: what is reported."""
        return self._top1(self.type_questions, self.type_titles, ask, find, typos)

    @torch.no_grad()
    def _top1(self, questions: Tensor, titles: Tensor, ask: Encode, find: Encode, typos: bool) -> float:
        if not len(questions) or not len(titles):
            return 0.0
        found = find(self.text[titles]).float()
        asked = ask((self.typo if typos else self.text)[questions]).float()
        best = torch.cat([(part @ found.T).argmax(1) for part in asked.split(2048)])
        return float((self.type[titles[best]] == self.type[questions]).float().mean())


def _where(mask: np.ndarray, device: torch.device) -> Tensor:
    return torch.from_numpy(np.nonzero(mask)[0]).to(device)
