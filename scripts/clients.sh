#!/usr/bin/env bash
# Makes the generated parts of clients/ from the OpenAPI document, and gives the packages the service's version.
# With --check, nothing is written: it fails if what is there is not what would be made.
#
# Needs cargo, node 18 or newer with npm, and python3; installs what it may, and the generators below .tools.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/client-tools.sh
source scripts/test-binary.sh

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
"$binary" openapi >"$made/openapi.json"

# Defaults are the service's business: nobody has to send them.
"$CLIENT_TOOLS/node/node_modules/.bin/openapi-typescript" "$made/openapi.json" --output "$made/schema.ts" \
    --root-types --root-types-no-schema-prefix --default-non-nullable=false >"$made/log" 2>&1 ||
    { cat "$made/log" >&2; exit 1; }
PATH=$CLIENT_TOOLS/python/bin:$PATH openapi-python-client generate --meta none --fail-on-warning \
    --path "$made/openapi.json" --output-path "$made/python" --config clients/python/generator.yml \
    --custom-template-path clients/python/templates >"$made/log" 2>&1 ||
    { cat "$made/log" >&2; exit 1; }

# Where each generated part belongs. The rest of the packages is written by hand.
declare -A parts=([clients/typescript/src/schema.ts]=$made/schema.ts)
for part in api models client.py errors.py types.py; do
    parts[clients/python/shopkeeper_client/$part]=$made/python/$part
done

# The packages' own descriptions, with the service's version in them.
version=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["info"]["version"])' <"$made/openapi.json")
versioned() { sed -E "$1" "$2" >"$made/${2//\//-}" && parts[$2]=$made/${2//\//-}; }
versioned "0,/\"version\": /s/(\"version\": )\"[^\"]*\"/\1\"$version\"/" clients/typescript/package.json
versioned "s/^version = \".*\"/version = \"$version\"/" clients/python/pyproject.toml
# The lock file says it twice at its beginning, before the first other package.
versioned "1,/node_modules/s/(\"version\": )\"[^\"]*\"/\1\"$version\"/" clients/typescript/package-lock.json

different=0
for part in "${!parts[@]}"; do
    if [ "${1:-}" = --check ]; then
        diff --recursive --exclude=__pycache__ --brief "${parts[$part]}" "$part" >&2 || different=1
    else
        rm -rf "$part"
        cp -r "${parts[$part]}" "$part"
    fi
done
if [ "$different" != 0 ]; then
    echo "clients: they are not what the OpenAPI document makes; run make clients" >&2
    exit 1
fi
