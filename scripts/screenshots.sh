#!/usr/bin/env bash
# Makes the pictures of the documentation (docs/images) from the demo, in a real browser.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/browser.sh
scratch_command=demo
source scripts/scratch-server.sh

mkdir -p docs/images
TARGET_ADDRESS=$address TARGET_TOKEN=$token node tests/browser/screenshots.js
ls -l docs/images
