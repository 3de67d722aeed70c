"""The recipe for other languages: the rules of spelling, what is held out, and all steps on a few made-up kinds."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path

import numpy as np
import pytest

from multilingual import export, spelling
from multilingual.__main__ import main
from multilingual.english import English, basic_tokens
from multilingual.examples import held_types, rows
from shopper.phrasebook import write_phrasebook
from shopper.phrases import Kind, Phrase, Split

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "training" / "data"


def test_words_end_where_the_script_changes() -> None:
    assert list(spelling.words("L'Eau 42, 4K ｿﾌｧ赤い sofá")) == ["l", "eau", "4k", "ソファ赤い", "sofá"]
    assert list(spelling.words("USBケーブル 180 x 90")) == ["usb", "ケーブル", "x"]


def test_letters_are_folded_and_the_word_as_written_has_a_row_too() -> None:
    assert spelling.folded("kühlschränkeß") == "kuhlschrankess"
    assert spelling.folded("łódź") == "lodz"
    assert spelling.folded("ガ한") == "ガ한"
    assert spelling.grams("sofá") == ["<sofa>", *spelling.ngrams("<sofa>", (3, 4, 5)), "<sofá>"]
    assert spelling.grams("雨伞") == ["雨", "伞", "雨伞"]
    assert set(spelling.text_rows("sofa", 1 << 17)) < set(spelling.text_rows("Sofá", 1 << 17))


def test_the_hash_is_the_known_one() -> None:
    assert spelling.fnv1a("") == 0xCBF29CE484222325
    assert spelling.fnv1a("foobar") == 0x85944171F73967E8
    assert spelling.word_rows("雨", 1 << 32) == [(spelling.fnv1a("雨") >> 32) ^ (spelling.fnv1a("雨") & 0xFFFFFFFF)]


def test_the_english_encoder_is_that_of_the_service() -> None:
    english = English(ROOT / "models")
    short = [one for one in json.loads((ROOT / "models/golden.json").read_text(encoding="utf-8")) if len(one["text"]) < 200]
    assert len(short) > 8
    for one in short:
        assert float(english.encode([one["text"]])[0] @ np.array(one["instant"])) > 0.9999, one["text"]
    assert basic_tokens("Café, 茶x") == ["cafe", ",", "茶", "x"]


def test_a_type_that_shares_its_name_is_not_held_out() -> None:
    names = {f"t-{n}": f"thing {n}" for n in range(200)}
    held = held_types(names)
    assert 8 < len(held) < 35
    type_ = min(held)
    assert type_ not in held_types({**names, "twin": names[type_] + "s"})


def test_attribute_words_are_in_order_and_have_an_english_word() -> None:
    found = rows(DATA / "attribute-words-multilingual.tsv")
    assert len({(row["language"], row["english"], row["text"]) for row in found}) == len(found)
    english = {language: {row["english"] for row in found if row["language"] == language} for language in {row["language"] for row in found}}
    assert len(english) == 17 and len({frozenset(words) for words in english.values()}) == 1


def test_golden_texts_have_the_rows_and_vectors_of_the_file() -> None:
    path = ROOT / "models" / "multilingual.bin"
    if not path.exists():
        pytest.skip("no model")
    model = export.Multilingual(path)
    for one in json.loads((ROOT / "models/multilingual-golden.json").read_text(encoding="utf-8")):
        assert spelling.text_rows(one["text"], model.rows) == one["rows"], one["text"]
        assert np.allclose(model.encode([one["text"]])[0][: export.GOLDEN_NUMBERS], one["vector"], atol=1e-5)
        assert abs(model.vote(one["text"]) - one["vote"]) < 1e-3


@pytest.fixture()
def place(tmp_path: Path) -> Path:
    """Kinds, phrases and an English encoder, all made up here."""
    chance = np.random.default_rng(0)
    things = {"lamp": "lampara", "chair": "silla", "table": "mesa", "shoe": "zapato", "scarf": "bufanda", "tent": "tienda", "spoon": "cuchara", "towel": "toalla"}
    vocabulary = ["[PAD]", "[UNK]", *things, "red", "-"]
    (tmp_path / "models").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "shared/training").mkdir(parents=True)
    (tmp_path / "models/vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    header = b"SKINST01" + struct.pack("<6I", 16, len(vocabulary), 4, 3, 5, 0)
    count = len(vocabulary) + 4
    table = chance.integers(-127, 127, (count, 16)).astype(np.int8)
    (tmp_path / "models/instant.bin").write_bytes(header + np.full(count, 0.01, "<f4").tobytes() + table.tobytes())
    phrases = [Phrase(name, Kind.NAME, name, Split.TRAIN) for name in things]
    instant = _Rows(dict(zip(vocabulary, table)))
    write_phrasebook(phrases, instant, instant, tmp_path / "models/phrases.bin")
    types = {f"x-{at}": name for at, name in enumerate(things)}
    lines = [f"{type_}\tC\t{name}\n{type_}\tN\tsome {name}\n" for type_, name in types.items()]
    (tmp_path / "data/shopper-phrases.tsv").write_text("type\tkind\ttext\n" + "".join(lines), encoding="utf-8")
    (tmp_path / "data/plain-phrases.tsv").write_text("type\tkind\ttext\n", encoding="utf-8")
    lines = [f"es\t{type_}\tC\t{things[name]}\nes\t{type_}\tN\tuna {things[name]} para mi\n" for type_, name in types.items()]
    (tmp_path / "data/shopper-phrases-multilingual.tsv").write_text("language\ttype\tkind\ttext\n" + "".join(lines), encoding="utf-8")
    (tmp_path / "data/attribute-words-multilingual.tsv").write_text("language\tenglish\ttext\nes\tred\trojo\nes\t-\tpara\n", encoding="utf-8")
    names = [{"id": type_, "names": {"en": name, "es": things[name]}} for type_, name in types.items()]
    (tmp_path / "shared/training/taxonomy.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, names)).encode()))
    return tmp_path


class _Rows:
    """An encoder of single words: each has its row of the table."""

    def __init__(self, rows: dict[str, np.ndarray]) -> None:
        self.rows = rows

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.stack([self.rows.get(text, self.rows["-"]) for text in texts]).astype(np.float32)


def test_a_table_is_learned_and_written(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = json.dumps({"rows": 1024, "passes": 30, "batch": 8, "vote_passes": 20})
    main(["train", "--root", str(place), "--data", str(place / "data"), "--shared", str(place / "shared"), "--recipe", recipe])
    assert "held-out types" in capsys.readouterr().out
    model = export.Multilingual(place / "models/multilingual.bin")
    assert (place / "models/multilingual.bin").stat().st_size == export.HEADER + 1024 * (3 + 16) + model.bits // 8
    assert model.knows("rojo") and model.knows("cuchara") and not model.knows("xyzzy")
    english = English(place / "models")
    trained = [type_ for type_ in ("x-0", "x-1", "x-2", "x-3") if type_ not in held_types({"x-0": "lamp", "x-1": "chair", "x-2": "table", "x-3": "shoe"})]
    pairs = {"x-0": ("lámpara", "lamp"), "x-1": ("silla", "chair"), "x-2": ("mesa", "table"), "x-3": ("zapato", "shoe")}
    for type_ in trained:
        foreign, name = pairs[type_]
        assert float(model.encode([foreign])[0] @ english.encode([name])[0]) > 0.7, foreign
    assert model.is_foreign("una silla para mi") and not model.is_foreign("some chair")
    assert len(json.loads((place / "models/multilingual-golden.json").read_text(encoding="utf-8"))) > 35
