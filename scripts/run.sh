#!/usr/bin/env bash
# Builds and starts the service on a local data folder, and prints a token to use it with.
# SHOPKEEPER_DATA and SHOPKEEPER_LISTEN, or the flags of `shopkeeper serve`, change the defaults.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --release --locked

# A new token each time: tokens are kept as hashes, so an old one cannot be shown again.
token=$(target/release/shopkeeper token create --shop 1 --role ADMIN --name "make run" --expires-in 30d)
cat <<TEXT

A token for shop 1 with the role ADMIN, good for 30 days:

  export TOKEN=$token

TEXT
exec target/release/shopkeeper serve "$@"
