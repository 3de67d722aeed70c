#!/usr/bin/env bash
# Uses `/mcp` of a live server with the official Python client, in every way that it can connect.
#
# Needs cargo and python3; installs the rest below .tools.
set -euo pipefail
cd "$(dirname "$0")/.."

version=2.3.0
venv=.tools/mcp-venv

installed=$("$venv/bin/python" -c 'from importlib.metadata import version; print(version("mcp"))' 2>/dev/null || true)
if [ "$installed" != "$version" ]; then
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        if [ "$(id -u)" != 0 ]; then
            echo "mcp: python3-venv is missing; run apt-get install python3-venv" >&2
            exit 1
        fi
        apt-get update -qq && apt-get install -y -qq python3-venv
    fi
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "mcp==$version"
fi

source scripts/scratch-server.sh

token_of() { "$binary" token create --data "$scratch/data" --shop "$1" --role "$2"; }
export PYTHONDONTWRITEBYTECODE=1
export TARGET=$address/mcp EDITOR_TOKEN=$token
SHOPPER_TOKEN=$(token_of 1 SHOPPER) STRANGER_TOKEN=$(token_of 2 ADMIN)
export SHOPPER_TOKEN STRANGER_TOKEN
failed=0
"$venv/bin/python" tests/mcp/client.py || failed=$?
if [ "$failed" != 0 ]; then
    tail -n 20 "$scratch/log" >&2
fi
exit "$failed"
