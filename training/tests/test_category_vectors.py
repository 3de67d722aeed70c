"""The typical vectors of categories."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from category.taxonomy import Taxonomy
from category.vectors import typical, write_vectors

TRAINING = Path(__file__).resolve().parent.parent
MODELS = TRAINING.parent / "models"


def test_two_groups_have_two_centres() -> None:
    near_x, near_y = np.array([[1, 0], [0.98, 0.2]]), np.array([[0, 1], [0.2, 0.98]])
    centres = typical(np.concatenate([near_x, near_y]))
    assert np.allclose(sorted(centres[:, 0]), [0.1, 0.995], atol=0.01)
    assert np.array_equal(typical(near_x), near_x)


def test_the_file_is_what_the_recipe_makes(tmp_path: Path) -> None:
    made, kept = tmp_path / "made.bin", MODELS / "category-vectors.bin"
    taxonomy = Taxonomy.read_names(MODELS / "taxonomy.tsv")
    count = write_vectors(TRAINING / "data", MODELS, taxonomy, made)
    rows = [np.frombuffer(path.read_bytes(), np.int8)[16 + 2 * count :].astype(int) for path in (made, kept)]
    assert made.read_bytes()[: 16 + 2 * count] == kept.read_bytes()[: 16 + 2 * count]
    # The file was made when the things of phrases.bin had the vectors of both encoders of shopper-3.
    cosines = [float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) for a, b in zip(*(row.reshape(count, -1) for row in rows))]
    assert np.mean(cosines) > 0.8
