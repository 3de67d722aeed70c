#!/usr/bin/env bash
# Builds the server quickly and starts it with the demo shop on a local data folder, and prints
# tokens to use it with. SHOPKEEPER_DATA and SHOPKEEPER_LISTEN, or the flags of `shopkeeper demo`,
# change the defaults.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "Building the server with the profile for development; the first build takes some minutes."
echo "(make build makes the optimised target/release/shopkeeper.)"
cargo build --locked --package server --bin shopkeeper

echo "Starting it with the demo shop:"
exec "${CARGO_TARGET_DIR:-target}/debug/shopkeeper" demo "$@"
