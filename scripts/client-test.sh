#!/usr/bin/env bash
# Tries the clients: they are what the OpenAPI document makes, their types hold, and each runs the whole contract
# against a real service. (docs/quickstart.md is run like the other pages, by scripts/docs-test.sh.)
#
# Needs cargo, node 18 or newer with npm, and python3; installs what it may, and the rest below .tools.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/clients.sh --check
source scripts/client-tools.sh
source scripts/scratch-server.sh

# A server that lets one request per second through: clients must know how to wait.
LIMITED_TOKEN=$(token_of limited 1 ADMIN)
start_server limited serve --model-kind off --rate-limit-requests-per-second 1
export LIMITED_TOKEN LIMITED_ADDRESS=$address
# Without background embedding: the processor is for the requests.
start_server demo demo --model-background false
export TARGET_ADDRESS=$address

# Nothing is written into the sources: what is built is built on a copy.
cp -r clients/typescript "$scratch/typescript"
ln -s "$CLIENT_TOOLS/node/node_modules" "$scratch/typescript/node_modules"
export PYTHONDONTWRITEBYTECODE=1

echo "== TypeScript: the contract"
tsc=$CLIENT_TOOLS/node/node_modules/.bin/tsc
"$tsc" --project "$scratch/typescript"
"$tsc" --project "$scratch/typescript/tests"
TARGET_TOKEN=$(token_of demo 2 ADMIN) node --test "$scratch/typescript/dist-tests/contract.js"

echo "== Python: the contract"
python=$CLIENT_TOOLS/python/bin/python
(cd clients/python && "$python" -m mypy --cache-dir "$CLIENT_TOOLS/mypy-cache" --package shopkeeper_client &&
    MYPYPATH=. "$python" -m mypy --cache-dir "$CLIENT_TOOLS/mypy-cache" --strict tests/contract.py)
TARGET_TOKEN=$(token_of demo 3 ADMIN) LIMITED_TOKEN=$(token_of limited 1 ADMIN) PYTHONPATH=clients/python "$python" clients/python/tests/contract.py
