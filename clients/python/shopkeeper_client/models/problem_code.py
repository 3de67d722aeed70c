from typing import Literal, cast

ProblemCode = Literal[
    "attribute_names_exhausted",
    "body_too_large",
    "changes_expired",
    "conflict",
    "expired_token",
    "headers_too_large",
    "insufficient_role",
    "internal",
    "invalid_host",
    "invalid_token",
    "malformed_json",
    "method_not_allowed",
    "missing_token",
    "not_found",
    "origin_not_allowed",
    "precondition_failed",
    "quota_exhausted",
    "rate_limited",
    "request_timeout",
    "too_many_tokens",
    "unavailable",
    "unsupported_media_type",
    "unsupported_protocol_version",
    "uri_too_long",
    "validation_failed",
]


def check_problem_code(word: str) -> ProblemCode:
    return cast(ProblemCode, word)
