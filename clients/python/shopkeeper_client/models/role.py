from typing import Literal, cast

Role = Literal[
    "ADMIN",
    "EDITOR",
    "SHOPPER",
    "VIEWER",
]


def check_role(word: str) -> Role:
    return cast(Role, word)
