from typing import Literal, cast

NewMediaType = Literal["image",]


def check_new_media_type(word: str) -> NewMediaType:
    return cast(NewMediaType, word)
