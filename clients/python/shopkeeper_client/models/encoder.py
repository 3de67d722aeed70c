from typing import Literal, cast

Encoder = Literal[
    "deep",
    "instant",
]


def check_encoder(word: str) -> Encoder:
    return cast(Encoder, word)
