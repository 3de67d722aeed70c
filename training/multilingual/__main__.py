"""Learns the table for other languages, and writes multilingual.bin and multilingual-golden.json."""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

from . import examples, export, measure
from .english import English, product_vectors
from .train import Recipe, train

HERE = Path(__file__).resolve().parent.parent
GOLDEN = HERE / "data" / "multilingual-golden-texts.txt"


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m multilingual", description=__doc__)
    parser.add_argument("step", choices=("train", "measure"))
    parser.add_argument("--shared", type=Path, default=HERE.parent.parent / "shared", help="folder with training/taxonomy.jsonl.gz")
    parser.add_argument("--root", type=Path, default=HERE.parent, help="the repository: models, judgments, demo shop")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="our phrases")
    parser.add_argument("--out", type=Path, default=None, help="another folder than models for what is written")
    parser.add_argument("--all-types", action="store_true", help="hold nothing out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--recipe", default="{}", help="JSON that overrides fields of the recipe")
    args = parser.parse_args(given)
    models = args.root / "models"
    out = args.out or models
    taxonomy = examples.read_taxonomy(args.shared / "training" / "taxonomy.jsonl.gz")
    found = examples.read(args.data, taxonomy, models, examples.Weights(), hold=not args.all_types)
    print(f"{len(found.trained):,} texts, {len(found.held):,} of held-out types")
    if args.step == "train":
        model = train(found, Recipe(**json.loads(args.recipe)), args.seed)
        export.write(model, found.words(), out / "multilingual.bin")
        export.write_golden(export.Multilingual(out / "multilingual.bin"), GOLDEN.read_text(encoding="utf-8").splitlines(), out / "multilingual-golden.json")
        print(f"multilingual.bin: {(out / 'multilingual.bin').stat().st_size:,} bytes")
    report(args.root, args.data, found, export.Multilingual(out / "multilingual.bin"))


def report(root: Path, data: Path, found: examples.Examples, model: export.Multilingual) -> None:
    if found.held:
        english = English(root / "models").encode
        for name, shares in (("names", measure.held_out(found, model.encode)), ("titles", measure.held_out_titles(found, model.encode, english))):
            print(f"held-out types, {name}: " + ", ".join(f"{language} {x:.2f}" for language, x in shares.items()), flush=True)
    if not (root / "judgments").exists():
        return
    exam = measure.Examination(root)
    rule = measure.by_rule(model, exam.english)
    measure.print_demo(exam.demo(exam.english.encode), "demo shop, English encoder")
    measure.print_demo(exam.demo(model.encode), "demo shop, multilingual encoder")
    measure.print_demo(exam.demo(rule), "demo shop, by the rule")
    for language in measure.SHOPS:
        for name, encode, products in (
            ("English encoder", exam.english.encode, partial(product_vectors, exam.english.encode)),
            ("multilingual encoder", model.encode, partial(product_vectors, model.encode)),
            ("by the rule", rule, measure.products_by_rule(model, exam.english)),
        ):
            print(f"shop-{language}, {name}: NDCG {{:.3f}}, P@5 {{:.3f}}".format(*exam.shop(language, encode, products)))
    _, titles, descriptions = measure.demo_products(root)
    for name, texts in (
        ("everyday requests", [row["query"] for row in examples.rows(data / "everyday-requests.tsv")]),
        ("demo requests", [row["query"] for row in examples.rows(root / "demo/requests.tsv")]),
        ("titles of the demo shop", titles),
        ("products of the demo shop", [f"{a}. {b}" for a, b in zip(titles, descriptions)]),
    ):
        print(f"left to the English encoder, {name}: {measure.english_share(model, texts):.4f} of {len(texts)}")


if __name__ == "__main__":
    main()
