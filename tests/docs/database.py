"""The PostgreSQL that a page takes for granted: a real one, in a scratch folder, on a free port."""

import os
import shutil
import socket
import subprocess
from pathlib import Path

from terminals import Failed, line, stop

# What the pages say: the owner of the database, and where it is.
USER, PASSWORD, DOCUMENTED = "shopkeeper", "secret", "db.example"
# PostgreSQL does not run as root.
NOBODY = 65534


class Database:
    """Runs until it is closed, with an empty database of its owner's name."""

    def __init__(self, scratch: Path):
        self.folder = scratch / "postgres"
        self.folder.mkdir()
        scratch.chmod(0o755)
        self.programs = self._programs()
        data, password = self.folder / "data", self.folder / "password"
        password.write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (self.folder, password):
                os.chown(path, NOBODY, NOBODY)
        options = ["--pwfile", password, "--auth=scram-sha-256", "--no-sync"]
        initdb = self._unprivileged("initdb", "-D", data, "-U", USER, *options)
        made = subprocess.run(**initdb, capture_output=True, text=True)
        if made.returncode != 0:
            raise Failed(made.stderr)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        settings = ["listen_addresses=127.0.0.1", "fsync=off", f"port={self.address.rpartition(':')[2]}"]
        options = [part for setting in settings for part in ("-c", setting)]
        postgres = self._unprivileged("postgres", "-D", data, "-k", "", *options)
        self.process = subprocess.Popen(
            **postgres,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while said := line(self.process.stdout, "PostgreSQL does not start"):
                if "ready to accept connections" in said:
                    break
            else:
                raise Failed("PostgreSQL has ended")
            url = f"postgres://{USER}:{PASSWORD}@{self.address}/postgres"
            create = [self.programs / "psql", url, "-qc", f"CREATE DATABASE {USER}"]
            subprocess.run(create, check=True)
        except BaseException:
            self.close()
            raise

    def _programs(self) -> Path:
        """The installed programs, where whoever runs them can reach them."""
        script = Path(__file__).parents[2] / "scripts/postgres.sh"
        installed = subprocess.run([script], capture_output=True, text=True)
        if installed.returncode != 0:
            raise Failed(f"PostgreSQL cannot be installed: {installed.stderr}")
        home = Path(installed.stdout.strip())
        self.programs = home / "bin"
        try:
            subprocess.run(**self._unprivileged("postgres", "--version"), capture_output=True, check=True)
            return self.programs
        except (OSError, subprocess.CalledProcessError):
            # The libraries lie beside the package that the programs are part of.
            package = home.parent.parent
            copy = self.folder / "programs"
            shutil.copytree(package, copy, symlinks=True)
            return copy / home.relative_to(package) / "bin"

    def _unprivileged(self, program: str, *arguments) -> dict:
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        return {"args": [self.programs / program, *arguments], "cwd": self.folder, **who}

    def close(self):
        stop(self.process)
