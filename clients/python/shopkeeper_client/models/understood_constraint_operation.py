from typing import Literal, cast

UnderstoodConstraintOperation = Literal[
    "about",
    "above",
    "at_least",
    "at_most",
    "below",
    "between",
]


def check_understood_constraint_operation(word: str) -> UnderstoodConstraintOperation:
    return cast(UnderstoodConstraintOperation, word)
