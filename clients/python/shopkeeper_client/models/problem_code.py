from typing import Literal, cast

ProblemCode = Literal[
    "body_too_large",
    "changes_expired",
    "conflict",
    "expired_token",
    "headers_too_large",
    "insufficient_role",
    "internal",
    "invalid_token",
    "malformed_json",
    "method_not_allowed",
    "missing_token",
    "not_found",
    "origin_not_allowed",
    "precondition_failed",
    "rate_limited",
    "request_timeout",
    "unavailable",
    "unsupported_media_type",
    "unsupported_protocol_version",
    "uri_too_long",
    "validation_failed",
]


def check_problem_code(word: str) -> ProblemCode:
    return cast(ProblemCode, word)
