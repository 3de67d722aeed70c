#!/usr/bin/env bash
# Installs what the suites of `make test` need, so that they need not wait for it one by one:
# packages of Debian where it may, the rest below .tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/postgres.sh
source scripts/debian.sh
debian_packages chromium curl node:nodejs npm sqlite3
source scripts/browser.sh
source scripts/client-tools.sh
python_venv .tools/schemathesis-venv tests/schemathesis/requirements.txt
python_venv .tools/mcp-venv tests/mcp/requirements.txt
