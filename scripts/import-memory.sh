#!/usr/bin/env bash
# Imports catalogs of growing length into a folder and into a server, and prints the time and the
# most memory that the import took. Usage: scripts/import-memory.sh BINARY [COUNT...]
set -euo pipefail

binary=$1
shift
[[ $# -gt 0 ]] || set -- 10000 100000
source "$(dirname "$0")/scratch-server.sh"

catalog() { # COUNT: products with descriptions of about 600 bytes, as CSV
    awk -v count="$1" 'BEGIN {
        print "sku,title,description,price"
        words = "soft warm wool for long winter evenings, made to last and easy to wash; "
        for (n = 1; n <= count; n++) {
            text = "Number " n ". "
            for (w = 0; w < 8; w++) text = text words
            printf "S%d,Blanket %d,\"%s\",$%d.99\n", n, n, text, n % 300 + 1
        }
    }'
}

measure() { # NAME ARGUMENTS...: what the import of $scratch/catalog.csv takes
    local name=$1 peak=0 began=$EPOCHREALTIME pid now
    shift
    "$binary" import "$scratch/catalog.csv" "$@" >"$scratch/said" 2>"$scratch/errors" &
    pid=$!
    while now=$(awk '/^VmHWM/ {print $2}' "/proc/$pid/status" 2>/dev/null) && [[ -n $now ]]; do
        peak=$now
        sleep 0.05
    done
    wait "$pid" || { cat "$scratch/errors" >&2; exit 1; }
    awk -v name="$name" -v count="$count" -v peak="$peak" -v from="$began" -v to="$EPOCHREALTIME" \
        'BEGIN { printf "%-8s %8d products  %6.1f s  %6.1f MiB at the most\n", name, count, to - from, peak / 1024 }'
    grep -q "$count created" "$scratch/said" || { cat "$scratch/said" >&2; exit 1; }
}

for count in "$@"; do
    catalog "$count" >"$scratch/catalog.csv"
    measure folder --data "$scratch/folder-$count" --shop 1
    TOKEN=$(token_of "server-$count" 1 EDITOR)
    export TOKEN
    start_server "server-$count" serve
    measure server --server "$address"
    stop_server
    rm -rf "$scratch/folder-$count" "$scratch/server-$count"
done
