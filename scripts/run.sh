#!/usr/bin/env bash
# Builds and starts the service with the demo shop on a local data folder, and prints tokens to use it with.
# SHOPKEEPER_DATA and SHOPKEEPER_LISTEN, or the flags of `shopkeeper demo`, change the defaults.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --release --locked

exec target/release/shopkeeper demo "$@"
