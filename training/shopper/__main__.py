"""The recipe's steps, one command each: prepare, train-teacher, train-student, export, phrasebook, evaluate."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from pathlib import Path

import torch

from . import corpus, evaluate, export, sources
from .deep import Recipe as TeacherRecipe
from .deep import train_deep, without_common_direction
from .encoders import Deep, Instant, between, load_arctic, load_minilm
from .gather import Store
from .measured import Blend, Encoder, FloatDeep, Int8Deep, TableInstant
from .phrasebook import write_names, write_phrasebook
from .phrases import read_phrasebook
from .student import Ensemble, first_student, train_student
from .student import Recipe as StudentRecipe
from .wording import Wording, read_vocab

HERE = Path(__file__).resolve().parent.parent
NGRAM_ROWS = 30_000
DIMS = 256
MODEL = "shopper-3"


def main(argv: list[str] | None = None) -> None:
    args = _parser().parse_args(argv)
    torch.set_float32_matmul_precision("high")
    sources.check(args.base)
    args.step(args)


def prepare(args: argparse.Namespace) -> None:
    wording = Wording(read_vocab(args.base / "vocab.txt"), args.ngram_rows)
    prepared = corpus.prepare(args.data / "shopper-phrases.tsv", args.shared, wording, args.seed, args.limit, args.snippets)
    prepared.save(args.runs / "prepared.npz")


def teacher(args: argparse.Namespace) -> None:
    """One base model, all its layers, taught how shoppers talk."""
    device = _device()
    prepared = corpus.Prepared.load(args.runs / "prepared.npz")
    store = Store(prepared, device)
    base = _base(args, args.start).to(device).eval()
    turned = without_common_direction(base, store, _sample(prepared, device)).eval()
    start = Deep(turned.shape)
    start.load_state_dict(turned.state_dict())
    recipe = dataclasses.replace(TeacherRecipe(), **json.loads(args.recipe))
    namer = _base(args, "minilm").to(device).eval()
    taught = between(train_deep(prepared, start, turned, namer, recipe, device, args.seed), turned, args.blend)
    taught.save(args.runs / f"teacher-{args.name or args.start}.safetensors")


def student(args: argparse.Namespace) -> None:
    device = _device()
    prepared = corpus.Prepared.load(args.runs / "prepared.npz")
    store = Store(prepared, device)
    teachers = [Deep.load(args.runs / f"teacher-{name}.safetensors") for name in args.teachers.split(",")]
    sample = _sample(prepared, device)
    ensemble = Ensemble(teachers, store, sample, args.dims)
    wording = Wording(read_vocab(args.base / "vocab.txt"), args.ngram_rows)
    start = first_student(teachers[0], ensemble, store, sample, args.layers, wording)
    recipe = dataclasses.replace(StudentRecipe(), **json.loads(args.recipe))
    done = train_student(prepared, start, ensemble, _base(args, "minilm"), recipe, device, args.seed)
    done.deep.save(args.runs / "deep.safetensors")
    torch.save(done.table.table.detach().half().cpu(), args.runs / "instant.pt")


def _sample(prepared: corpus.Prepared, device: torch.device) -> torch.Tensor:
    return torch.from_numpy(prepared.pool[:: max(1, len(prepared.pool) // 100_000)]).to(device)


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
    phrases = read_phrasebook(args.data / "shopper-phrases.tsv", args.limit)
    said, things = write_phrasebook(phrases, both, args.models / "phrases.bin")
    write_names(phrases, args.models / "names.tsv")
    export.write_words(phrases, read_vocab(args.models / "vocab.txt"), args.models / "words.txt")
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
        base = FloatDeep(_base(args, "minilm"), wording, device)
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


def _base(args: argparse.Namespace, name: str) -> Deep:
    """A base model's own file, or one of ours where a test brings a tiny model."""
    tiny = args.base / "deep.safetensors"
    if tiny.exists():
        return Deep.load(tiny)
    return load_arctic(args.base / "arctic.onnx") if name == "arctic" else load_minilm(args.base / "model.safetensors")


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
    teach = step("train-teacher", teacher, "train one base model, all its layers")
    teach.add_argument("--start", choices=("minilm", "arctic"), default="minilm")
    teach.add_argument("--name", default=None, help="what to call the result; the base model's name by default")
    teach.add_argument("--blend", type=float, default=0.8, help="share of the trained weights; the rest is the base model's")
    learn = step("train-student", student, "train the small transformer and the table together")
    learn.add_argument("--teachers", default="minilm,arctic", help="names of trained teachers; the first lends its layers")
    learn.add_argument("--layers", type=int, default=4)
    learn.add_argument("--dims", type=int, default=DIMS)
    step("export", export_all, "write the files the service embeds")
    step("phrasebook", phrasebook, "where the things lie that phrases stand for")
    measuring = step("evaluate", measure, "print the table of measures")
    measuring.add_argument("--only", default=None, help="only encoders whose name contains this")
    return parser


if __name__ == "__main__":
    main()
