#!/usr/bin/env bash
# Runs the shell commands of README.md's first steps against a server of its own, as pasted.
# Every command must succeed, and the search must find what was created.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source scripts/scratch-server.sh
export TOKEN=$token

# The blocks between the two markers, with the documented address swapped for ours.
sed -n '/<!-- first steps -->/,/<!-- end of first steps -->/p' README.md |
    awk '/^```sh$/ {inside=1; next} /^```$/ {inside=0} inside' |
    sed "s#http://127.0.0.1:7700#$address#g" >"$scratch/steps.sh"
[[ -s $scratch/steps.sh ]] || { echo "README.md has no first steps" >&2; exit 1; }
answers=$(bash -euo pipefail "$scratch/steps.sh")
echo "$answers"
grep -q '"total": *1' <<<"$answers" || { echo "the README's search found nothing" >&2; exit 1; }
echo "1 passed, 0 failed"
