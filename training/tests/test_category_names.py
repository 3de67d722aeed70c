"""The names of things."""

from __future__ import annotations

from pathlib import Path

from category import features
from category.names import hashed, parts, write_names
from category.taxonomy import Taxonomy

TRAINING = Path(__file__).resolve().parent.parent
MODELS = TRAINING.parent / "models"


def test_only_things_are_names() -> None:
    assert hashed("Watch Straps") == features.hashed("watch strap")
    assert hashed("strap for a watch") is None
    assert hashed("one two three four") is None
    assert parts("Chairs & Sofas") == ["Chairs", "Sofas"]
    assert parts("Chair & Sofa Covers") == ["Sofa Covers"]
    assert parts("School Dresses & Jumpers") == ["School Dresses"]


def test_the_file_is_what_the_recipe_makes(tmp_path: Path) -> None:
    made = tmp_path / "made.bin"
    write_names(TRAINING / "data", Taxonomy.read_names(MODELS / "taxonomy.tsv"), made)
    assert made.read_bytes() == (MODELS / "category-names.bin").read_bytes()
