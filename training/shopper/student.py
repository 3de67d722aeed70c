"""Step "train-student": the small transformer and the table, taught together, for a deep vector is their sum."""

from __future__ import annotations

import copy
import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .corpus import Prepared
from .deep import principal_axes
from .encoders import Deep, Instant, thinned
from .gather import Store
from .heldout import HeldOut
from .instant import first_table
from .lessons import LONG, SHORT, Meanings, PairLessons, PhraseLessons, PoolLessons, contrast, drift, order_lost
from .phrases import Split
from .wording import MAX_TOKENS, Wording


@dataclass(frozen=True)
class Recipe:
    steps: int = 2000
    seconds: float = 1e9
    """Done after this long at the latest; the learning rate then falls with the clock instead of the steps."""
    rate: float = 4e-4
    table_rate: float = 3e-3
    warm_up: int = 200
    phrases: int = 1024
    pairs: int = 384
    pool: int = 1536
    typos: int = 1024
    long: int = 128
    listings: int = 160
    typo_share: float = 0.25
    match_weight: float = 0.8
    pair_weight: float = 0.2
    drift_weight: float = 2.0
    order_weight: float = 2.0
    alone_weight: float = 0.3
    """What the transformer by itself and the table by itself count beside their sum."""
    round_from: float = 0.8
    """From this share of the training on, the transformer rounds as its int8 file will."""
    look_every: int = 500
    average: float = 0.998
    """Share of the running average of the weights that each step keeps; the average is what is measured and saved."""


class Ensemble:
    """Several trained encoders as one teacher: their vectors side by side, cut to the axes that hold most."""

    def __init__(self, models: Sequence[Deep], store: Store, sample: Tensor, dims: int) -> None:
        self.models = [model.to(store.device).eval() for model in models]
        self.store = store
        self.axes = principal_axes(self._side_by_side(sample))[:, :dims]

    def __call__(self, texts: Tensor) -> Tensor:
        parts = [self._side_by_side(part) @ self.axes for part in texts.split(65536)]
        return torch.cat([F.normalize(part, dim=1).half() for part in parts])

    def whole(self, texts: Tensor) -> Tensor:
        """Before cutting to the axes: what could be learned at best."""
        return self._side_by_side(texts).half()

    def _side_by_side(self, texts: Tensor) -> Tensor:
        vectors = torch.cat([self.store.deep_all(model, texts) for model in self.models], dim=1)
        return vectors.float() / len(self.models) ** 0.5


class Student(nn.Module):
    """Both encoders, trained as one."""

    def __init__(self, deep: Deep, table: Instant) -> None:
        super().__init__()
        self.deep, self.table = deep, table

    def sees(self, store: Store, width: int, *parts: Tensor) -> list[Views]:
        texts = torch.cat(parts)
        deep, instant = store.deep_cut(self.deep, texts, width), store.instant(self.table, texts)
        sizes = [len(part) for part in parts]
        return [Views(*pair) for pair in zip(deep.split(sizes), instant.split(sizes))]

    @torch.no_grad()
    def sums(self, store: Store, texts: Tensor) -> Tensor:
        parts = [F.normalize(store.deep_all(self.deep, one).float() + store.instant_all(self.table, one).float(), dim=1) for one in texts.split(65536)]
        return torch.cat(parts)


class Views:
    """One set of texts as the transformer sees them, as the table does, and as the service's sum of both."""

    def __init__(self, deep: Tensor, instant: Tensor) -> None:
        self.deep, self.instant = deep, instant
        self.sum = F.normalize(deep + instant, dim=1)


def first_student(source: Deep, teacher: Ensemble, store: Store, sample: Tensor, layers: int, wording: Wording) -> Student:
    """A few layers of a trained encoder, projected as near to the teacher as a straight map can; the table from them."""
    thin = thinned(source, layers).to(store.device).eval()
    whole = Deep(dataclasses.replace(thin.shape, dims=thin.shape.hidden)).to(store.device).eval()
    whole.load_state_dict({**thin.state_dict(), "project.weight": torch.eye(thin.shape.hidden, device=store.device)})
    mine, meant = store.deep_all(whole, sample).float(), teacher(sample).float()
    some = torch.eye(mine.shape[1], device=store.device) * (1e-3 * len(mine) / mine.shape[1])
    projection = torch.linalg.solve(mine.T @ mine + some, mine.T @ meant)
    deep = Deep(dataclasses.replace(thin.shape, dims=meant.shape[1])).to(store.device)
    deep.load_state_dict({**thin.state_dict(), "project.weight": projection.T.contiguous()})
    return Student(deep, first_table(deep.eval(), store, wording))


def train_student(
    prepared: Prepared, student: Student, teacher: Ensemble, namer: Deep, recipe: Recipe, device: torch.device, seed: int
) -> Student:
    """`namer` tells twins among the types by their names."""
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    store = Store(prepared, device)
    student = student.to(device).train()
    trained = prepared.phrase_split == Split.TRAIN
    extra, extra_typos = prepared.phrase_text[trained], prepared.phrase_typos[trained]
    known = np.unique(np.concatenate([prepared.pool, prepared.pairs.ravel(), prepared.listings.ravel(), prepared.phrase_text]))
    meanings = Meanings(store, teacher, prepared, torch.from_numpy(known).to(device))
    pool = PoolLessons(prepared, meanings, extra, extra_typos)
    phrases = PhraseLessons(prepared, store, namer.to(device).eval(), chance)
    pairs = PairLessons(prepared, device)
    exam = HeldOut(prepared, device)
    theirs = lambda texts: meanings.of(texts)  # noqa: E731
    print(f"teacher: held-out phrases {exam.phrases(theirs, theirs):.3f}, held-out types {exam.types(theirs, theirs):.3f}; "
          f"before cutting {exam.phrases(teacher.whole, teacher.whole):.3f}, {exam.types(teacher.whole, teacher.whole):.3f}", flush=True)  # fmt: skip

    groups = [
        {"params": list(student.deep.parameters()), "lr": recipe.rate, "rate": recipe.rate, "weight_decay": 0.01, "betas": (0.9, 0.98)},
        {"params": list(student.table.parameters()), "lr": recipe.table_rate, "rate": recipe.table_rate, "weight_decay": 0.0, "betas": (0.9, 0.99)},
    ]
    optimiser = torch.optim.AdamW(groups, fused=device.type == "cuda")
    average = copy.deepcopy(student).eval()
    began = time.monotonic()
    for step in range(1, recipe.steps + 1):
        done = max(step / recipe.steps, (time.monotonic() - began) / recipe.seconds)
        for group in optimiser.param_groups:
            group["lr"] = group["rate"] * min(step / recipe.warm_up, max(0.01, 1 - done))
        student.deep.as_int8 = done >= recipe.round_from
        loss, parts = _step(store, student, phrases, pairs, pool, meanings, recipe)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(student.deep.parameters(), 1.0)
        optimiser.step()
        with torch.no_grad():
            keep = min(recipe.average, step / (step + 10))
            torch._foreach_lerp_(list(average.parameters()), list(student.parameters()), 1 - keep)
        if step % recipe.look_every == 0 or done >= 1:
            _report(step, parts, store, average, exam, meanings, time.monotonic() - began)
        if done >= 1:
            break
    return average


def _report(step: int, parts: dict[str, Tensor], store: Store, average: Student, exam: HeldOut, meanings: Meanings, seconds: float) -> None:
    views = {
        "sum": lambda texts: average.sums(store, texts),
        "transformer": lambda texts: store.deep_all(average.deep, texts),
        "table": lambda texts: store.instant_all(average.table, texts),
    }
    told = [
        f"{name}: phrases {exam.phrases(view, view):.3f}, typo {exam.phrases(view, view, typos=True):.3f}, types {exam.types(view, view):.3f}, "
        f"kept {float((view(exam.dev).float() * meanings.of(exam.dev)).sum(1).mean()):.3f}"
        for name, view in views.items()
    ]
    losses = ", ".join(f"{name} {float(part):.3f}" for name, part in parts.items())
    print(f"step {step}: {losses}; {'; '.join(told)}; {seconds:.0f} s", flush=True)


def _step(
    store: Store,
    student: Student,
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
    long, (titles, listings) = pool.draw_long(recipe.long), pool.draw_listings(recipe.listings)

    asked, found, short, slipped = student.sees(store, SHORT, matches.asked, matches.found, clean, misspelled)
    seen_left, seen_right, seen_long = student.sees(store, LONG, left, right, long)
    whole = _listings(store, student, titles, listings)
    meant_short, meant_spelled, meant_long = meanings.of(clean), meanings.of(spelled), meanings.of(long)
    meant_whole = meanings.of(listings)
    meant_others = torch.cat([meant_short, meant_long, meant_whole])
    pair_allowed = pairs.allowed(meanings.of(left), meanings.of(right))

    def cost(view: str) -> dict[str, Tensor]:
        see = lambda views: getattr(views, view)  # noqa: E731
        others = torch.cat([see(short), see(seen_long), see(whole)])
        moved = drift(see(short), meant_short) + drift(see(slipped), meant_spelled)
        if len(long):
            moved = moved + drift(see(seen_long), meant_long) / 2
        if len(listings):
            moved = moved + drift(see(whole), meant_whole)
        return {
            "match": contrast(see(asked), see(found), matches.allowed),
            "pair": contrast(see(seen_left), see(seen_right), pair_allowed),
            "drift": moved,
            "order": order_lost(others, others, meant_others, meant_others) + order_lost(see(slipped), meant_others, meant_spelled, meant_others),
        }

    weights = {"match": recipe.match_weight, "pair": recipe.pair_weight, "drift": recipe.drift_weight, "order": recipe.order_weight}
    total, together = 0.0, cost("sum")
    for share, costs in ((1.0, together), (recipe.alone_weight, cost("deep")), (recipe.alone_weight, cost("instant"))):
        total = total + share * sum(weights[name] * part for name, part in costs.items())
    crossed = contrast(asked.instant, found.sum.detach(), matches.allowed)
    total = total + recipe.alone_weight * recipe.match_weight * crossed
    return total, {name: part.detach() for name, part in together.items()}


def _listings(store: Store, student: Student, titles: Tensor, listings: Tensor) -> Views:
    """Products as the service sees them: the transformer reads title and description, the table gives the title half."""
    deep = store.deep_cut(student.deep, listings, MAX_TOKENS)
    instant = F.normalize(store.instant(student.table, titles) + store.instant(student.table, listings), dim=1)
    return Views(deep, instant)
