#!/usr/bin/env bash
# Drives the pages in a real browser: Debian's Chromium, through Playwright, against a server of its own.
# Screenshots of what was tested are left in target/browser.
#
# Needs cargo, node 18 or newer with npm, and chromium; installs the last two where it may, and what comes
# from npm below .tools. Arguments go to `node --test` in the place of all test files.
set -euo pipefail
cd "$(dirname "$0")/.."

source scripts/browser.sh
source scripts/scratch-server.sh
start_server shop serve

export TARGET_ADDRESS=$address TARGET_DATA=$scratch/shop TARGET_BINARY=$PWD/$binary
[[ $binary = /* ]] && TARGET_BINARY=$binary
export BROWSER_OUTPUT=$PWD/target/browser
if [ $# = 0 ]; then set -- tests/browser/*.test.js; fi
failed=0
node --test "$@" || failed=$?
if [ "$failed" != 0 ]; then
    tail -n 20 "$scratch/shop.log" >&2
fi
exit "$failed"
