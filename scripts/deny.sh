#!/usr/bin/env bash
# Checks all dependencies against deny.toml: advisories, licences, duplicate versions and sources.
#
# Advisories come from the snapshot in advisories/, so that the check needs no host but the registry and gives the
# same result everywhere. Arguments go to `cargo deny check`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export LC_ALL=C

version=0.20.2
tool=$PWD/.tools/bin/cargo-deny
if [[ $("$tool" --version 2>/dev/null || true) != "cargo-deny $version" ]]; then
    # It runs for seconds: optimising it would take longer than it saves.
    CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_CODEGEN_UNITS=256 \
        cargo install cargo-deny --quiet --root .tools --locked --version "$version" --no-default-features
fi

# The snapshot holds the advisories of the crates that were in Cargo.lock when it was taken. A crate that has joined since
# and had advisories at that time is not covered.
missing=$(sed -n 's/^name = "\(.*\)"$/\1/p' Cargo.lock | sort -u | comm -12 - <(sort advisories/crates-with-advisories.txt) |
    while read -r crate; do [[ -d advisories/crates/$crate ]] || echo "$crate"; done)
if [[ -n $missing ]]; then
    echo "deny: advisories/ lacks those of: $missing; take a new snapshot with scripts/advisories.sh" >&2
    exit 1
fi

date=$(sed -n 's/^date //p' advisories/SNAPSHOT)
age_days=$((($(date +%s) - $(date -d "$date" +%s)) / 86400))
echo "advisories: snapshot of $date, $age_days days old"
if ((age_days > 90)); then
    echo "deny: the snapshot is older than 90 days and knows nothing of newer advisories; take a new one with scripts/advisories.sh" >&2
fi

# Where cargo-deny looks for a clone of its default database. Its age is judged above.
database=.tools/advisory-db/advisory-db-3157b0e258782691
rm -rf "$database"
mkdir -p "$database/.git"
cp -r advisories/crates "$database/"
touch "$database/.git/FETCH_HEAD"

# Offline, so that the database is taken as it is; all that is needed is fetched before.
cargo fetch --quiet --locked
"$tool" --locked --offline check --hide-inclusion-graph advisories bans licenses sources "$@"
