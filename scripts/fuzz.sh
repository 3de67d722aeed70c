#!/usr/bin/env bash
# Fuzzes the targets of fuzz/ (parsers, built within a minute) and of fuzz/server/ (request bodies,
# which builds the server), FUZZ_SECONDS (default 60) each.
#
#   scripts/fuzz.sh                  all targets
#   scripts/fuzz.sh --parsers        the targets of fuzz/
#   scripts/fuzz.sh price            one target
#   scripts/fuzz.sh price FILE...    only these inputs, to reproduce a failure
#
# FUZZ_RUNS=2000000 scripts/fuzz.sh  that many executions of each target, however long they take
#
# The targets are built by cargo alone, all of a workspace at once, with the coverage flags of
# cargo-fuzz. There is no sanitizer: those watch unsafe code, which this project forbids.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$PWD
cd "$root"

# Longer than any query; longer inputs find little that shorter ones do not.
max_len=${FUZZ_MAX_LEN:-1024}
triple=$(rustc -vV | sed -n 's/^host: //p')

# targets_of FOLDER: the names of its binaries.
targets_of() { sed -n '/^\[\[bin\]\]/,/^path/s/^name = "\(.*\)"$/\1/p' "$1/Cargo.toml"; }

# folder_of TARGET: the workspace that has it.
folder_of() {
    local folder
    for folder in fuzz fuzz/server; do
        if targets_of "$folder" | grep -qxF -- "$1"; then
            echo "$folder"
            return
        fi
    done
    echo "there is no fuzz target $1" >&2
    return 1
}

# build FOLDER: all its targets. Stable Rust has the coverage pass but hides it (RUSTC_BOOTSTRAP).
build() {
    local coverage=-Cllvm-args=-sanitizer-coverage
    RUSTC_BOOTSTRAP=1 RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module $coverage-level=4 \
        $coverage-inline-8bit-counters $coverage-pc-table $coverage-trace-compares \
        $coverage-stack-depth -Cllvm-args=-simplifycfg-branch-fold-threshold=0" \
        cargo build --locked --release --manifest-path "$1/Cargo.toml" --target "$triple" --bins
}

# run TARGET ARGUMENT...: arguments go to libFuzzer.
run() {
    local target=$1 folder
    shift
    folder=$(folder_of "$target")
    mkdir -p "$folder/artifacts/$target" "$folder/corpus/$target"
    "$folder/target/$triple/release/$target" "-artifact_prefix=$folder/artifacts/$target/" "$@"
}

if (($# > 1)); then
    target=$1
    shift
    inputs=()
    for input in "$@"; do
        [[ $input = /* ]] || input=$here/$input
        inputs+=("$input")
    done
    build "$(folder_of "$target")"
    run "$target" "${inputs[@]}"
    exit
fi

case ${1-} in
"") mapfile -t targets < <(targets_of fuzz && targets_of fuzz/server) ;;
--parsers) mapfile -t targets < <(targets_of fuzz) ;;
*) targets=("$1") ;;
esac

if [[ -n ${FUZZ_RUNS-} ]]; then
    extent="-runs=$FUZZ_RUNS"
else
    extent="-max_total_time=${FUZZ_SECONDS:-60}"
fi
for folder in $(for target in "${targets[@]}"; do folder_of "$target"; done | uniq); do
    build "$folder"
done
for target in "${targets[@]}"; do
    options=("$extent" "-max_len=$max_len" -timeout=5 -report_slow_units=1 -rss_limit_mb=2048 -print_final_stats=1)
    folder=$(folder_of "$target")
    if [[ -f $folder/$target.dict ]]; then
        options+=("-dict=$folder/$target.dict")
    fi
    echo "fuzzing $target: $extent"
    run "$target" "${options[@]}" "$folder/corpus/$target"
done
