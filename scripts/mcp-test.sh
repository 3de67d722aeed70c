#!/usr/bin/env bash
# Uses `/mcp` of a live server with the official Python client, in every way that it can connect.
#
# Needs cargo and python3; installs the rest below .tools.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.tools/mcp-venv
source scripts/python-venv.sh
python_venv "$venv" tests/mcp/requirements.txt
source scripts/scratch-server.sh
EDITOR_TOKEN=$(token_of shop 1 ADMIN)
start_server shop serve

export PYTHONDONTWRITEBYTECODE=1
export TARGET=$address/mcp EDITOR_TOKEN
SHOPPER_TOKEN=$(token_of shop 1 SHOPPER) STRANGER_TOKEN=$(token_of shop 2 ADMIN)
export SHOPPER_TOKEN STRANGER_TOKEN
failed=0
"$venv/bin/python" tests/mcp/client.py || failed=$?
if [ "$failed" != 0 ]; then
    tail -n 20 "$scratch/shop.log" >&2
fi
exit "$failed"
