#!/usr/bin/env bash
# Measures search on the judged queries, where they are, and prints one table.
#
#   RELEVANCE=DIR   the judged queries and their catalogs (default ../shared/relevance)
#   CATALOGS=DIR    the mixed store of the everyday requests (default ../shared/catalogs)
#   SHOPKEEPER=FILE the binary (default target/release/shopkeeper)
#   EVAL_STORE=postgres  searches inside a PostgreSQL of our own, as shops too large for memory are
#   EVAL_LANGUAGES=1     measures queries in other languages and shops written in them too
#   Arguments go to `shopkeeper eval`, such as --vectors instant or --model-kind off.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

relevance=${RELEVANCE:-../shared/relevance}
catalogs=${CATALOGS:-../shared/catalogs}
shopkeeper=${SHOPKEEPER:-target/release/shopkeeper}
# Scratch shops are kept: their vectors take minutes the first time.
kept=${EVAL_KEPT:-target/eval}
if [[ ${EVAL_STORE:-} = postgres ]]; then
    kept=$kept/in-postgres
    if [[ -z ${SCRATCH_POSTGRES:-} ]]; then
        exec scripts/scratch-postgres.sh "$kept/postgres" "$0" "$@"
    fi
fi
vectors=deep
next=
for argument in "$@"; do
    [[ $next = vectors ]] && vectors=$argument
    next=${argument#--}
done

missing=()
# measure NAME CATALOG JUDGMENTS [MORE…]
measure() {
    local name=$1 catalog=$2 judgments=$3 file
    shift 3
    for file in "$catalog" "$judgments"; do
        if [[ ! -f $file ]]; then
            missing+=("$name: $file is not there")
            return
        fi
    done
    local scratch results
    scratch=$(basename "$catalog")
    scratch=$kept/${scratch%%.*}-$vectors
    results=$kept/$(tr -cs 'a-z\n' '-' <<<"$name").json
    if [[ -n ${SCRATCH_POSTGRES:-} ]]; then
        local database
        database=$(basename "$scratch" | tr -cs 'a-z\n' '_')
        if [[ ! -f $scratch/scratch-shop.json ]]; then
            "$SCRATCH_POSTGRES_BIN/psql" --quiet "$SCRATCH_POSTGRES/postgres" \
                --command "DROP DATABASE IF EXISTS $database" --command "CREATE DATABASE $database"
        fi
        set -- "$@" --database-url "$SCRATCH_POSTGRES/$database" --database-search-above 0
    fi
    "$shopkeeper" eval --row "$name" --catalog "$catalog" --judgments "$judgments" \
        --scratch "$scratch" --save "$results" "$@"
}

mkdir -p "$kept"
cat <<TEXT
| | queries | NDCG@10 (95%) | precision@5 (95%) | precision of all shown | composition (95%) | contradictions@5 | without result | mean total | ms, p50 |
|---|---|---|---|---|---|---|---|---|---|
TEXT
everyday=training/data/everyday-requests.tsv
store=$catalogs/store.jsonl.gz
measure general "$relevance/general-products.jsonl.gz" "$relevance/general-dev.tsv" "$@"
measure home "$relevance/home-products.jsonl.gz" "$relevance/home-dev.tsv" "$@"
measure "home, misspelled" "$relevance/home-products.jsonl.gz" "$relevance/home-typos-dev-judgments.tsv" "$@"
measure "home, one typo" "$relevance/home-products.jsonl.gz" "$relevance/home-dev.tsv" --misspell "$@"
measure everyday "$store" "$everyday" --without training/data/shopper-phrases.tsv "$@"
measure "everyday, all" "$store" "$everyday" "$@"
demo=$kept/demo.jsonl
awk -f scripts/demo-jsonl.awk demo/catalog/*.tsv >"$demo"
measure demo "$demo" demo/requests.tsv "$@"
# Category and attribute in one query: only grade 2 satisfies both.
measure "demo, composed" "$demo" judgments/demo-composed.tsv --relevant-from 2 "$@"
measure "market, composed" judgments/market.jsonl judgments/market-composed.tsv --relevant-from 2 "$@"
measure "market, held out" judgments/market.jsonl judgments/market-held-out.tsv --relevant-from 2 "$@"
measure "market, held out 2" judgments/market.jsonl judgments/market-held-out-2.tsv --relevant-from 2 "$@"
if [[ -n ${EVAL_LANGUAGES:-} ]]; then
    for language in en:English de:German fr:French es:Spanish it:Italian pt:Portuguese nl:Dutch \
        pl:Polish ru:Russian ja:Japanese zh:Chinese; do
        measure "demo in ${language#*:}" "$demo" "judgments/languages/${language%:*}.tsv" "$@"
    done
    for language in de:German fr:French es:Spanish ja:Japanese; do
        shop=judgments/languages/shop-${language%:*}
        measure "${language#*:} shop" "$shop.jsonl" "$shop.tsv" "$@"
    done
fi

echo
if ((${#missing[@]})); then
    printf 'Not measured: %s\n' "${missing[@]}"
fi
echo "Results query by query: $kept/*.json (compare with: shopkeeper eval … --compare FILE)"
