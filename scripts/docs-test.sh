#!/usr/bin/env bash
# Runs what can be run of README.md and the guide, as a newcomer would paste it, each page in a scratch folder; see
# tests/docs/blocks.py for how a page says what is to be done with a block. Arguments: pages, in the place of all.
#
# Needs cargo, python3, curl and sqlite3; installs the last two where it may, and PostgreSQL below .tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source scripts/debian.sh
debian_packages curl sqlite3
source scripts/test-binary.sh
export PYTHONDONTWRITEBYTECODE=1
python3 -m unittest discover --quiet --start-directory tests/docs
if [ $# = 0 ]; then set -- README.md demo/README.md docs/*.md; fi
exec python3 tests/docs/run.py "$binary" "$@"
