"""What does a slip of the finger make of a text? One edit in its longest word."""

from __future__ import annotations

import random

NEIGHBOURS = {
    "q": "wa", "w": "qes", "e": "wrd", "r": "etf", "t": "ryg", "y": "tuh", "u": "yij", "i": "uok", "o": "ipl", "p": "ol",
    "a": "qsz", "s": "awdx", "d": "sefc", "f": "drgv", "g": "fthb", "h": "gyjn", "j": "hukm", "k": "jil", "l": "kop",
    "z": "asx", "x": "zsdc", "c": "xdfv", "v": "cfgb", "b": "vghn", "n": "bhjm", "m": "njk",
}  # fmt: skip
"""Keys beside each other on a QWERTY keyboard."""

SHORTEST = 4
"""Shorter words are left alone: an edit in "bed" makes another word, not a misspelling."""


def with_typo(text: str, chance: random.Random) -> str:
    """The text with one edit in its longest word (the first of equals); unchanged when it has no word of four letters."""
    words = text.split(" ")
    longest = max(range(len(words)), key=lambda i: (sum(c.isalpha() for c in words[i]), -i))
    if sum(c.isalpha() for c in words[longest]) < SHORTEST:
        return text
    words[longest] = _misspell(words[longest], chance)
    return " ".join(words)


def _misspell(word: str, chance: random.Random) -> str:
    """Swap, drop, double or replace one letter, never the first: people rarely get that one wrong."""
    for _ in range(10):
        at = chance.randrange(1, len(word))
        letter = word[at].lower()
        edit = chance.choice(("swap", "drop", "double", "replace"))
        if edit == "swap" and at + 1 < len(word):
            wrong = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        elif edit == "drop":
            wrong = word[:at] + word[at + 1 :]
        elif edit == "double":
            wrong = word[:at] + word[at] + word[at:]
        else:
            wrong = word[:at] + chance.choice(NEIGHBOURS.get(letter, "aeiou")) + word[at + 1 :]
        if wrong != word:
            return wrong
    return word
