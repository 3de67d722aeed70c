#!/usr/bin/env bash
# Measures search on the judged sets that judgments/floors.tsv lists. Fails if a figure is below its
# floor there, which names the set, the measure, the figure and the floor.
#
#   WRITE_FLOORS=1  writes today's figures minus 0.01 as the floors instead
#
# Deep vectors take long in the tests' build, so only one small set has them. The figures are the same
# in every run, whatever else the machine does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[[ -n ${binary:-} ]] || source scripts/test-binary.sh
floors=judgments/floors.tsv
scratch=target/relevance
rm -rf "$scratch"
mkdir -p "$scratch"
awk -f scripts/demo-jsonl.awk demo/catalog/*.tsv >"$scratch/demo.jsonl"
# The products of the demo shop that the English needs are judged on.
awk -F'["\t]' 'NR == FNR { judged[$2]; next } $4 in judged' \
    judgments/languages/en.tsv "$scratch/demo.jsonl" >"$scratch/demo-judged.jsonl"

failed=0
head -n 1 "$floors" >"$scratch/floors.tsv"
while IFS=$'\t' read -r name catalog judgments grade vectors ndcg precision composition; do
    least=(--at-least "ndcg=$ndcg" --at-least "precision=$precision" --at-least "composition=$composition")
    if [[ -n ${WRITE_FLOORS:-} ]]; then least=(); fi
    row=$("$binary" eval --row "$name" --catalog "$catalog" --judgments "$judgments" \
        --relevant-from "$grade" --vectors "$vectors" "${least[@]}" \
        --scratch "$scratch/$(basename "$catalog" .jsonl)-$vectors") || failed=1
    echo "$row"
    printf '%s\t' "$name" "$catalog" "$judgments" "$grade" "$vectors" >>"$scratch/floors.tsv"
    # A cell is `mean (low to high)`; as a number it is the mean.
    awk -F'|' '{ printf "%.3f\t%.3f\t%.3f\n", $4 - 0.01, $5 - 0.01, $7 - 0.01 }' <<<"$row" >>"$scratch/floors.tsv"
done < <(tail -n +2 "$floors")
if [[ -n ${WRITE_FLOORS:-} && $failed = 0 ]]; then cp "$scratch/floors.tsv" "$floors"; fi
exit "$failed"
