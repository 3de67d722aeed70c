#!/usr/bin/env bash
# Takes a new snapshot of the RustSec advisory database into advisories/.
#
#   scripts/advisories.sh CHECKOUT    a clone of https://github.com/rustsec/advisory-db, bare or not
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

checkout=${1:?name a clone of the advisory database}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git -C "$checkout" archive HEAD crates | tar -x -C "$tree"

rm -rf advisories/crates
mkdir -p advisories/crates
ls "$tree/crates" >advisories/crates-with-advisories.txt
sed -n 's/^name = "\(.*\)"$/\1/p' Cargo.lock fuzz/Cargo.lock | sort -u | while read -r crate; do
    if [[ -d $tree/crates/$crate ]]; then
        cp -r "$tree/crates/$crate" advisories/crates/
    fi
done
git -C "$checkout" log -1 --format='commit %H%ndate %cs' >advisories/SNAPSHOT
cat advisories/SNAPSHOT
