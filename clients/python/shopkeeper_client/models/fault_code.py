from typing import Literal, cast

FaultCode = Literal[
    "attribute_names_exhausted",
    "blank",
    "conflict",
    "control_character",
    "empty",
    "exclusive",
    "invalid_amount",
    "invalid_key",
    "invalid_name",
    "invalid_price",
    "invalid_sort",
    "invalid_url",
    "no_change",
    "not_found",
    "out_of_range",
    "precondition_failed",
    "quota_exhausted",
    "repeated",
    "required",
    "too_long",
    "too_many",
    "unknown_category",
    "unknown_currency",
    "unknown_field",
    "unknown_parameter",
    "unknown_role",
    "unknown_type",
    "wrong_type",
]


def check_fault_code(word: str) -> FaultCode:
    return cast(FaultCode, word)
