"""Step "train-deep": teach the transformer how shoppers talk, without letting it forget what it knew."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .corpus import Prepared
from .encoders import Deep, Shape
from .gather import Store
from .heldout import HeldOut
from .lessons import LONG, SHORT, Meanings, PairLessons, PhraseLessons, PoolLessons, contrast, drift, order_lost
from .wording import MAX_TOKENS


@dataclass(frozen=True)
class Recipe:
    steps: int = 500
    seconds: float = 1e9
    """Done after this long at the latest; the learning rate then falls with the clock instead of the steps."""
    rate: float = 1e-4
    warm_up: int = 100
    phrases: int = 768
    pairs: int = 256
    pool: int = 768
    typos: int = 768
    long: int = 96
    listings: int = 32
    typo_share: float = 0.25
    match_weight: float = 1.0
    pair_weight: float = 0.3
    drift_weight: float = 1.0
    order_weight: float = 2.0
    look_every: int = 200
    patience: int = 4
    average: float = 0.998
    """Share of the running average of the weights that each step keeps; the average is what is measured and saved."""


def without_common_direction(model: Deep, store: Store, texts: Tensor) -> Deep:
    """The same encoder without the one direction that all its vectors share, which tells no text from another."""
    axes = principal_axes(store.deep_all(model, texts))[:, 1:]
    turned = Deep(Shape(**{**model.shape.__dict__, "dims": axes.shape[1]})).to(store.device)
    turned.load_state_dict({**model.state_dict(), "project.weight": axes.T @ model.project.weight})
    return turned


def principal_axes(vectors: Tensor) -> Tensor:
    """Directions as columns, those that hold most of every dot product first: cutting the last ones off loses least."""
    vectors = vectors.float()
    return torch.linalg.eigh(vectors.T @ vectors).eigenvectors.flip(1)


def train_deep(
    prepared: Prepared, start: Deep, teacher: Deep, namer: Deep, recipe: Recipe, device: torch.device, seed: int
) -> Deep:
    """`start` trained to the phrases, and to `teacher`'s meanings of all other texts: on phrases the base model is wrong.

    `namer` tells twins among the types by their names.
    """
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    store = Store(prepared, device)
    teacher = teacher.to(device).eval()
    model = start.to(device).train()
    known = np.unique(np.concatenate([prepared.pool, prepared.pairs.ravel(), prepared.listings.ravel()]))
    meanings = Meanings(store, lambda texts: store.deep_all(teacher, texts), prepared, torch.from_numpy(known).to(device))
    pool = PoolLessons(prepared, meanings, prepared.phrase_text[:0], prepared.phrase_typos[:0])
    phrases = PhraseLessons(prepared, store, namer.to(device).eval(), chance)
    pairs = PairLessons(prepared, device)
    exam = HeldOut(prepared, device)

    fused = device.type == "cuda"
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=0.01, betas=(0.9, 0.98), fused=fused)
    average = copy.deepcopy(model).eval()
    best, best_score, since_best = copy.deepcopy(average), -1.0, 0
    began = time.monotonic()
    for step in range(1, recipe.steps + 1):
        done = max(step / recipe.steps, (time.monotonic() - began) / recipe.seconds)
        optimiser.param_groups[0]["lr"] = recipe.rate * min(step / recipe.warm_up, max(0.02, 1 - done))
        loss, parts = _step(store, model, phrases, pairs, pool, meanings, recipe)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        with torch.no_grad():
            keep = min(recipe.average, step / (step + 10))
            torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), 1 - keep)
        if step % recipe.look_every == 0 or done >= 1:
            encode = lambda texts: store.deep_all(average, texts)  # noqa: E731
            clean, typo = exam.phrases(encode, encode), exam.phrases(encode, encode, typos=True)
            types = exam.types(encode, encode)
            kept = float((encode(exam.dev).float() * meanings.of(exam.dev)).sum(1).mean())
            print(
                f"step {step}: {', '.join(f'{name} {float(part):.3f}' for name, part in parts.items())}; held-out phrases "
                f"{clean:.3f}, with typo {typo:.3f}; held-out types {types:.3f}; kept {kept:.3f}; "
                f"{time.monotonic() - began:.0f} s",
                flush=True,
            )
            score = (clean + typo) / 2
            since_best += 1
            if score > best_score:
                best, best_score, since_best = copy.deepcopy(average), score, 0
            if since_best >= recipe.patience:
                print("no better for a while: stopping", flush=True)
                break
            if done >= 1:
                break
    print(f"best on held-out phrases: {best_score:.4f}", flush=True)
    return best


def _step(
    store: Store,
    model: Deep,
    phrases: PhraseLessons,
    pairs: PairLessons,
    pool: PoolLessons,
    meanings: Meanings,
    recipe: Recipe,
) -> tuple[Tensor, dict[str, Tensor]]:
    """One batch of everything, encoded in three goes: short texts, longer ones, listings."""
    matches = phrases.draw(recipe.phrases, recipe.typo_share)
    left, right = pairs.draw(recipe.pairs)
    clean = pool.draw(recipe.pool)
    misspelled, spelled = pool.draw_typos(recipe.typos)
    long, (_, listings) = pool.draw_long(recipe.long), pool.draw_listings(recipe.listings)

    asked, found, mine_clean, mine_misspelled = _encode(store, model, SHORT, matches.asked, matches.found, clean, misspelled)
    mine_left, mine_right, mine_long = _encode(store, model, LONG, left, right, long)
    meant_clean, meant_spelled, meant_long = meanings.of(clean), meanings.of(spelled), meanings.of(long)
    match = contrast(asked, found, matches.allowed)
    pair = contrast(mine_left, mine_right, pairs.allowed(meanings.of(left), meanings.of(right)))
    moved = drift(mine_clean, meant_clean) + drift(mine_misspelled, meant_spelled)
    if len(long):
        moved = moved + drift(mine_long, meant_long) / 2
    if len(listings):
        moved = moved + drift(store.deep_cut(model, listings, MAX_TOKENS), meanings.of(listings)) / 2
    others, meant_others = torch.cat([mine_clean, mine_long]), torch.cat([meant_clean, meant_long])
    order = order_lost(others, others, meant_others, meant_others)
    order = order + order_lost(mine_misspelled, others, meant_spelled, meant_others)
    loss = recipe.match_weight * match + recipe.pair_weight * pair
    loss = loss + recipe.drift_weight * moved + recipe.order_weight * order
    return loss, {"match": match.detach(), "pair": pair.detach(), "drift": moved.detach(), "order": order.detach()}


def _encode(store: Store, model: Deep, width: int, *parts: Tensor) -> tuple[Tensor, ...]:
    return store.deep_cut(model, torch.cat(parts), width).split([len(part) for part in parts])
