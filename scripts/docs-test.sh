#!/usr/bin/env bash
# Runs what can be run of README.md and the guide, as a newcomer would paste it, each page in a scratch folder; see
# tests/docs/blocks.py for how a page says what is to be done with a block. Arguments: pages, in the place of all.
#
# Needs cargo, python3, curl and sqlite3; installs the last two where it may, and PostgreSQL below .tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

missing=()
command -v curl >/dev/null || missing+=(curl)
command -v sqlite3 >/dev/null || missing+=(sqlite3)
if [ ${#missing[@]} != 0 ]; then
    if [ "$(id -u)" != 0 ]; then
        echo "docs-test: run apt-get install ${missing[*]}" >&2
        exit 1
    fi
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

source scripts/test-binary.sh
export PYTHONDONTWRITEBYTECODE=1
python3 -m unittest discover --quiet --start-directory tests/docs
if [ $# = 0 ]; then set -- README.md demo/README.md docs/*.md; fi
exec python3 tests/docs/run.py "$binary" "$@"
