from typing import Literal, cast

ChangeRecordChange = Literal[
    "deleted",
    "upserted",
]


def check_change_record_change(word: str) -> ChangeRecordChange:
    return cast(ChangeRecordChange, word)
