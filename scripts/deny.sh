#!/usr/bin/env bash
# Checks licences, duplicate versions and sources of all dependencies against deny.toml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=0.20.2
tool=$PWD/.tools/bin/cargo-deny
if [[ $("$tool" --version 2>/dev/null || true) != "cargo-deny $version" ]]; then
    cargo install cargo-deny --root .tools --locked --version "$version"
fi
# Advisories need a database from the network; add `advisories` where that can be reached.
"$tool" --locked check bans licenses sources "$@"
