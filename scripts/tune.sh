#!/usr/bin/env bash
# Finds the parameters of the ranking on the judged queries, where they are: half of the queries
# choose, the other half tells what the choice is worth; with --folds 5, each query does both.
#
#   RELEVANCE=DIR   the judged queries and their catalogs (default ../shared/relevance)
#   CATALOGS=DIR    the mixed store of the everyday requests (default ../shared/catalogs)
#   SHOPKEEPER=FILE the binary (default target/release/shopkeeper)
#   Arguments go to `shopkeeper tune`, such as --folds 5, --all, --rounds 4 or --only lexical_weight.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

relevance=${RELEVANCE:-../shared/relevance}
catalogs=${CATALOGS:-../shared/catalogs}
shopkeeper=${SHOPKEEPER:-target/release/shopkeeper}
# The scratch shops of `make eval`.
kept=${EVAL_KEPT:-target/eval}

mkdir -p "$kept"
# Requests that are literally among the phrases the model was taught prove nothing.
everyday=$kept/everyday.tsv
awk -F'\t' '
    function plain(text) { text = tolower(text); gsub(/[ ]+/, " ", text); return text }
    FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "query" || $i == "text") column = i }
    NR == FNR { taught[plain($column)]; next }
    FNR == 1 || !(plain($column) in taught)
' training/data/shopper-phrases.tsv training/data/everyday-requests.tsv >"$everyday"
demo=$kept/demo.jsonl
awk -f scripts/demo-jsonl.awk demo/catalog/*.tsv >"$demo"
exec "$shopkeeper" tune --scratch "$kept" \
    --catalog "$relevance/general-products.jsonl.gz" --judgments "$relevance/general-dev.tsv" \
    --catalog "$relevance/home-products.jsonl.gz" --judgments "$relevance/home-dev.tsv" \
    --catalog "$relevance/home-products.jsonl.gz" --judgments "$relevance/home-typos-dev-judgments.tsv" \
    --catalog "$catalogs/store.jsonl.gz" --judgments "$everyday" \
    --catalog "$demo" --judgments judgments/demo-composed.tsv \
    --catalog judgments/market.jsonl --judgments judgments/market-composed.tsv "$@"
