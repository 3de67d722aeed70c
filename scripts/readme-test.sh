#!/usr/bin/env bash
# Runs the shell commands of README.md's first steps against a server of its own, as pasted.
# Every command must succeed, and the search must find what was created.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo build --locked --bin shopkeeper
scratch=$(mktemp -d)
server=
trap '[[ -n $server ]] && kill "$server" 2>/dev/null; wait 2>/dev/null; rm -rf "$scratch"' EXIT

TOKEN=$(target/debug/shopkeeper token create --data "$scratch/data" --shop 1 --role ADMIN)
export TOKEN
# A named pipe, so that reading the address waits exactly until the server listens.
mkfifo "$scratch/out"
target/debug/shopkeeper serve --data "$scratch/data" --listen 127.0.0.1:0 \
    >"$scratch/out" 2>"$scratch/log" &
server=$!
exec 3<"$scratch/out"
read -r line <&3
address=${line##* }

# The blocks between the two markers, with the documented address swapped for ours.
sed -n '/<!-- first steps -->/,/<!-- end of first steps -->/p' README.md |
    awk '/^```sh$/ {inside=1; next} /^```$/ {inside=0} inside' |
    sed "s#http://127.0.0.1:7700#$address#g" >"$scratch/steps.sh"
[[ -s $scratch/steps.sh ]] || { echo "README.md has no first steps" >&2; exit 1; }
answers=$(bash -euo pipefail "$scratch/steps.sh")
echo "$answers"
grep -q '"total": *1' <<<"$answers" || { echo "the README's search found nothing" >&2; exit 1; }
echo "1 passed, 0 failed"
