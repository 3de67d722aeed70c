#!/usr/bin/env python3
"""Writes the SHA-256 sums of packages into lists of requirements, in place.

    scripts/pin-python.py tests/mcp/requirements.txt …

A list names every package that is installed, those that others need too, as `name==version`: `pip install
--require-hashes --no-deps` takes no other. The sums are those that the package index announces for the wheels of
CPython 3.11 to 3.14 on Linux (x86-64 and Arm). To update a package, change its version and run this again; to find
the packages that a new one needs, use `pip install --dry-run --report`.
"""

from __future__ import annotations

import os
import re
import sys
import urllib.request
from html.parser import HTMLParser
from pathlib import Path

INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple")
PINNED = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)(?P<marker>\s*;[^\\]*)?\s*\\?$")
PYTHONS = re.compile(r"py3|py2\.py3|cp31[1-4]")
STABLE_PYTHONS = re.compile(r"cp3\d+")
PLATFORMS = re.compile(r"any|.*manylinux.*_(x86_64|aarch64)")


class Links(HTMLParser):
    """The files of a project with their sums."""

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, str] = {}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        url, _, fragment = (dict(attributes).get("href") or "").partition("#")
        if tag == "a" and fragment.startswith("sha256="):
            self.files[url.rsplit("/", 1)[-1]] = fragment.removeprefix("sha256=")


def is_for_us(file: str, version: str) -> bool:
    """Whether a file is a wheel of this version that one of our machines could install."""
    if not file.endswith(".whl"):
        return False
    _, of, *_, python, abi, platform = file.removesuffix(".whl").split("-")
    python_fits = (STABLE_PYTHONS if abi == "abi3" else PYTHONS).fullmatch(python) and not abi.endswith("t")
    return of == version and bool(python_fits) and bool(PLATFORMS.fullmatch(platform))


def sums(name: str, version: str) -> list[str]:
    """The sums of the wheels of a package."""
    links = Links()
    project = re.sub(r"[-_.]+", "-", name).lower()
    request = urllib.request.Request(f"{INDEX.rstrip('/')}/{project}/", headers={"Accept": "text/html"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        links.feed(answer.read().decode())
    found = sorted(sum for file, sum in links.files.items() if is_for_us(file, version))
    if not found:
        raise SystemExit(f"{name}=={version} has no wheel for us")
    return found


def pin(list_: Path) -> None:
    """Renews the sums of one list; comments stay."""
    lines = []
    for line in list_.read_text().splitlines():
        if line.lstrip().startswith("--hash="):
            continue
        if not (pinned := PINNED.match(line)):
            if line and not line.startswith("#"):
                raise SystemExit(f"{list_}: not a pinned package: {line}")
            lines.append(line)
            continue
        marker = (pinned["marker"] or "").strip()
        entry = [f"{pinned['name']}=={pinned['version']}" + (f" {marker}" if marker else "")]
        entry += [f"    --hash=sha256:{sum}" for sum in sums(pinned["name"], pinned["version"])]
        lines.append(" \\\n".join(entry))
    list_.write_text("\n".join(lines) + "\n")


for argument in sys.argv[1:]:
    pin(Path(argument))
