"""What is in one training step? Phrases to match, pairs to match, and texts whose old meaning must be kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from .corpus import RIGHTS, Prepared
from .encoders import Deep
from .gather import Store
from .phrases import Kind, Split, family, is_below, is_object

Teacher = Callable[[Tensor], Tensor]
"""Texts by number to half-precision unit vectors."""

TEMPERATURE = 0.05
WISH_TEMPERATURE = 0.1
TWIN = 0.72
"""Types whose names the teacher finds closer than this are never each other's negatives."""

ALIKE = 0.45
"""An everyday object overlaps many types, whatever they are called: texts the base model finds closer are no negatives."""

RUN = 8
"""Hard negatives come in runs of this many neighbours in the taxonomy's order."""

SHORT, LONG = 24, 48
"""Widths in tokens that training pads or cuts to: names, needs, titles; and longer texts. Listings get the full width."""

ASKED = {Kind.NEED: 0.45, Kind.SYNONYM: 0.3, Kind.NAME: 0.1, Kind.PATH: 0.05, Kind.TITLE: 0.1}
FOUND = {Kind.TITLE: 0.75, Kind.NAME: 0.1, Kind.PATH: 0.05, Kind.SYNONYM: 0.05, Kind.NEED: 0.05}


@dataclass
class Matches:
    """Texts asked for and found, by number; `allowed` says which of the found may serve as whose negative."""

    asked: Tensor
    found: Tensor
    allowed: Tensor


class PhraseLessons:
    """Phrases of a type against phrases of other types, near ones first."""

    def __init__(self, prepared: Prepared, store: Store, namer: Deep, chance: np.random.Generator) -> None:
        self.chance = chance
        self.device = store.device
        self.text = prepared.phrase_text
        self.typos = prepared.phrase_typos
        trained = prepared.phrase_split == Split.TRAIN
        self.members = _members(prepared, trained)
        self.types = np.unique(prepared.phrase_type[trained])
        self.weighted = prepared.phrase_type[trained & (prepared.phrase_kind != Kind.PATH)]
        self.unrelated = torch.from_numpy(~_below(prepared.types)).to(self.device)
        names = np.zeros(len(prepared.types), np.int64)
        named = prepared.phrase_kind == Kind.NAME
        names[prepared.phrase_type[named]] = prepared.phrase_text[named]
        vectors = store.deep_all(namer, torch.from_numpy(names).to(self.device)).float()
        self.unrelated &= vectors @ vectors.T < TWIN
        self.is_object = torch.tensor([is_object(str(type_)) for type_ in prepared.types], device=self.device)
        self.likeness = store.deep_all(namer, torch.from_numpy(self.text).to(self.device))

    def draw(self, size: int, typo_share: float) -> Matches:
        """Half random phrases (so that types with many count more), half runs of neighbours."""
        near = size // 2
        starts = self.chance.integers(0, len(self.types), near // RUN + 1)
        runs = (starts[:, None] + np.arange(RUN)).reshape(-1)[:near] % len(self.types)
        types = np.concatenate([self.types[runs], self.chance.choice(self.weighted, size - near)])
        asked, found = self._pick(types, ASKED), self._pick(types, FOUND)
        asked_text = self.text[asked]
        slip = self.chance.random(size) < typo_share
        asked_text = np.where(slip, self.typos[asked, self.chance.integers(0, self.typos.shape[1], size)], asked_text)
        type_ids = torch.from_numpy(types).to(self.device)
        allowed = self.unrelated[type_ids][:, type_ids]
        objects = self.is_object[type_ids]
        alike = self._likeness(asked) @ self._likeness(found).T > ALIKE
        allowed = allowed & ~((objects[:, None] | objects[None, :]) & alike)
        return Matches(torch.from_numpy(asked_text).to(self.device), torch.from_numpy(self.text[found]).to(self.device), allowed)

    def _likeness(self, phrases: np.ndarray) -> Tensor:
        return self.likeness[torch.from_numpy(phrases).to(self.device)].float()

    def _pick(self, types: np.ndarray, shares: dict[Kind, float]) -> np.ndarray:
        """One phrase for each type, of a kind drawn by its share; its name where the type has none of that kind."""
        kinds = self.chance.choice(list(shares), len(types), p=list(shares.values()))
        picked = np.zeros(len(types), np.int64)
        for kind in shares:
            table, counts = self.members[kind]
            here = np.nonzero(kinds == kind)[0]
            have = counts[types[here]] > 0
            spare, spare_counts = self.members[Kind.NAME]
            picked[here[~have]] = spare[types[here[~have]], 0]
            here = here[have]
            place = (self.chance.random(len(here)) * counts[types[here]]).astype(np.int64)
            picked[here] = table[types[here], place]
        return picked


def _members(prepared: Prepared, trained: np.ndarray) -> dict[Kind, tuple[np.ndarray, np.ndarray]]:
    """For each kind, the phrases of each type as a filled-up table, and how many they are."""
    tables = {}
    for kind in Kind:
        of_type: list[list[int]] = [[] for _ in prepared.types]
        for phrase in np.nonzero(trained & (prepared.phrase_kind == kind))[0]:
            of_type[prepared.phrase_type[phrase]].append(int(phrase))
        counts = np.array([len(one) for one in of_type])
        table = np.zeros((len(of_type), max(1, counts.max())), np.int64)
        for row, one in enumerate(of_type):
            table[row, : len(one)] = one
        tables[kind] = (table, counts)
    return tables


def _below(types: np.ndarray) -> np.ndarray:
    """[asked, found]: the same type, or found is a kind of what was asked for ("joggers" answer "activewear")."""
    index = {type_: i for i, type_ in enumerate(types)}
    below = np.eye(len(types), dtype=bool)
    for type_, i in index.items():
        parts = str(type_).split("-")
        for end in range(1, len(parts)):
            above = "-".join(parts[:end])
            if above in index and is_below(type_, above):
                below[index[above], i] = True
    families = np.array([family(str(type_)) for type_ in types])
    for name in {one for one in families if is_object(one)}:
        below[np.ix_(families == name, families == name)] = True
    return below


class PairLessons:
    """Two texts of the same thing: two shops' titles, title and description, word and gloss, name and parent."""

    def __init__(self, prepared: Prepared, device: torch.device) -> None:
        self.pairs = torch.from_numpy(prepared.pairs).to(device)

    def draw(self, size: int) -> tuple[Tensor, Tensor]:
        chosen = self.pairs[torch.randint(len(self.pairs), (size,), device=self.pairs.device)]
        return chosen[:, 0], chosen[:, 1]

    @staticmethod
    def allowed(left: Tensor, right: Tensor, margin: float = 0.05) -> Tensor:
        """Negatives that the teacher finds clearly worse than the partner; the others may well be right too."""
        likeness = left @ right.T
        return likeness < likeness.diagonal()[:, None] - margin


@dataclass
class Wished:
    """Wishes with their right and their tempting wrong titles, by number; `allowed` says which right titles of the
    other wishes are wrong for a wish."""

    asked: Tensor
    right: Tensor
    wrong: Tensor
    allowed: Tensor


class WishLessons:
    """What a wish means against what only has its words: an accessory, a part, another brand."""

    def __init__(self, prepared: Prepared, store: Store, namer: Deep, without: int | None) -> None:
        chosen = prepared.wish_group != without
        self.wishes = torch.from_numpy(prepared.wishes[chosen]).to(store.device)
        self.typos = torch.from_numpy(prepared.wish_typos[chosen]).to(store.device)
        vectors = store.deep_all(namer, self.wishes[:, : 1 + RIGHTS].flatten())
        self.asked, self.right = vectors.view(len(self.wishes), 1 + RIGHTS, -1).split([1, RIGHTS], dim=1)

    def draw(self, size: int, typo_share: float) -> Wished:
        size = min(size, len(self.wishes))
        device = self.wishes.device
        chosen = torch.randperm(len(self.wishes), device=device)[:size]
        asked, right, wrong = self.wishes[chosen].split([1, RIGHTS, self.wishes.shape[1] - 1 - RIGHTS], dim=1)
        variant = torch.randint(self.typos.shape[1], (size, 1), device=device)
        slip = torch.rand(size, device=device) < typo_share
        asked = torch.where(slip, self.typos[chosen].gather(1, variant).squeeze(1), asked.squeeze(1))
        allowed = self.asked[chosen].squeeze(1) @ self.right[chosen].flatten(0, 1).T <= ALIKE
        own = torch.eye(size, dtype=torch.bool, device=device).repeat_interleave(RIGHTS, dim=1)
        return Wished(asked, right, wrong, allowed & ~own)


class Meanings:
    """What a frozen teacher makes of every text it is asked about, computed once."""

    def __init__(self, store: Store, teacher: Teacher, prepared: Prepared, texts: Tensor) -> None:
        self.place = torch.full((len(prepared.token_ends),), -1, device=store.device)
        self.place[texts] = torch.arange(len(texts), device=store.device)
        self.vectors = teacher(texts)
        listings = torch.from_numpy(prepared.listings).to(store.device)
        if len(listings):
            # A listing means its title first: the mean of the title's and the whole text's vector. Learning that
            # lets one pass over "title. description" do the work of two.
            titles = self.vectors[self.place[listings[:, 0]]].float()
            whole = self.vectors[self.place[listings[:, 1]]].float()
            self.vectors[self.place[listings[:, 1]]] = F.normalize(titles + whole, dim=1).half()

    def of(self, texts: Tensor) -> Tensor:
        return self.vectors[self.place[texts]].float()


class PoolLessons:
    """Texts the teacher knows, half of them close to each other, where order matters most; and their misspellings."""

    def __init__(self, prepared: Prepared, meanings: Meanings) -> None:
        device = meanings.vectors.device
        train = np.ones(len(prepared.pool), bool)
        train[prepared.pool_dev] = False
        texts, typos = prepared.pool[train], prepared.pool_typos[train]
        lengths = np.diff(prepared.token_ends, prepend=0)[texts]
        short = lengths <= SHORT
        self.texts = torch.from_numpy(texts[short]).to(device)
        self.typos = torch.from_numpy(typos[short]).to(device)
        self.long = torch.from_numpy(texts[~short & (lengths <= LONG)]).to(device)
        self.slippery = torch.nonzero(self.typos[:, 0] >= 0).squeeze(1)
        self.listings = torch.from_numpy(prepared.listings).to(device)
        self.meanings = meanings
        self.vectors = meanings.vectors[meanings.place[self.texts]]

    def draw(self, size: int, near: int = 32) -> Tensor:
        groups = max(1, size // 2 // near)
        centres = self._random(groups)
        near = min(near, len(self.texts))
        close = (self.vectors[centres] @ self.vectors.T).topk(near, dim=1).indices.flatten()
        return self.texts[torch.cat([close, self._random(max(1, size - len(close)))])]

    def draw_typos(self, size: int) -> tuple[Tensor, Tensor]:
        """(misspelled, clean)"""
        chosen = self.slippery[torch.randint(len(self.slippery), (size,), device=self.texts.device)]
        variant = torch.randint(self.typos.shape[1], (size,), device=self.texts.device)
        return self.typos[chosen, variant], self.texts[chosen]

    def draw_long(self, size: int) -> Tensor:
        """Longer titles and descriptions, still short enough not to be cut."""
        return self._some(self.long, size)

    def draw_listings(self, size: int) -> tuple[Tensor, Tensor]:
        """(titles, whole texts)"""
        chosen = self._some(self.listings, size)
        return chosen[:, 0], chosen[:, 1]

    @staticmethod
    def _some(texts: Tensor, size: int) -> Tensor:
        return texts[torch.randint(len(texts), (size,), device=texts.device)] if len(texts) else texts

    def _random(self, size: int) -> Tensor:
        return torch.randint(len(self.texts), (size,), device=self.texts.device)


def contrast(asked: Tensor, found: Tensor, allowed: Tensor) -> Tensor:
    """Each finds its partner among all the others, both ways, at the temperature; what is not allowed does not count."""
    logits = asked @ found.T / TEMPERATURE
    own = torch.eye(len(logits), dtype=torch.bool, device=logits.device)
    logits = logits.masked_fill(~(allowed | own), -1e4)
    target = torch.arange(len(logits), device=logits.device)
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2


def wished(asked: Tensor, right: Tensor, wrong: Tensor, allowed: Tensor) -> Tensor:
    """Each right title against all that is wrong: the tempting titles, and those of the other wishes."""
    own = (right * asked[:, None]).sum(2) / WISH_TEMPERATURE
    tempting = (wrong * asked[:, None]).sum(2) / WISH_TEMPERATURE
    others = (asked @ right.flatten(0, 1).T / WISH_TEMPERATURE).masked_fill(~allowed, -1e4)
    worse = torch.logsumexp(torch.cat([tempting, others], dim=1), dim=1, keepdim=True)
    return F.softplus(worse - own).mean()


def drift(mine: Tensor, meant: Tensor) -> Tensor:
    """How far the vectors moved from where they should be: one minus the cosine."""
    return (1 - (mine * meant).sum(1)).mean()


def order_lost(mine: Tensor, others: Tensor, meant: Tensor, meant_others: Tensor) -> Tensor:
    """How much of the teacher's ranking of the others is lost, as a divergence of the two rankings' soft scores."""
    want = F.log_softmax(meant @ meant_others.T / TEMPERATURE, dim=1)
    have = F.log_softmax(mine @ others.T / TEMPERATURE, dim=1)
    return F.kl_div(have, want, log_target=True, reduction="batchmean")
