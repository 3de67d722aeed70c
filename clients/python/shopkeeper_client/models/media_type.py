from typing import Literal, cast

MediaType = Literal["image",]


def check_media_type(word: str) -> MediaType:
    return cast(MediaType, word)
