"""Step "train": teach the encoder how shoppers talk and what they mean, without letting it forget what it knew."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from .corpus import Prepared
from .encoders import Deep
from .gather import Store
from .heldout import HeldOut
from .lessons import LONG, SHORT, Meanings, PairLessons, PhraseLessons, PoolLessons, WishLessons, contrast, drift, order_lost, wished
from .wording import MAX_TOKENS


@dataclass(frozen=True)
class Recipe:
    steps: int = 500
    rate: float = 1e-4
    warm_up: int = 100
    phrases: int = 768
    pairs: int = 256
    pool: int = 768
    typos: int = 768
    long: int = 96
    listings: int = 96
    wishes: int = 96
    typo_share: float = 0.25
    match_weight: float = 1.0
    pair_weight: float = 0.3
    drift_weight: float = 1.0
    order_weight: float = 2.0
    wish_weight: float = 1.0
    listing_weight: float = 1.0
    round_from: float = 0.7
    """From this share of the steps on, the encoder rounds as its int8 file will."""
    look_every: int = 250
    average: float = 0.998
    """Share of the running average of the weights that each step keeps; the average is what is measured and saved."""


class Lessons:
    """What the encoder is taught, and what its teacher, the base model, makes of the same texts.

    `namer`, the base model as it is, tells twins among the types by their names.
    """

    def __init__(self, prepared: Prepared, store: Store, teacher: Deep, namer: Deep, seed: int, without: int | None = None) -> None:
        self.store = store
        known = np.unique(np.concatenate([prepared.pool, prepared.pairs.ravel(), prepared.listings.ravel()]))
        self.meanings = Meanings(store, lambda texts: store.deep_all(teacher, texts), prepared, torch.from_numpy(known).to(store.device))
        self.pool = PoolLessons(prepared, self.meanings)
        self.phrases = PhraseLessons(prepared, store, namer, np.random.default_rng(seed))
        self.pairs = PairLessons(prepared, store.device)
        self.wishes = WishLessons(prepared, store, namer, without)
        self.exam = HeldOut(prepared, store.device)


def without_common_direction(model: Deep, vectors: Tensor, seed: int) -> Deep:
    """The same encoder without the one direction that all its vectors share, which tells no text from another.

    What is left is turned at random: equal shares for all numbers of a vector lose least to rounding.
    """
    vectors = vectors.float()
    common = torch.linalg.eigh(vectors.T @ vectors).eigenvectors[:, -1:].cpu()
    turn = torch.linalg.qr(torch.randn(len(common), len(common), generator=torch.Generator().manual_seed(seed))).Q
    turned = copy.deepcopy(model)
    turned.project.weight.data = (turn @ (model.project.weight.cpu() - common @ (common.T @ model.project.weight.cpu()))).to(vectors.device)
    return turned


def train_deep(lessons: Lessons, start: Deep, recipe: Recipe, seed: int) -> Deep:
    """`start` trained to the phrases and wishes, and to the teacher's meanings of all other texts."""
    torch.manual_seed(seed)
    store, exam, meanings = lessons.store, lessons.exam, lessons.meanings
    model = copy.deepcopy(start).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=0.01, betas=(0.9, 0.98), fused=store.device.type == "cuda")
    average = copy.deepcopy(model).eval()
    began = time.monotonic()
    for step in range(1, recipe.steps + 1):
        done = step / recipe.steps
        optimiser.param_groups[0]["lr"] = recipe.rate * min(step / recipe.warm_up, max(0.02, 1 - done))
        model.as_int8 = done > recipe.round_from
        loss, parts = _step(lessons, model, recipe)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        with torch.no_grad():
            keep = min(recipe.average, step / (step + 10))
            torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), 1 - keep)
        if step % recipe.look_every == 0 or step == recipe.steps:
            encode = lambda texts: store.deep_all(average, texts)  # noqa: E731
            kept = float((encode(exam.dev).float() * meanings.of(exam.dev)).sum(1).mean())
            print(
                f"step {step}: {', '.join(f'{name} {float(part):.3f}' for name, part in parts.items())}; held-out phrases "
                f"{exam.phrases(encode, encode):.3f}, with typo {exam.phrases(encode, encode, typos=True):.3f}; "
                f"held-out types {exam.types(encode, encode):.3f}; kept {kept:.3f}; {time.monotonic() - began:.0f} s",
                flush=True,
            )
    return average


def _step(lessons: Lessons, model: Deep, recipe: Recipe) -> tuple[Tensor, dict[str, Tensor]]:
    """One batch of everything, encoded in three goes: short texts, longer ones, listings."""
    store, meanings, pool = lessons.store, lessons.meanings, lessons.pool
    matches = lessons.phrases.draw(recipe.phrases, recipe.typo_share)
    wish = lessons.wishes.draw(recipe.wishes, recipe.typo_share)
    left, right = lessons.pairs.draw(recipe.pairs)
    clean = pool.draw(recipe.pool)
    misspelled, spelled = pool.draw_typos(recipe.typos)
    long, (titles, listings) = pool.draw_long(recipe.long), pool.draw_listings(recipe.listings)

    short = [matches.asked, matches.found, clean, misspelled, wish.asked, wish.right.flatten(), wish.wrong.flatten()]
    asked, found, mine_clean, mine_misspelled, wanted, fitting, tempting = _encode(store, model, SHORT, *short)
    mine_left, mine_right, mine_long, mine_titles = _encode(store, model, LONG, left, right, long, titles)
    meant_clean, meant_spelled, meant_long = meanings.of(clean), meanings.of(spelled), meanings.of(long)
    moved = drift(mine_clean, meant_clean) + drift(mine_misspelled, meant_spelled)
    if len(long):
        moved = moved + drift(mine_long, meant_long) / 2
    others, meant_others = torch.cat([mine_clean, mine_long]), torch.cat([meant_clean, meant_long])
    order = order_lost(others, others, meant_others, meant_others)
    order = order + order_lost(mine_misspelled, others, meant_spelled, meant_others)
    parts = {
        "match": contrast(asked, found, matches.allowed),
        "pair": contrast(mine_left, mine_right, lessons.pairs.allowed(meanings.of(left), meanings.of(right))),
        "drift": moved,
        "order": order,
        "listing": _listing_lost(store.deep_cut(model, listings, MAX_TOKENS), mine_titles, meanings.of(listings)),
        "wish": wished(wanted, fitting.view(len(wanted), -1, wanted.shape[1]), tempting.view(len(wanted), -1, wanted.shape[1]), wish.allowed),
    }
    loss = sum(getattr(recipe, f"{name}_weight") * part for name, part in parts.items())
    return loss, {name: part.detach() for name, part in parts.items()}


def _listing_lost(mine: Tensor, titles: Tensor, meant: Tensor) -> Tensor:
    """A listing should lie where its teacher sees it, and toward what the encoder itself makes of its title."""
    if not len(mine):
        return mine.sum()
    toward = F.normalize(titles.detach() + mine.detach(), dim=1)
    return drift(mine, meant) / 2 + drift(mine, toward) + order_lost(mine, mine, meant, meant) / 2


def _encode(store: Store, model: Deep, width: int, *parts: Tensor) -> tuple[Tensor, ...]:
    return store.deep_cut(model, torch.cat(parts), width).split([len(part) for part in parts])
