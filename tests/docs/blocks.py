"""Which blocks does a page have, and what is to be done with each?

A fence says it in its info string, after the language:

    sh                    pasted into the page's terminal; must succeed
    sh server             started in a second terminal, in the place of the one before
    text output           what the commands just before print; `…` stands for anything
    json output           the same, compared as JSON
    json                  must parse; a piece of an object may leave out the braces
    toml                  a configuration that the service takes
    text                  shown, and nothing else
    (any) file: NAME      saved under that name, for the commands below
    (any) not-run: WHY    cannot run in a test, for the reason given

What a page takes for granted is in comments, which readers do not see: `<!-- sh` or `<!-- sh server`, with the commands
below and `-->` on a line of its own; and `<!-- postgres -->` for a PostgreSQL at the address that the page names. `$SOURCES` is the
folder of the sources there.
"""

import re
from dataclasses import dataclass
from pathlib import Path

SHELL, SERVER, POSTGRES, FILE, TEXT_OUTPUT, JSON_OUTPUT, JSON, TOML, SHOWN, NOT_RUN = (
    "sh",
    "sh server",
    "postgres",
    "file",
    "text output",
    "json output",
    "json",
    "toml",
    "text",
    "not-run",
)
KINDS = (SHELL, SERVER, TEXT_OUTPUT, JSON_OUTPUT, JSON, TOML, SHOWN)

INFO = re.compile(r"^(?P<kind>.*?)(?: *\b(?P<what>file|not-run):(?P<detail>.*))?$")
FILE_NAME = re.compile(r"[\w.-]+")
OPENING = re.compile(r"^( *)(`{3,}|~{3,})(.*)$")
HIDDEN = re.compile(rf"^<!-- ({SHELL}|{SERVER})$")


class BadPage(Exception):
    """The page cannot be tested as it is."""


@dataclass(frozen=True)
class Block:
    """One block of a page; `detail` is the name of a file, or the reason why the block is not run."""

    page: Path
    line: int
    kind: str
    text: str
    detail: str = ""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: Path, text: str) -> list[Block]:
    """The blocks of a page, in order."""
    found = []
    lines = enumerate(text.splitlines(), start=1)
    for number, line in lines:
        if line == f"<!-- {POSTGRES} -->":
            found.append(Block(page, number, POSTGRES, ""))
        elif hidden := HIDDEN.match(line):
            body = _until(lines, "-->", "", f"{page}:{number}")
            found.append(Block(page, number, hidden[1], body))
        elif fence := OPENING.match(line):
            indent, marks, info = fence.groups()
            body = _until(lines, marks, indent, f"{page}:{number}")
            found.append(_classified(page, number, info.strip(), body))
    return found


def _until(lines, end: str, indent: str, place: str) -> str:
    body = []
    for _, line in lines:
        if line.strip() == end:
            return "".join(line + "\n" for line in body)
        body.append(line.removeprefix(indent))
    raise BadPage(f"{place}: the block does not end")


def _classified(page: Path, line: int, info: str, body: str) -> Block:
    place = f"{page}:{line}"
    kind, what, detail = INFO.match(info).groups(default="")
    detail = detail.strip()
    if not kind:
        raise BadPage(f"{place}: the block has no language; write `text` where there is none")
    if what == NOT_RUN:
        if not detail:
            raise BadPage(f"{place}: not-run without a reason")
        return Block(page, line, NOT_RUN, body, detail)
    if what == FILE:
        if not FILE_NAME.fullmatch(detail):
            raise BadPage(f"{place}: `{detail}` is no name for a file")
        return Block(page, line, FILE, body, detail)
    if kind not in KINDS:
        raise BadPage(f"{place}: nobody knows how to test `{kind}`; if it cannot be, add `not-run: WHY`")
    return Block(page, line, kind, body)
