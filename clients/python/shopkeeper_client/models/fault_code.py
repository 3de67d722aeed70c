from typing import Literal, cast

FaultCode = Literal[
    "blank",
    "control_character",
    "empty",
    "invalid_key",
    "invalid_price",
    "invalid_url",
    "no_change",
    "not_found",
    "out_of_range",
    "precondition_failed",
    "repeated",
    "required",
    "too_long",
    "too_many",
    "unknown_field",
    "unknown_parameter",
    "unknown_role",
    "unknown_type",
    "wrong_type",
]


def check_fault_code(word: str) -> FaultCode:
    return cast(FaultCode, word)
