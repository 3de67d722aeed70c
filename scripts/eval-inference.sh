#!/usr/bin/env bash
# Measures the inference of attributes and categories on the labels of judgments/, for the catalogs
# that are there.
#
#   RELEVANCE=DIR   the catalogs `general` and `home` (default ../shared/relevance)
#   CATALOGS=DIR    the catalog `store` (default ../shared/catalogs)
#   Arguments go to `eval-inference`, such as --errors 50.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

relevance=${RELEVANCE:-../shared/relevance}
catalogs=${CATALOGS:-../shared/catalogs}
kept=${EVAL_KEPT:-target/eval}

mkdir -p "$kept"
# Hidden products are labelled too.
awk -v all=1 -f scripts/demo-jsonl.awk demo/catalog/*.tsv >"$kept/demo-all.jsonl"
flags=()
for named in demo="$kept/demo-all.jsonl" general="$relevance/general-products.jsonl.gz" \
    home="$relevance/home-products.jsonl.gz" store="$catalogs/store.jsonl.gz"; do
    if [[ -f ${named#*=} ]]; then
        flags+=(--catalog "$named")
    else
        echo "Not measured: ${named%%=*}: ${named#*=} is not there"
    fi
done
exec cargo run --release --quiet --package relevance --bin eval-inference -- "${flags[@]}" "$@"
