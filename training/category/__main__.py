"""Learns to place products in the taxonomy, and writes taxonomy.tsv, category.bin, category-vectors.bin and category-names.bin."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from . import examples, export
from .instant import WordVectors
from .measure import report
from .names import write_names
from .taxonomy import Taxonomy
from .train import Recipe, train
from .vectors import write_vectors

HERE = Path(__file__).resolve().parent.parent


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m category", description=__doc__)
    parser.add_argument("--shared", type=Path, default=HERE.parent.parent / "shared", help="folder with training/taxonomy.jsonl.gz")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="our phrases and titles")
    parser.add_argument("--models", type=Path, default=HERE.parent / "models", help="where the instant encoder is, and the model goes")
    parser.add_argument("--out", type=Path, default=None, help="another folder for what is written")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only-vectors", action="store_true", help="write category-vectors.bin and category-names.bin alone, without training")
    parser.add_argument("--recipe", default="{}", help="JSON that overrides fields of the recipe")
    args = parser.parse_args()
    taxonomy = Taxonomy.read(args.shared / "training" / "taxonomy.jsonl.gz")
    out = args.out or args.models
    vectors = write_vectors(args.data, args.models, taxonomy, out / "category-vectors.bin")
    print(f"{vectors:,} typical vectors, {write_names(args.data, taxonomy, out / 'category-names.bin'):,} names")
    if args.only_vectors:
        return
    found, held = examples.read(args.data, taxonomy, args.seed)
    print(f"{len(found):,} examples, {len(held):,} titles held out")
    model = train(found, taxonomy, WordVectors(args.models), Recipe(**json.loads(args.recipe)), args.seed)
    export.write_taxonomy(taxonomy, out / "taxonomy.tsv")
    export.write_model(model, taxonomy, out / "category.bin")
    report(out, taxonomy, held)
    for name in ("taxonomy.tsv", "category.bin"):
        print(f"{name}: {(out / name).stat().st_size:,} bytes")


main()
