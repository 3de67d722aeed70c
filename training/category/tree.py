"""The decisions from the root to a category, as flat arrays for the training: first level two, then one branch after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .taxonomy import Taxonomy


@dataclass(frozen=True)
class Tree:
    first: list[int]
    """The categories of the first decision: those of level two, and roots without children."""
    steps: np.ndarray
    """(branch, row of the choice) of all categories, one after the other. Rows are categories, then the first decision's."""
    step_start: np.ndarray
    options: np.ndarray
    """The rows to choose from at each branch, one after the other."""
    option_start: np.ndarray

    @staticmethod
    def of(taxonomy: Taxonomy) -> Tree:
        count = len(taxonomy.ids)
        children: list[list[int]] = [[] for _ in range(count)]
        for at, parent in enumerate(taxonomy.parents):
            if parent != at:
                children[parent].append(at)
        first = [at for at in range(count) if taxonomy.depths[at] == 2 or (taxonomy.depths[at] == 1 and not children[at])]
        first_row = {at: count + row for row, at in enumerate(first)}
        branches = [at for at in range(count) if taxonomy.depths[at] >= 2 and children[at]]
        branch_number = {at: 1 + number for number, at in enumerate(branches)}
        lists = [list(first_row.values())] + [children[at] for at in branches]
        steps: list[tuple[int, int]] = []
        step_start = [0]
        for chain in taxonomy.chains:
            steps += [(0, first_row[at]) for at in chain if at in first_row]
            steps += [(branch_number[above], below) for above, below in zip(chain[1:], chain[2:])]
            step_start.append(len(steps))
        return Tree(
            first,
            np.array(steps),
            np.array(step_start),
            np.array([row for rows in lists for row in rows]),
            np.cumsum([0] + [len(rows) for rows in lists]),
        )
