from typing import Literal, cast

UnderstoodSortOrder = Literal[
    "newest",
    "price_ascending",
    "price_descending",
]


def check_understood_sort_order(word: str) -> UnderstoodSortOrder:
    return cast(UnderstoodSortOrder, word)
