"""What does a text look like to the encoders? Tokens for the deep one, table rows for the instant one.

Everything here is repeated in Rust at run time, so every rule is kept small enough to say in a sentence.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

MAX_TOKENS = 128
"""Longest input in training, [CLS] and [SEP] included; the rest of a text is cut off."""

DEEP_TOKENS = 48
"""What the service reads of a text with the deep encoder: level with all 128, at less than half of the time."""

NGRAM_SIZES = (3, 4, 5)
FNV_OFFSET, FNV_PRIME = 0x811C9DC5, 0x01000193


def read_vocab(path: Path) -> list[str]:
    """One token a line; the line number is the token's id."""
    return path.read_text(encoding="utf-8").splitlines()


def fnv1a(text: str) -> int:
    """32-bit FNV-1a over the UTF-8 bytes: three lines in any language, no dependency."""
    state = FNV_OFFSET
    for byte in text.encode("utf-8"):
        state = ((state ^ byte) * FNV_PRIME) & 0xFFFFFFFF
    return state


class Wording:
    """BERT's uncased WordPiece, plus hashed character n-grams for the words WordPiece has to break up."""

    def __init__(self, vocab: list[str], ngram_rows: int) -> None:
        self.vocab = vocab
        self.ngram_rows = ngram_rows
        ids = {token: index for index, token in enumerate(vocab)}
        self.pad, self.unk, self.cls, self.sep = (ids[t] for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]"))
        self._tokenizer = Tokenizer(WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
        self._tokenizer.normalizer = BertNormalizer(lowercase=True)
        self._tokenizer.pre_tokenizer = BertPreTokenizer()
        self._rows_of_word = lru_cache(maxsize=None)(self._rows_of_broken_word)

    def pieces(self, texts: list[str]) -> list[list[int]]:
        """WordPiece ids without [CLS] and [SEP], cut to what the deep encoder reads."""
        return [e.ids[: MAX_TOKENS - 2] for e in self._tokenizer.encode_batch(texts, add_special_tokens=False)]

    def tokens(self, pieces: list[int]) -> list[int]:
        """The deep encoder's input."""
        return [self.cls, *pieces, self.sep]

    def rows(self, pieces: list[int]) -> list[int]:
        """The instant encoder's rows: each piece, and for a word of several pieces its hashed n-grams too.

        A word that WordPiece knows whole is its own row. A word it must break up is rare or misspelled, and
        there its letters tell more than its pieces do.
        """
        rows: list[int] = []
        word: list[int] = []
        for piece in pieces:
            if piece == self.unk:
                continue
            if word and not self.vocab[piece].startswith("##"):
                rows += self._rows_of_word(tuple(word))
                word = []
            word.append(piece)
        if word:
            rows += self._rows_of_word(tuple(word))
        return rows

    def _rows_of_broken_word(self, word: tuple[int, ...]) -> list[int]:
        if len(word) == 1 or not self.ngram_rows:
            return list(word)
        spelled = "<" + "".join(self.vocab[piece].removeprefix("##") for piece in word) + ">"
        grams = [spelled]
        for size in NGRAM_SIZES:
            grams += [spelled[i : i + size] for i in range(len(spelled) - size + 1)]
        return [*word, *(len(self.vocab) + fnv1a(gram) % self.ngram_rows for gram in grams)]
