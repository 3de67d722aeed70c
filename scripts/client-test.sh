#!/usr/bin/env bash
# Tries the clients: they are what the OpenAPI document makes, their types hold, and each runs the whole contract
# against a real service. (docs/quickstart.md is run like the other pages, by scripts/docs-test.sh.)
#
# Needs cargo, node 18 or newer with npm, and python3; installs what it may, and the rest below .tools.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/clients.sh --check
source scripts/client-tools.sh
scratch_command=demo
# The processor is for the requests, not for better vectors of the demo.
export SHOPKEEPER_MODEL_BACKGROUND=false
source scripts/scratch-server.sh

# A second service, which lets one request through a second: clients must know how to wait.
mkfifo "$scratch/limited"
limited_token() { "$binary" token create --data "$scratch/limited-data" --shop 1 --role ADMIN; }
export LIMITED_TOKEN
LIMITED_TOKEN=$(limited_token)
"$binary" serve --data "$scratch/limited-data" --listen 127.0.0.1:0 --model-kind off --rate-limit-requests-per-second 1 \
    >"$scratch/limited" 2>"$scratch/limited-log" &
limited=$!
trap 'kill "$limited" 2>/dev/null || true; wait "$limited" 2>/dev/null || true; stop_scratch_server' EXIT
exec 4<"$scratch/limited"
read -r line <&4 || { cat "$scratch/limited-log" >&2; exit 1; }
export LIMITED_ADDRESS=${line##* } TARGET_ADDRESS=$address

# A shop of its own for each client, beside the demo's.
shop_token() { "$binary" token create --data "$scratch/data" --shop "$1" --role ADMIN; }

# Nothing is written into the sources: what is built is built on a copy.
cp -r clients/typescript "$scratch/typescript"
ln -s "$CLIENT_TOOLS/node/node_modules" "$scratch/typescript/node_modules"
export PYTHONDONTWRITEBYTECODE=1

echo "== TypeScript: the contract"
tsc=$CLIENT_TOOLS/node/node_modules/.bin/tsc
"$tsc" --project "$scratch/typescript"
"$tsc" --project "$scratch/typescript/tests"
TARGET_TOKEN=$(shop_token 2) node --test "$scratch/typescript/dist-tests/contract.js"

echo "== Python: the contract"
python=$CLIENT_TOOLS/python/bin/python
(cd clients/python && "$python" -m mypy --cache-dir "$CLIENT_TOOLS/mypy-cache" --package shopkeeper_client &&
    MYPYPATH=. "$python" -m mypy --cache-dir "$CLIENT_TOOLS/mypy-cache" --strict tests/contract.py)
TARGET_TOKEN=$(shop_token 3) LIMITED_TOKEN=$(limited_token) PYTHONPATH=clients/python "$python" clients/python/tests/contract.py
