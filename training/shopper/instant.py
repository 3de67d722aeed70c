"""Step "align-instant": a table whose summed rows land where the deep encoder would have put the text."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .corpus import Prepared
from .encoders import Deep, Instant
from .gather import Store
from .heldout import HeldOut
from .lessons import Meanings, PhraseLessons, PoolLessons, contrast, drift, order_lost
from .phrases import Split


@dataclass(frozen=True)
class Recipe:
    steps: int = 5000
    seconds: float = 1e9
    rate: float = 2e-3
    warm_up: int = 100
    phrases: int = 1024
    pool: int = 4096
    typos: int = 4096
    long: int = 512
    listings: int = 512
    typo_share: float = 0.25
    match_weight: float = 0.3
    drift_weight: float = 2.0
    order_weight: float = 1.0
    look_every: int = 500
    patience: int = 4


def first_table(prepared: Prepared, deep: Deep, store: Store, vocab: int, ngram_rows: int, cls: int, sep: int) -> Instant:
    """Each token alone through the deep encoder, frequent ones short; n-grams start at nothing and learn what is left."""
    model = Instant(vocab + ngram_rows, deep.shape.dims).to(store.device)
    counts = torch.bincount(store.rows.values, minlength=vocab + ngram_rows)[:vocab].float()
    share = counts / counts.sum()
    ids = torch.arange(vocab, device=store.device)
    alone = torch.stack([torch.full_like(ids, cls), ids, torch.full_like(ids, sep)], dim=1)
    with torch.no_grad():
        vectors = torch.cat([deep(part, torch.ones_like(part)) for part in alone.split(8192)])
        model.table[:vocab] = vectors * (1e-3 / (1e-3 + share))[:, None]
    return model


def align_instant(
    prepared: Prepared, deep: Deep, namer: Deep, start: Instant, recipe: Recipe, device: torch.device, seed: int
) -> Instant:
    """The table trained to the deep encoder's meanings, misspelled texts to the clean ones', questions to deep titles."""
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    store = Store(prepared, device)
    deep = deep.to(device).eval()
    model = start.to(device).train()
    trained = prepared.phrase_split == Split.TRAIN
    extra, extra_typos = prepared.phrase_text[trained], prepared.phrase_typos[trained]
    known = np.unique(np.concatenate([prepared.pool, prepared.listings.ravel(), prepared.phrase_text]))
    meanings = Meanings(store, deep, prepared, torch.from_numpy(known).to(device))
    pool = PoolLessons(prepared, meanings, extra, extra_typos)
    phrases = PhraseLessons(prepared, store, namer.to(device).eval(), chance)
    exam = HeldOut(prepared, device)

    optimiser = torch.optim.Adam(model.parameters(), lr=recipe.rate, betas=(0.9, 0.99))
    best, best_score, since_best = copy.deepcopy(model), -1.0, 0
    began = time.monotonic()
    for step in range(1, recipe.steps + 1):
        done = max(step / recipe.steps, (time.monotonic() - began) / recipe.seconds)
        optimiser.param_groups[0]["lr"] = recipe.rate * min(step / recipe.warm_up, max(0.01, 1 - done))
        loss, parts = _step(store, model, phrases, pool, meanings, recipe)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        if step % recipe.look_every == 0 or done >= 1:
            mine = lambda texts: store.instant_all(model, texts)  # noqa: E731
            theirs = lambda texts: meanings.of(texts)  # noqa: E731
            clean, typo = exam.phrases(mine, theirs), exam.phrases(mine, theirs, typos=True)
            own, types = exam.phrases(mine, mine), exam.types(mine, mine)
            kept = float((mine(exam.dev).float() * meanings.of(exam.dev)).sum(1).mean())
            print(
                f"step {step}: {', '.join(f'{name} {float(part):.3f}' for name, part in parts.items())}; held-out phrases "
                f"on deep titles {clean:.3f}, with typo {typo:.3f}, on its own {own:.3f}; held-out types {types:.3f}; "
                f"kept {kept:.3f}; {time.monotonic() - began:.0f} s",
                flush=True,
            )
            score = (clean + typo + own) / 3 + kept
            since_best += 1
            if score > best_score:
                best, best_score, since_best = copy.deepcopy(model), score, 0
            if since_best >= recipe.patience:
                print("no better for a while: stopping", flush=True)
                break
            if done >= 1:
                break
    print(f"best on held-out texts: {best_score:.4f}", flush=True)
    return best


def _step(
    store: Store, model: Instant, phrases: PhraseLessons, pool: PoolLessons, meanings: Meanings, recipe: Recipe
) -> tuple[Tensor, dict[str, Tensor]]:
    matches = phrases.draw(recipe.phrases, recipe.typo_share)
    clean = pool.draw(recipe.pool)
    misspelled, spelled = pool.draw_typos(recipe.typos)
    whole = torch.cat([pool.draw_long(recipe.long), pool.draw_listings(recipe.listings)])
    batch = [matches.asked, matches.found, clean, misspelled, whole]
    vectors = store.instant(model, torch.cat(batch)).split([len(part) for part in batch])
    asked, found, mine_clean, mine_misspelled, mine_whole = vectors

    meant_clean, meant_spelled, meant_found = meanings.of(clean), meanings.of(spelled), meanings.of(matches.found)
    match = contrast(asked, found, matches.allowed) + contrast(asked, meant_found, matches.allowed)
    moved = drift(mine_clean, meant_clean) + drift(mine_misspelled, meant_spelled)
    if len(whole):
        moved = moved + drift(mine_whole, meanings.of(whole)) / 2
    order = order_lost(mine_clean, meant_clean, meant_clean, meant_clean)
    order = order + order_lost(mine_misspelled, meant_clean, meant_spelled, meant_clean)
    loss = recipe.match_weight * match + recipe.drift_weight * moved + recipe.order_weight * order
    return loss, {"match": match.detach(), "drift": moved.detach(), "order": order.detach()}
