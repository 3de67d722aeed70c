#!/usr/bin/env bash
# Makes the pictures of the documentation (docs/images) from the demo, in a real browser.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/browser.sh
source scripts/scratch-server.sh
token=$(token_of demo 1 ADMIN)
start_server demo demo

mkdir -p docs/images
TARGET_ADDRESS=$address TARGET_TOKEN=$token node tests/browser/screenshots.js
ls -l docs/images
