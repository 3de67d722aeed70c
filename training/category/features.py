"""Which words of a text say what the thing is, and where they stand. The service has the same rules: crates/catalog/src/inference/category/words.rs."""

from __future__ import annotations

import unicodedata
from enum import IntEnum


class Place(IntEnum):
    """Where a word stands: the last word before a comma or a preposition names the thing."""

    HEAD = 0
    BEFORE_HEAD = 1
    MODIFIER = 2
    LATER_HEAD = 3
    LATER_BEFORE_HEAD = 4
    LATER_MODIFIER = 5
    FOR = 6
    WITH = 7
    DESCRIPTION = 8


PLACES = len(Place)
MOST_WORDS = 32
BREAKS = frozenset(",;:|()[]{}–—•·")
SKIPPED = frozenset("'’‘`")
PURPOSE = frozenset("for fit compatible".split())
COMPANY = frozenset("with w without in by from featuring including include made plus".split())
STOP = frozenset("a an the of and or on to at is as per this that your our my its it you be are no non not only new".split())
UNITS = frozenset("in inch ft foot feet cm mm m oz lb kg g mg ml l w v gal qt pk pc piece count ct x sq yd amp watt volt hz gb tb mb ah mah degree".split())
FNV_OFFSET, FNV_PRIME = 0x811C9DC5, 0x01000193


def singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


def hashed(word: str) -> int:
    state = FNV_OFFSET
    for byte in word.encode("utf-8"):
        state = ((state ^ byte) * FNV_PRIME) & 0xFFFFFFFF
    return state


def fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    spaced = "".join(" " if c in "™℠®©ªº" else c for c in text.lower())
    return "".join(c for c in unicodedata.normalize("NFKD", spaced) if not "\u0300" <= c <= "\u036f")


def pieces(text: str) -> list[str | None]:
    """The words of a text; `None` where a part ends."""
    found: list[str | None] = []
    word: list[str] = []
    text = fold(text) + " "
    for at, char in enumerate(text):
        if char.isalnum():
            word.append(char)
            continue
        if char in SKIPPED:
            continue
        if word:
            found.append("".join(word))
            word = []
        dash = char == "-" and text[at - 1 : at] in (" ", "") and text[at + 1 : at + 2] == " "
        if char in BREAKS or dash:
            found.append(None)
    return found


def is_number(word: str) -> bool:
    return not any(c.isalpha() for c in word)


def parts(text: str) -> list[tuple[str, list[str]]]:
    """The parts of a text, each with its role ("thing", "for", "with") and words; a break ends a role."""
    done: list[tuple[str, list[str]]] = []
    role, words, after_number = "thing", [], False

    def close() -> None:
        nonlocal words
        if words:
            done.append((role, words))
        words = []

    for piece in pieces(text):
        if piece is None:
            close()
            role, after_number = "thing", False
            continue
        number = is_number(piece)
        unit = after_number and piece in UNITS
        after_number = number or unit
        if number or unit:
            continue
        word = singular(piece)
        if word in PURPOSE or word in COMPANY:
            close()
            role = "for" if word in PURPOSE else "with"
        elif len(word) > 1 and word not in STOP:
            words.append(word)
    close()
    return done


def of_title(text: str) -> list[tuple[int, int]]:
    """Hash and place of every word and pair of words of a title."""
    features: list[tuple[int, int]] = []
    first, count, head = True, 0, ""
    for role, words in parts(text):
        words = words[: MOST_WORDS - count]
        if not words:
            break
        count += len(words)
        last = len(words) - 1
        for at, word in enumerate(words):
            if role == "for":
                place = Place.FOR
                if head:
                    features.append((hashed(head + " for " + word), int(Place.HEAD)))
            elif role == "with":
                place = Place.WITH
            else:
                place = (Place.HEAD if first else Place.LATER_HEAD) + min(last - at, 2)
            features.append((hashed(word), int(place)))
            if at:
                features.append((hashed(words[at - 1] + " " + word), int(place)))
        if role == "thing":
            first, head = False, words[-1]
    return features


def of_description(text: str, most: int = 40) -> list[tuple[int, int]]:
    words = [word for _, words in parts(text[:600]) for word in words][:most]
    features = [(hashed(word), int(Place.DESCRIPTION)) for word in words]
    return features + [(hashed(a + " " + b), int(Place.DESCRIPTION)) for a, b in zip(words, words[1:])]
