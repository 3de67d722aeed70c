"""Every step of the recipe once, on a tiny corpus and a tiny random model, on any machine in seconds."""

from __future__ import annotations

import gzip
import json
import random
import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from shopper.__main__ import main
from shopper.encoders import Deep, Shape
from shopper.evaluate import ndcg, read_everyday
from shopper.lessons import wished
from shopper.measured import FloatDeep, Int8Deep, TableInstant
from shopper.phrases import Kind, Split, is_object, plain, read_phrases
from shopper.typos import with_typo
from shopper.wording import Wording, fnv1a, read_vocab

DATA = Path(__file__).resolve().parent.parent / "data"
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base model, a vocabulary and a handful of shared data, all made up here."""
    root = tmp_path_factory.mktemp("recipe")
    words = [w for w in ("red", "shoe", "lamp", "warm", "chair", "for", "my", "the", "women", "set", "black", "table")]
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *("##" + c for c in LETTERS), *",.&-'", *words]
    (root / "base").mkdir()
    (root / "base/vocab.txt").write_text("\n".join(vocab) + "\n", encoding="utf-8")
    torch.manual_seed(0)
    tiny = Shape(vocab=len(vocab), hidden=32, heads=2, inner=64, positions=128, layers=3, dims=32)
    Deep(tiny).save(root / "base/deep.safetensors")

    titles = [f"{colour} {thing} number {i}" for i in range(20) for colour in ("red", "black") for thing in ("lamp", "chair")]
    pairs = [[title, f"the {title}, warm and good for my table and for the women who sit there all day long, every day"] for title in titles]
    products = [{"product": i, "title": title.upper(), "description": ""} for i, title in enumerate(titles)]
    for folder in ("training", "relevance", "catalogs"):
        (root / "shared" / folder).mkdir(parents=True)
    (root / "shared/training/train.json.gz").write_bytes(gzip.compress(json.dumps({"texts": titles + ["warm shoe"], "pairs": pairs}).encode()))
    lines = "\n".join(json.dumps(product) for product in products[:10]).encode()
    for name in ("catalogs/store", "relevance/general-products", "relevance/home-products"):
        (root / f"shared/{name}.jsonl.gz").write_bytes(gzip.compress(lines))
    for name in ("general-dev", "home-dev", "home-typos-dev-judgments"):
        (root / f"shared/relevance/{name}.tsv").write_text("query\tproduct\tgrade\nred lamp\t0\t3\nred lamp\t1\t0\n", encoding="utf-8")
    (root / "models").mkdir()
    rows, dims, ngrams = len(vocab) + 50, 16, 50
    numbers = np.random.default_rng(1).integers(-127, 128, (rows, dims)).astype(np.int8)
    header = b"SKINST01" + struct.pack("<6I", dims, len(vocab), ngrams, 3, 5, 0)
    (root / "models/instant.bin").write_bytes(header + np.full(rows, 0.01, "<f4").tobytes() + numbers.tobytes())
    return root


def test_every_step_runs(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--shared", place / "shared", "--base", place / "base", "--runs", place / "runs", "--models", place / "models"]
    common += ["--limit", 60, "--threads", 1]
    small = {"steps": 4, "look_every": 2, "warm_up": 1, "phrases": 16, "pairs": 8, "pool": 16, "typos": 8, "listings": 4, "wishes": 8}

    def step(name: str, *more: object) -> None:
        main([name, *map(str, common), *map(str, more)])

    step("prepare", "--snippets", 50)
    step("train", "--without", 1, "--recipe", json.dumps(small))
    step("export")
    step("phrasebook")
    step("evaluate", "--without", 1)
    printed = capsys.readouterr().out
    for row in ("MiniLM", "deep, float", "deep", "instant"):
        assert f"| {row} |" in printed
    manifest = json.loads((place / "models/model.json").read_text(encoding="utf-8"))
    assert (manifest["dims"], manifest["deep"]["dims"], manifest["deep"]["layers"]) == (16, 32, 3)

    wording = Wording(read_vocab(place / "models/vocab.txt"), 50)
    floats = FloatDeep(Deep.load(place / "runs/deep.safetensors"), wording, torch.device("cpu"))
    int8 = Int8Deep(place / "models/deep.onnx", wording, 1)
    texts = ["red lamp", "a warm chair for my table"]
    assert ((floats.encode(texts) * int8.encode(texts)).sum(1) > 0.97).all()
    golden = json.loads((place / "models/golden.json").read_text(encoding="utf-8"))
    quick = TableInstant(place / "models/instant.bin", wording).encode([case["text"] for case in golden])
    words = (place / "models/words.txt").read_text(encoding="utf-8").split()
    assert all(len(case["transformer_int8"]) == 32 for case in golden)
    assert words and "red" not in words, "words that the vocabulary has whole are not listed again"
    assert words == sorted(set(words))
    assert np.allclose(quick, [case["instant"] for case in golden], atol=1e-5)


def test_nothing_held_out_is_trained_on() -> None:
    phrases = read_phrases(DATA / "shopper-phrases.tsv")
    trained = [p for p in phrases if p.split == Split.TRAIN]
    held_types = {p.type for p in phrases if p.split == Split.HELD_TYPE}
    held_words = {plain(p.text) for p in phrases if p.split == Split.HELD_PHRASE}
    assert 0.08 < len(held_types) / len({p.type for p in phrases}) < 0.12
    assert not held_types & {p.type for p in trained}
    assert not held_words & {plain(p.text) for p in trained if p.kind in (Kind.SYNONYM, Kind.NEED, Kind.TITLE)}


def test_a_wish_loss_asks_for_the_right_titles_first() -> None:
    asked, right, wrong = torch.eye(4)[:2], torch.eye(4)[:2, None], torch.eye(4)[2:, None]
    other = ~torch.eye(2, dtype=torch.bool)
    assert wished(asked, right, wrong, other) < 0.001
    assert wished(asked, wrong, right, other) > 5
    swapped = right.flip(0)
    assert wished(asked, swapped, wrong, ~other) > wished(asked, swapped, wrong, torch.zeros_like(other))


def test_everyday_objects_give_nothing_away() -> None:
    phrases = read_phrases(DATA / "shopper-phrases.tsv")
    objects = {plain(p.text) for p in phrases if is_object(p.type)}
    assert len(objects) > 2000
    assert not objects & {plain(p.text) for p in phrases if p.split != Split.TRAIN}
    assert not objects & {plain(request.query) for request in read_everyday(DATA / "everyday-requests.tsv")}


def test_a_typo_is_one_edit_in_the_longest_word() -> None:
    wrong = with_typo("blue headphones for kids", random.Random(1))
    assert wrong != "blue headphones for kids"
    assert [a == b for a, b in zip(wrong.split(" "), "blue headphones for kids".split(" "))] == [True, False, True, True]
    assert with_typo("tv", random.Random(1)) == "tv"


def test_a_broken_word_gets_its_letters_too() -> None:
    wording = Wording(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "sofa", "set", "##tee"], 100)
    sofa, settee = wording.pieces(["sofa", "settee"])
    assert wording.rows(sofa) == [4]
    grams = ["<settee>", "<se", "set", "ett", "tte", "tee", "ee>"]
    assert wording.rows(settee)[:9] == [5, 6, *(7 + fnv1a(gram) % 100 for gram in grams)]
    assert fnv1a("a") == 0xE40C292C


def test_everyday_requests_are_many_and_well_formed() -> None:
    requests = read_everyday(DATA / "everyday-requests.tsv")
    assert len({request.query for request in requests}) >= 150


def test_ndcg_is_one_for_the_ideal_order_and_less_for_any_other() -> None:
    grades = {1: 3.0, 2: 1.0, 3: 0.0}
    assert ndcg([1, 2, 3], grades) == pytest.approx(1.0)
    assert ndcg([2, 1, 3], grades) < 1.0
    assert ndcg([7, 8], grades) == 0.0
