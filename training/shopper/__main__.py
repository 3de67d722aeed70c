"""The recipe's steps, one command each: prepare, train, export, phrasebook, evaluate."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from pathlib import Path

import torch

from . import corpus, evaluate, export, sources
from .deep import Lessons, Recipe, train_deep, without_common_direction
from .encoders import Deep, between, load_minilm
from .gather import Store
from .measured import Encoder, FloatDeep, Int8Deep, TableInstant
from .phrasebook import write_names, write_phrasebook
from .phrases import read_phrasebook
from .wording import Wording, read_vocab

HERE = Path(__file__).resolve().parent.parent
MODEL = "shopper-4"


def main(argv: list[str] | None = None) -> None:
    args = _parser().parse_args(argv)
    torch.set_float32_matmul_precision("high")
    sources.check(args.base)
    args.step(args)


def prepare(args: argparse.Namespace) -> None:
    wording = Wording(read_vocab(args.base / "vocab.txt"), 0)
    prepared = corpus.prepare(args.data / "shopper-phrases.tsv", args.shared, wording, args.seed, args.limit, args.snippets)
    prepared.save(args.runs / "prepared.npz")


def train(args: argparse.Namespace) -> None:
    """The base model, all its layers, taught how shoppers talk and what they mean."""
    prepared = corpus.Prepared.load(args.runs / "prepared.npz")
    store = Store(prepared, _device())
    base = _base(args).to(store.device).eval()
    sample = torch.from_numpy(prepared.pool[:: max(1, len(prepared.pool) // 100_000)]).to(store.device)
    start = without_common_direction(base, store.deep_all(base, sample), args.seed)
    recipe = dataclasses.replace(Recipe(), **json.loads(args.recipe))
    lessons = Lessons(prepared, store, start, base, args.seed, args.without)
    taught = between(train_deep(lessons, start, recipe, args.seed), start, args.blend)
    taught.save(args.runs / "deep.safetensors")


def export_all(args: argparse.Namespace) -> None:
    """Writes all files of the deep encoder beside `instant.bin`, which stays as it is."""
    vocab = read_vocab(args.base / "vocab.txt")
    model = Deep.load(args.runs / "deep.safetensors")
    export.export_deep(model, args.models / "deep.onnx")
    export.write_vocab(vocab, args.models / "vocab.txt")
    wording = Wording(vocab, 0)
    quick = TableInstant(args.models / "instant.bin", wording)
    floats = FloatDeep(model, wording, torch.device("cpu"))
    int8 = Int8Deep(args.models / "deep.onnx", wording, args.threads)
    export.write_manifest(args.models / "model.json", MODEL, model.shape, quick.table.shape[1], quick.wording.ngram_rows)
    _write_golden(args.models / "golden.json", quick.wording, floats, int8, quick)


def phrasebook(args: argparse.Namespace) -> None:
    vocab = read_vocab(args.models / "vocab.txt")
    phrases = read_phrasebook(args.data / "shopper-phrases.tsv", args.limit)
    wording = Wording(vocab, 0)
    instant = TableInstant(args.models / "instant.bin", wording)
    deep = Int8Deep(args.models / "deep.onnx", wording, args.threads)
    said, things = write_phrasebook(phrases, instant, deep, args.models / "phrases.bin")
    write_names(phrases, args.models / "names.tsv")
    export.write_words(phrases, vocab, args.models / "words.txt")
    print(f"{said:,} phrases for {things:,} things")


def _write_golden(path: Path, wording: Wording, floats: Encoder, int8: Encoder, quick: Encoder) -> None:
    """Texts with what they must become at every stage, for the agreement test in Rust."""
    vectors = {"transformer_float": floats, "transformer_int8": int8, "instant": quick}
    encoded = {name: encoder.encode(export.GOLDEN) for name, encoder in vectors.items()}
    cases = []
    for i, (text, pieces) in enumerate(zip(export.GOLDEN, wording.pieces(export.GOLDEN))):
        case = {"text": text, "tokens": wording.tokens(pieces), "rows": wording.rows(pieces)}
        case |= {name: [round(float(x), 6) for x in rows[i]] for name, rows in encoded.items()}
        cases.append(case)
    path.write_text(json.dumps(cases, ensure_ascii=False) + "\n", encoding="utf-8")


def measure(args: argparse.Namespace) -> None:
    wording = Wording(read_vocab(args.models / "vocab.txt"), 0)
    encoders: dict[str, Encoder] = {}
    if args.base.exists():
        encoders["MiniLM"] = FloatDeep(_base(args), wording, _device())
    if (args.runs / "deep.safetensors").exists():
        encoders["deep, float"] = FloatDeep(Deep.load(args.runs / "deep.safetensors"), wording, _device())
    encoders["deep"] = Int8Deep(args.models / "deep.onnx", wording, args.threads)
    encoders["instant"] = TableInstant(args.models / "instant.bin", wording)
    exam = evaluate.Examination(args.data, args.shared, args.without)
    print(evaluate.table({name: exam.measures(encoder) for name, encoder in encoders.items() if not args.only or args.only in name}))


def _base(args: argparse.Namespace) -> Deep:
    """The base model's own file, or one of ours where a test brings a tiny model."""
    tiny = args.base / "deep.safetensors"
    return Deep.load(tiny) if tiny.exists() else load_minilm(args.base / "model.safetensors")


def _device() -> torch.device:
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m shopper", description=__doc__)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--shared", type=Path, default=HERE.parent.parent / "shared", help="folder with training/, relevance/, catalogs/")
    common.add_argument("--data", type=Path, default=HERE / "data", help="our phrases and requests")
    common.add_argument("--base", type=Path, default=HERE / "base", help="folder with MiniLM's model.safetensors and vocab.txt")
    common.add_argument("--runs", type=Path, default=HERE / "runs", help="scratch for prepared data and float weights")
    common.add_argument("--models", type=Path, default=HERE.parent / "models", help="where the finished weights live")
    common.add_argument("--seed", type=int, default=1)
    common.add_argument("--limit", type=int, default=None, help="only the first N product types (smoke run)")
    common.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    common.add_argument("--without", type=int, default=None, help="a group of departments whose wishes are left out of training")
    common.add_argument("--recipe", default="{}", help="JSON that overrides fields of the step's Recipe")
    steps = parser.add_subparsers(required=True)

    def step(name: str, run, description: str) -> argparse.ArgumentParser:
        one = steps.add_parser(name, parents=[common], help=description)
        one.set_defaults(step=run)
        return one

    step("prepare", prepare, "tokenise everything once").add_argument("--snippets", type=int, default=300_000)
    training = step("train", train, "train the base model, all its layers")
    training.add_argument("--blend", type=float, default=0.9, help="share of the trained weights; the rest is the base model's")
    step("export", export_all, "write the files the service embeds")
    step("phrasebook", phrasebook, "where the things lie that phrases stand for")
    measuring = step("evaluate", measure, "print the table of measures")
    measuring.add_argument("--only", default=None, help="only encoders whose name contains this")
    return parser


if __name__ == "__main__":
    main()
