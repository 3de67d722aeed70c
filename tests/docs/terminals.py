"""Two terminals, as a newcomer has them: one for commands, one where the server runs."""

import os
import re
import selectors
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

# What the pages say.
DOCUMENTED = "127.0.0.1:7700"
# For what a page takes for granted.
SOURCES = Path(__file__).absolute().parents[2]
# How long anything may take that is certain to happen, on a busy machine.
PATIENCE_SECONDS = 180


class Failed(Exception):
    """A command failed, did not end, or did not do what the page says."""


def environment(folder: Path, programs: Path) -> dict[str, str]:
    """Nothing of the surroundings, so that a page works on another machine too."""
    return {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "SOURCES": str(SOURCES),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class Shell:
    """A bash that keeps its variables from one block to the next, and ends at the first failure."""

    def __init__(self, folder: Path, scratch: Path, programs: Path):
        self.scratch = scratch
        self.count = 0
        self.process = subprocess.Popen(
            ["bash", "--norc", "-euo", "pipefail"],
            cwd=folder,
            env=environment(folder, programs),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def run(self, commands: str) -> str:
        """Runs the commands and gives back what they printed."""
        self.count += 1
        script = self.scratch / f"block-{self.count}.sh"
        printed = self.scratch / f"printed-{self.count}"
        script.write_text(commands)
        wanted = f". '{script}' </dev/null >'{printed}' 2>&1\necho done\n"
        self.process.stdin.write(wanted.encode())
        self.process.stdin.flush()
        done = line(self.process.stdout, "the commands do not end")
        text = printed.read_text(errors="replace")
        if done != "done":
            raise Failed(f"exit code {self.process.wait(PATIENCE_SECONDS)}\n{text}")
        return text

    def close(self):
        stop(self.process)


class Server:
    """A server in a terminal of its own, on a free port."""

    def __init__(self, command: str, folder: Path, scratch: Path, programs: Path):
        self.log = scratch / "server-log"
        command = re.sub(r"(--listen[ =])\S+:\d+", r"\g<1>127.0.0.1:0", command)
        variables = environment(folder, programs) | {"SHOPKEEPER_LISTEN": "127.0.0.1:0"}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                ["bash", "--norc", "-euo", "pipefail", "-c", command],
                cwd=folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        # What it asks people to paste into the other terminal.
        self.to_paste = ""
        try:
            said = self._says("listens on http://")
            self.address = said.rpartition("http://")[2].strip()
            if re.search(r"\bshopkeeper demo\b", command):
                self.to_paste = self._says("export TOKEN=").strip() + "\n"
            self._wait_until_ready()
        except Failed:
            self.close()
            raise

    def _says(self, words: str) -> str:
        while True:
            said = line(self.process.stdout, f"the server does not say `{words}`")
            if said is None:
                raise Failed("the server has ended\n" + self.log.read_text(errors="replace"))
            if words in said:
                return said

    def _wait_until_ready(self):
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                with urllib.request.urlopen(f"http://{self.address}/health/ready", timeout=PATIENCE_SECONDS):
                    return
            except urllib.error.HTTPError as not_ready:
                if time.monotonic() > end:
                    raise Failed(f"the server is not ready: {not_ready}") from None
            except OSError as gone:
                raise Failed(f"the server cannot be reached: {gone}") from None
            # Readiness can only be asked for.
            time.sleep(0.05)

    def close(self):
        stop(self.process)


def line(stream, complaint: str) -> str | None:
    """The next line, or None at the end; bytes are taken one by one so that none wait unseen in a buffer."""
    text = b""
    end = time.monotonic() + PATIENCE_SECONDS
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while selector.select(end - time.monotonic()):
            byte = os.read(stream.fileno(), 1)
            if byte in (b"", b"\n"):
                return text.decode(errors="replace") if text or byte else None
            text += byte
    raise Failed(complaint)


def stop(process: subprocess.Popen):
    """Ends everything that was started in this terminal."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
        except ProcessLookupError:
            pass
        try:
            process.wait(PATIENCE_SECONDS)
            break
        except subprocess.TimeoutExpired:
            continue
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()
