"""Prints what the model says about the titles of the agreement test in Rust, read from its source."""

from __future__ import annotations

import re
from pathlib import Path

from . import features
from .measure import Exported
from .taxonomy import Taxonomy

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = "crates/catalog/src/inference/category/tests/real_model.rs"


def main() -> None:
    block = re.search(r"const TITLES.*?\];", (ROOT / SOURCE).read_text(encoding="utf-8"), re.DOTALL)
    assert block
    titles = re.findall(r'^    "(.*)",$', block.group(), re.MULTILINE)
    taxonomy = Taxonomy.read_names(ROOT / "models" / "taxonomy.tsv")
    exported = Exported(ROOT / "models" / "category.bin", taxonomy)
    for title, vector in zip(titles, exported.vectors([features.of_title(title) for title in titles])):
        category, share = exported.answer(vector)
        print(f"{title}: {taxonomy.ids[category]} {round(100 * share)}")


main()
