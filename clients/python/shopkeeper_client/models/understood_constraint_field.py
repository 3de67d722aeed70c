from typing import Literal, cast

UnderstoodConstraintField = Literal["price",]


def check_understood_constraint_field(word: str) -> UnderstoodConstraintField:
    return cast(UnderstoodConstraintField, word)
