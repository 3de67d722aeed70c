#!/usr/bin/env bash
# Throws requests made from the OpenAPI document at a live server: good ones must be taken, bad
# ones refused, and every answer must be as documented. Fails on any finding.
#
# Needs cargo and python3; installs the rest below .tools. Arguments go to schemathesis.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.tools/schemathesis-venv
source scripts/python-venv.sh
python_venv "$venv" tests/schemathesis/requirements.txt
source scripts/scratch-server.sh
token=$(token_of shop 1 ADMIN)
start_server shop serve

export PYTHONDONTWRITEBYTECODE=1
export TARGET_ADDRESS=$address TARGET_TOKEN=$token HOOKS=$PWD/tests/schemathesis/hooks.py
# From a file: schemathesis leaves out the address that it read the document from.
"$venv/bin/python" -c 'import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])' \
    "$address/openapi.json" "$scratch/openapi.json"
found=0
"$venv/bin/schemathesis" --config-file tests/schemathesis/schemathesis.toml \
    run "$scratch/openapi.json" "$@" || found=$?
if ! kill -0 "$server" 2>/dev/null; then
    tail -n 50 "$scratch/shop.log" >&2
    echo "schemathesis: the server has died" >&2
    exit 1
fi
if [ "$found" != 0 ]; then
    tail -n 20 "$scratch/shop.log" >&2
fi
exit "$found"
