"""Do the pages say the truth? Runs what can be run of them, page by page, each in a folder of its own.

    python3 tests/docs/run.py PROGRAM PAGE…
"""

import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import compare
import database
import terminals
from blocks import FILE, JSON, JSON_OUTPUT, NOT_RUN, POSTGRES, SERVER, SHELL, TEXT_OUTPUT, TOML, BadPage, Block, blocks
from database import Database
from terminals import Failed, Server, Shell


class Page:
    """A page under test: its folder, its two terminals, and what was printed last."""

    def __init__(self, program: Path):
        self.programs = program.parent
        self.scratch = Path(tempfile.mkdtemp(prefix="docs-test-"))
        self.folder = self.scratch / "home"
        self.folder.mkdir()
        self.shell = Shell(self.folder, self.scratch, self.programs)
        self.server: Server | None = None
        self.database: Database | None = None
        self.printed: str | None = None

    def close(self):
        if self.server:
            self.server.close()
        self.shell.close()
        if self.database:
            self.database.close()
        shutil.rmtree(self.scratch)

    def check(self, block: Block):
        """Does with a block what is to be done with it."""
        if block.kind == SHELL:
            self.printed = self._paste(block.text)
        elif block.kind == SERVER:
            self._start(block.text)
        elif block.kind == POSTGRES:
            self.database = Database(self.scratch)
            self._paste(f"PATH='{self.database.programs}':$PATH")
        elif block.kind == FILE:
            (self.folder / block.detail).write_text(self._here(block.text))
        elif block.kind in (TEXT_OUTPUT, JSON_OUTPUT):
            self._compare(block)
        elif block.kind == JSON and not compare.is_json(block.text):
            raise Failed("this is no JSON")
        elif block.kind == TOML:
            file = self.scratch / "block.toml"
            file.write_text(block.text)
            self._paste(f"shopkeeper config --config '{file}'")

    def _addresses(self) -> dict[str, str]:
        """What the page says, and what it is here."""
        here = {}
        if self.server:
            here[terminals.DOCUMENTED] = self.server.address
        if self.database:
            here[database.DOCUMENTED] = self.database.address
        return here

    def _here(self, text: str) -> str:
        for documented, address in self._addresses().items():
            text = text.replace(documented, address)
        return text

    def _paste(self, commands: str) -> str:
        printed = self.shell.run(self._here(commands))
        for documented, address in self._addresses().items():
            printed = printed.replace(address, documented)
        return printed

    def _start(self, command: str):
        if self.server:
            self.server.close()
            self.server = None
        self.server = Server(self._here(command), self.folder, self.scratch, self.programs)
        self._paste(self.server.to_paste)
        self.printed = None

    def _compare(self, block: Block):
        if self.printed is None:
            raise Failed("no commands come before this output")
        same = compare.same_text if block.kind == TEXT_OUTPUT else compare.same_json
        if not same(block.text, self.printed):
            raise Failed(f"this was printed instead:\n{self.printed}")


def run(program: Path, path: Path) -> list[Block]:
    """Tests a page and gives back its blocks."""
    found = blocks(path, path.read_text())
    page = Page(program)
    try:
        for block in found:
            try:
                page.check(block)
            except Failed as failed:
                log = page.server.log.read_text(errors="replace")[-2000:] if page.server else ""
                raise BadPage(f"{block.place}: {failed}\n{block.text}\n{log}") from None
    finally:
        page.close()
    return found


def main(program: Path, paths: list[Path]) -> int:
    """Tests all pages and says how it went."""
    seen: list[Block] = []
    failures = 0
    for path in paths:
        started = time.monotonic()
        try:
            found = run(program, path)
        except BadPage as bad:
            failures += 1
            print(f"FAILED  {bad}", flush=True)
            continue
        seen += found
        kinds = Counter(block.kind for block in found)
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        print(f"ok      {path}: {counts or 'no blocks'} ({time.monotonic() - started:.1f} s)", flush=True)
    not_run = [block for block in seen if block.kind == NOT_RUN]
    print(f"\n{len(not_run)} blocks cannot run here:")
    for block in not_run:
        print(f"  {block.place}: {block.detail}")
    ran = sum(block.kind in (SHELL, SERVER) for block in seen)
    checked = sum(block.kind in (TEXT_OUTPUT, JSON_OUTPUT, JSON, TOML) for block in seen)
    print(f"\n{ran} blocks run, {checked} compared or parsed, {len(not_run)} not run")
    print(f"{len(paths) - failures} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    program, *pages = map(Path, sys.argv[1:])
    sys.exit(main(program.absolute(), pages))
