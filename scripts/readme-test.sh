#!/usr/bin/env bash
# Runs the shell commands of README.md's first steps against a demo of its own, as pasted, with the token it prints.
# Every command must succeed, and the search must find what was created.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch_command=demo
source scripts/scratch-server.sh
until [[ $line == *"export TOKEN="* ]]; do
    read -r line <&3 || { echo "the demo printed no token" >&2; exit 1; }
done
export "TOKEN=${line##*TOKEN=}"

# The blocks between the two markers, with the documented address swapped for ours.
sed -n '/<!-- first steps -->/,/<!-- end of first steps -->/p' README.md |
    awk '/^```sh$/ {inside=1; next} /^```$/ {inside=0} inside' |
    sed "s#http://127.0.0.1:7700#$address#g" >"$scratch/steps.sh"
[[ -s $scratch/steps.sh ]] || { echo "README.md has no first steps" >&2; exit 1; }
answers=$(bash -euo pipefail "$scratch/steps.sh")
echo "$answers"
seen=$(grep -o '"title": *"Linen sofa"' <<<"$answers" | wc -l)
((seen == 2)) || { echo "the README's search did not find what was created" >&2; exit 1; }
echo "1 passed, 0 failed"
