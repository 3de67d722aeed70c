#!/usr/bin/env bash
# Throws requests made from the OpenAPI document at a live server: good ones must be taken, bad
# ones refused, and every answer must be as documented. Fails on any finding.
#
# Needs cargo and python3; installs the rest below .tools. Arguments go to schemathesis.
set -euo pipefail
cd "$(dirname "$0")/.."

version=4.32.5
venv=.tools/schemathesis-venv
binary="${CARGO_TARGET_DIR:-target}/debug/shopkeeper"

cargo build --quiet --locked --package server

installed=$("$venv/bin/schemathesis" --version 2>/dev/null | grep -o '[0-9.]*$' || true)
if [ "$installed" != "$version" ]; then
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        if [ "$(id -u)" != 0 ]; then
            echo "schemathesis: python3-venv is missing; run apt-get install python3-venv" >&2
            exit 1
        fi
        apt-get update -qq && apt-get install -y -qq python3-venv
    fi
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "schemathesis==$version"
fi

work=$(mktemp -d)
server=
stop() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap stop EXIT

token=$("$binary" token create --data "$work/data" --shop 1 --role ADMIN --name schemathesis)

# Port 0: the system picks a free one, and the server says which.
"$binary" serve --data "$work/data" --listen 127.0.0.1:0 >"$work/out" 2>"$work/log" &
server=$!
for _ in $(seq 100); do
    address=$(grep -o 'http://.*' "$work/out" || true)
    [ -n "$address" ] && break
    sleep 0.1
done
if [ -z "$address" ]; then
    cat "$work/log" >&2
    echo "schemathesis: the server did not start" >&2
    exit 1
fi

export PYTHONDONTWRITEBYTECODE=1
export TARGET_ADDRESS=$address TARGET_TOKEN=$token HOOKS=$PWD/tests/schemathesis/hooks.py
# From a file: schemathesis leaves out the address that it read the document from.
"$venv/bin/python" -c 'import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])' \
    "$address/openapi.json" "$work/openapi.json"
found=0
"$venv/bin/schemathesis" --config-file tests/schemathesis/schemathesis.toml \
    run "$work/openapi.json" "$@" || found=$?
if ! kill -0 "$server" 2>/dev/null; then
    tail -n 50 "$work/log" >&2
    echo "schemathesis: the server has died" >&2
    exit 1
fi
if [ "$found" != 0 ]; then
    tail -n 20 "$work/log" >&2
fi
exit "$found"
