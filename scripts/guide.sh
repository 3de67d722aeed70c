#!/usr/bin/env bash
# Builds the guide into target/guide. A link, an anchor or a picture that is not there stops the build; so does a page
# that would load anything from another host.
#
# Needs python3 (3.11 or newer); installs Sphinx below .tools.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=$PWD/.tools/guide-venv
# Installed for these very requirements, or installed anew.
if ! cmp -s docs/_guide/requirements.txt "$venv/installed-requirements.txt"; then
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        if [[ $(id -u) != 0 ]]; then
            echo "guide: python3-venv is missing; run apt-get install python3-venv" >&2
            exit 1
        fi
        apt-get update -qq && apt-get install -y -qq python3-venv
    fi
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r docs/_guide/requirements.txt
    cp docs/_guide/requirements.txt "$venv/installed-requirements.txt"
fi

export PYTHONDONTWRITEBYTECODE=1
# Built anew each time: pages that are gone must not stay, and Sphinx shows a warning only when it reads the page.
rm -rf target/guide
"$venv/bin/python" -m sphinx --builder html --conf-dir docs --fresh-env --doctree-dir target/guide-doctrees \
    --fail-on-warning --keep-going --nitpicky --quiet . target/guide
"$venv/bin/python" docs/_guide/check.py target/guide
