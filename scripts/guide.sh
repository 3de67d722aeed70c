#!/usr/bin/env bash
# Builds the guide into target/guide. A link, an anchor or a picture that is not there stops the build; so does a page
# that would load anything from another host.
#
# Needs python3 (3.11 or newer); installs Sphinx below .tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=$PWD/.tools/guide-venv
source scripts/python-venv.sh
python_venv "$venv" docs/_guide/requirements.txt

export PYTHONDONTWRITEBYTECODE=1
# Built anew each time: pages that are gone must not stay, and Sphinx shows a warning only when it reads the page.
rm -rf target/guide
"$venv/bin/python" -m sphinx --builder html --conf-dir docs --fresh-env --doctree-dir target/guide-doctrees \
    --fail-on-warning --keep-going --nitpicky --quiet . target/guide
"$venv/bin/python" docs/_guide/check.py target/guide
