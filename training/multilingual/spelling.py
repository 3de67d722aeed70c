"""Which rows of the table a text has. Everything here is repeated in Rust, so every rule is one sentence long.

1. NFKC, then each character in lower case on its own.
2. A word is a longest run of letters, marks and numbers (categories L, M, N) of one sort: either of scripts written
   without spaces (`DENSE`), or of all others.
3. A word without a letter (category L) has no rows.
4. A dense word has one row for each of its substrings of 1 to 3 characters.
5. Any other word is folded and put in "<" ">". It has a row for the whole, one for each substring of 3 to 5
   characters, and, if folding changed it, one for the unfolded word in "<" ">".
6. Folding: NFD, without U+0300 to U+036F, NFC, then the letters of `LETTERS`.
7. Row: FNV-1a of 64 bits over the UTF-8 bytes, upper half xor lower half, modulo the number of rows.
8. Only the first `MOST_ROWS` rows of a text count.
9. The first words of a text vote on its language, until they have `VOTERS` rows.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

FNV_OFFSET, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
NGRAMS = (3, 4, 5)
DENSE_NGRAMS = (1, 2, 3)
MOST_ROWS = 2048
VOTERS = 512
DENSE = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # 々〆〇
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),  # Hangul
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
"""First and last characters of scripts that are written without spaces, or, as Hangul, in syllables."""
LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ς": "σ"})


def normalised(text: str) -> str:
    return "".join(char.lower() for char in unicodedata.normalize("NFKC", text))


def folded(word: str) -> str:
    plain = "".join(char for char in unicodedata.normalize("NFD", word) if not "\u0300" <= char <= "\u036f")
    return unicodedata.normalize("NFC", plain).translate(LETTERS)


@lru_cache(maxsize=None)
def is_dense(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in DENSE)


@lru_cache(maxsize=None)
def _category(char: str) -> str:
    """L, M or N, or nothing outside of words."""
    category = unicodedata.category(char)[0]
    return category if category in "LMN" else ""


def words(text: str) -> Iterator[str]:
    word, dense = "", False
    for char in normalised(text) + " ":
        inside = _category(char)
        if word and (not inside or is_dense(char) != dense):
            if any(_category(letter) == "L" for letter in word):
                yield word
            word = ""
        if inside:
            if not word:
                dense = is_dense(char)
            word += char


def is_latin(char: str) -> bool:
    return ord(char) < 0x250 or 0x1E00 <= ord(char) <= 0x1EFF


def is_mostly_latin(words: list[str]) -> bool:
    """Whether at least half of their letters (category L) are Latin."""
    letters = [char for word in words for char in word if _category(char) == "L"]
    return 2 * sum(map(is_latin, letters)) >= len(letters)


def ngrams(word: str, sizes: tuple[int, ...]) -> list[str]:
    return [word[at : at + size] for size in sizes for at in range(len(word) - size + 1)]


def grams(word: str) -> list[str]:
    """What has a row of its own."""
    if is_dense(word[0]):
        return ngrams(word, DENSE_NGRAMS)
    plain = folded(word)
    marked = f"<{plain}>"
    return [marked, *ngrams(marked, NGRAMS), *([f"<{word}>"] if plain != word else [])]


def fnv1a(text: str) -> int:
    state = FNV_OFFSET
    for byte in text.encode("utf-8"):
        state = ((state ^ byte) * FNV_PRIME) & 0xFFFFFFFFFFFFFFFF
    return state


@lru_cache(maxsize=None)
def _folded_hash(gram: str) -> int:
    state = fnv1a(gram)
    return (state >> 32) ^ (state & 0xFFFFFFFF)


def word_rows(word: str, rows: int) -> list[int]:
    return [_folded_hash(gram) % rows for gram in grams(word)]


def text_rows(text: str, rows: int) -> list[int]:
    return [row for word in words(text) for row in word_rows(word, rows)][:MOST_ROWS]


def voters(text: str) -> list[str]:
    found, rows = [], 0
    for word in words(text):
        if rows >= VOTERS:
            break
        found.append(word)
        rows += len(grams(word))
    return found
