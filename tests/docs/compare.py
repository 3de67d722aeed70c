"""Is what was printed what the page shows? `…` stands for anything."""

import json
import re

ANYTHING = "…"


def same_text(shown: str, printed: str) -> bool:
    """Line by line; `…` is anything within a line, and any number of lines where it stands alone."""
    pattern = ""
    for line in shown.strip("\n").split("\n"):
        if line.strip() == ANYTHING:
            pattern += r"(?:.*\n)*?"
        else:
            parts = (re.escape(part) for part in line.rstrip().split(ANYTHING))
            pattern += ".*".join(parts) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed.strip("\n") + "\n") is not None


def same_json(shown: str, printed: str) -> bool:
    """As values: the order of fields and the space between them do not matter."""
    try:
        return _matches(json.loads(shown), json.loads(printed))
    except ValueError:
        return False


def is_json(text: str) -> bool:
    """A value, or a piece of an object without its braces."""
    for candidate in (text, "{" + text + "}"):
        try:
            json.loads(candidate)
            return True
        except ValueError:
            pass
    return False


def _matches(shown, printed) -> bool:
    if isinstance(shown, str) and ANYTHING in shown:
        if shown == ANYTHING:
            return True
        return isinstance(printed, str) and same_text(shown, printed)
    if isinstance(shown, dict) and isinstance(printed, dict):
        fields = {name: value for name, value in shown.items() if name != ANYTHING}
        if ANYTHING not in shown and fields.keys() != printed.keys():
            return False
        return all(name in printed and _matches(value, printed[name]) for name, value in fields.items())
    if isinstance(shown, list) and isinstance(printed, list):
        return _matches_list(shown, printed)
    return type(shown) is type(printed) and shown == printed


def _matches_list(shown: list, printed: list) -> bool:
    if not shown:
        return not printed
    first, rest = shown[0], shown[1:]
    if first == ANYTHING:
        return any(_matches_list(rest, printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and _matches(first, printed[0]) and _matches_list(rest, printed[1:])
