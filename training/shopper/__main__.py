"""The recipe's steps, one command each: prepare, train-deep, align-instant, export, phrasebook, evaluate."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from pathlib import Path

import torch

from . import corpus, evaluate, export
from .deep import THIN, train_deep, with_principal_axes
from .deep import Recipe as DeepRecipe
from .encoders import Deep, Instant, between, load_minilm, thinned
from .gather import Store
from .instant import Recipe as InstantRecipe
from .instant import align_instant, first_table
from .measured import Blend, Encoder, FloatDeep, Int8Deep, TableInstant
from .phrasebook import write_phrasebook
from .wording import Wording, read_vocab

HERE = Path(__file__).resolve().parent.parent
NGRAM_ROWS = 30_000
DIMS = 256
MODEL = "shopper-1"


def main(argv: list[str] | None = None) -> None:
    args = _parser().parse_args(argv)
    torch.set_float32_matmul_precision("high")
    args.step(args)


def prepare(args: argparse.Namespace) -> None:
    wording = Wording(read_vocab(args.base / "vocab.txt"), args.ngram_rows)
    prepared = corpus.prepare(args.data / "shopper-phrases.tsv", args.shared, wording, args.seed, args.limit, args.snippets)
    prepared.save(args.runs / "prepared.npz")


def deep(args: argparse.Namespace) -> None:
    """All layers first, from the base model; then fewer, from what the first one learned."""
    device = _device()
    prepared = corpus.Prepared.load(args.runs / "prepared.npz")
    store = Store(prepared, device)
    base = _base(args).to(device).eval()
    sample = torch.from_numpy(prepared.pool[:: max(1, len(prepared.pool) // 100_000)]).to(device)
    turned = with_principal_axes(base, store, sample, min(args.dims, base.shape.dims)).eval()
    recipe = dataclasses.replace(DeepRecipe(), **json.loads(args.recipe))
    full = Deep.load(args.teacher) if args.teacher else None
    if full is None:
        start = Deep(turned.shape)
        start.load_state_dict(turned.state_dict())
        full = between(train_deep(prepared, start, turned, turned, recipe, device, args.seed), turned, args.blend)
        full.save(args.runs / "deep-full.safetensors")
    final = full
    if args.layers < full.shape.layers:
        thin = dataclasses.replace(THIN, **json.loads(args.thin_recipe))
        final = train_deep(prepared, thinned(full, args.layers), full, turned, thin, device, args.seed)
    final.save(args.runs / "deep.safetensors")


def instant(args: argparse.Namespace) -> None:
    device = _device()
    prepared = corpus.Prepared.load(args.runs / "prepared.npz")
    store = Store(prepared, device)
    model = Deep.load(args.runs / "deep.safetensors").to(device).eval()
    wording = Wording(read_vocab(args.base / "vocab.txt"), args.ngram_rows)
    start = first_table(prepared, model, store, len(wording.vocab), args.ngram_rows, wording.cls, wording.sep)
    recipe = dataclasses.replace(InstantRecipe(), **json.loads(args.recipe))
    table = align_instant(prepared, model, _base(args), start, recipe, device, args.seed)
    torch.save(table.table.detach().half().cpu(), args.runs / "instant.pt")


def export_all(args: argparse.Namespace) -> None:
    args.models.mkdir(parents=True, exist_ok=True)
    vocab = read_vocab(args.base / "vocab.txt")
    model = Deep.load(args.runs / "deep.safetensors")
    export.export_deep(model, args.models / "deep.onnx")
    numbers = torch.load(args.runs / "instant.pt", weights_only=True).float()
    table = Instant(*numbers.shape)
    table.table.data = numbers
    export.export_instant(table, len(vocab), args.models / "instant.bin")
    export.write_vocab(vocab, args.models / "vocab.txt")

    wording = Wording(vocab, len(numbers) - len(vocab))
    floats = FloatDeep(model, wording, torch.device("cpu"))
    int8 = Int8Deep(args.models / "deep.onnx", wording, args.threads)
    quick = TableInstant(args.models / "instant.bin", wording)
    phrases = evaluate.read_phrases(args.data / "shopper-phrases.tsv", args.limit)
    export.write_words(phrases, vocab, args.models / "words.txt")
    both = Blend(int8, quick, export.INSTANT_SHARE)
    cuts = {"deep": evaluate.thresholds(phrases, both), "instant": evaluate.thresholds(phrases, quick)}
    export.write_manifest(args.models / "model.json", MODEL, model.shape.dims, model.shape.layers, len(numbers) - len(vocab), cuts)
    _write_golden(args.models / "golden.json", wording, floats, int8, quick, both)
    sample = [p.text for p in phrases if p.split != evaluate.Split.TRAIN][:2000]
    agreement = (floats.encode(sample) * int8.encode(sample)).sum(1)
    print(f"int8 against float on {len(sample)} held-out phrases: cosine {agreement.mean():.4f} on average, {agreement.min():.4f} at worst")
    for path in sorted(args.models.iterdir()):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


def phrasebook(args: argparse.Namespace) -> None:
    """With the finished encoders, as the service has them."""
    wording = Wording(read_vocab(args.models / "vocab.txt"), 0)
    both = Blend(Int8Deep(args.models / "deep.onnx", wording, args.threads), TableInstant(args.models / "instant.bin", wording), export.INSTANT_SHARE)
    said, things = write_phrasebook(evaluate.read_phrases(args.data / "shopper-phrases.tsv", args.limit), both, args.models / "phrases.bin")
    print(f"{said:,} phrases for {things:,} things")


def _write_golden(path: Path, wording: Wording, floats: Encoder, int8: Encoder, quick: Encoder, both: Encoder) -> None:
    """Texts with what they must become at every stage, for the agreement test in Rust."""
    vectors = {"transformer_float": floats, "transformer_int8": int8, "instant": quick, "deep": both}
    encoded = {name: encoder.encode(export.GOLDEN) for name, encoder in vectors.items()}
    cases = []
    for i, (text, pieces) in enumerate(zip(export.GOLDEN, wording.pieces(export.GOLDEN))):
        case = {"text": text, "tokens": wording.tokens(pieces), "rows": wording.rows(pieces)}
        case |= {name: [round(float(x), 6) for x in rows[i]] for name, rows in encoded.items()}
        cases.append(case)
    path.write_text(json.dumps(cases, ensure_ascii=False) + "\n", encoding="utf-8")


def measure(args: argparse.Namespace) -> None:
    device = _device()
    vocab = args.models / "vocab.txt"
    wording = Wording(read_vocab(vocab if vocab.exists() else args.base / "vocab.txt"), 0)
    int8 = Int8Deep(args.models / "deep.onnx", wording, args.threads)
    quick = TableInstant(args.models / "instant.bin", wording)
    pairs: dict[str, tuple[Encoder, Encoder]] = {}
    if args.base.exists():
        base = FloatDeep(_base(args), wording, device)
        pairs["MiniLM"] = (base, base)
    if (args.runs / "deep.safetensors").exists():
        floats = FloatDeep(Deep.load(args.runs / "deep.safetensors"), wording, device)
        pairs["transformer, float"] = (floats, floats)
    both = Blend(int8, quick, export.INSTANT_SHARE)
    pairs |= {
        "transformer, int8": (int8, int8),
        "deep": (both, both),
        "instant": (quick, quick),
        "instant → deep": (quick, both),
        "deep → instant": (both, quick),
    }
    exam = evaluate.Examination(args.data, args.shared)
    rows = {}
    for name, (ask, find) in pairs.items():
        if not args.only or args.only in name:
            rows[name] = exam.measures(ask, find)
            print(name, {key: round(value, 4) for key, value in rows[name].items()}, flush=True)
    print(evaluate.table(rows))


def _base(args: argparse.Namespace) -> Deep:
    """MiniLM's own file, or one of ours where a test brings a tiny model."""
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
    common.add_argument("--ngram-rows", type=int, default=NGRAM_ROWS)
    common.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    common.add_argument("--recipe", default="{}", help="JSON that overrides fields of the step's Recipe")
    steps = parser.add_subparsers(required=True)

    def step(name: str, run, description: str) -> argparse.ArgumentParser:
        one = steps.add_parser(name, parents=[common], help=description)
        one.set_defaults(step=run)
        return one

    step("prepare", prepare, "tokenise everything once").add_argument("--snippets", type=int, default=300_000)
    train = step("train-deep", deep, "train the transformer")
    train.add_argument("--layers", type=int, default=4)
    train.add_argument("--dims", type=int, default=DIMS)
    train.add_argument("--blend", type=float, default=0.8, help="share of the trained weights; the rest is the base model's")
    train.add_argument("--thin-recipe", default="{}", help="the same for the second half, with fewer layers")
    train.add_argument("--teacher", type=Path, default=None, help="a trained full model: skip the first half")
    step("align-instant", instant, "train the table")
    step("export", export_all, "write the files the service embeds")
    step("phrasebook", phrasebook, "where the things lie that phrases stand for")
    measuring = step("evaluate", measure, "print the table of measures")
    measuring.add_argument("--only", default=None, help="only encoders whose name contains this")
    return parser


if __name__ == "__main__":
    main()
