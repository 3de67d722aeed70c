#!/usr/bin/env bash
# Runs one target of the Makefile as a part of `make test`. Its output goes to target/suites, and its
# end is shown if it fails; what remains is a line with the time it took.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

suite=$1
log=target/suites/$suite.log
mkdir -p target/suites
# The flags of the make that runs the suites are not those of the suite.
unset MAKEFLAGS MAKELEVEL MFLAGS
echo "start   $suite"
SECONDS=0
if make --no-print-directory "$suite" >"$log" 2>&1; then
    printf 'ok      %-18s %3d:%02d\n' "$suite" $((SECONDS / 60)) $((SECONDS % 60))
else
    # In one piece, whatever else is under way.
    tail --lines 100 "$log" | grep -v '^ *Compiling ' | flock target/suites sed "s/^/$suite: /" || true
    echo "$suite: the whole output is in $log; free on disk: $(df -h --output=avail . | tail -1)"
    printf 'FAILED  %-18s %3d:%02d\n' "$suite" $((SECONDS / 60)) $((SECONDS % 60))
    exit 1
fi
