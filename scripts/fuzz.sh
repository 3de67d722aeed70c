#!/usr/bin/env bash
# Fuzzes the targets of fuzz/ (parsers, within a minute after a clean checkout) and of fuzz/server/
# (request bodies, which builds the server), FUZZ_SECONDS (default 60) each.
#
#   scripts/fuzz.sh                  all targets
#   scripts/fuzz.sh --parsers        the targets of fuzz/
#   scripts/fuzz.sh price            one target
#   scripts/fuzz.sh price FILE...    only these inputs, to see a failure again
#
# FUZZ_RUNS=2000000 scripts/fuzz.sh  so many executions of each target, however long that takes
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$PWD

version=0.13.2
# Longer than any query; longer inputs find little that shorter ones do not.
max_len=${FUZZ_MAX_LEN:-1024}
tool=$root/.tools/bin/cargo-fuzz

if [[ $("$tool" --version 2>/dev/null || true) != "cargo-fuzz $version" ]]; then
    cargo install cargo-fuzz --root "$root/.tools" --locked --version "$version"
fi

# cargo-fuzz asks for coverage flags that stable Rust has but hides.
export RUSTC_BOOTSTRAP=1

cd "$root"

# folder_of TARGET: the workspace that has it.
folder_of() {
    local folder
    for folder in fuzz fuzz/server; do
        if "$tool" list --fuzz-dir "$folder" | grep -qxF -- "$1"; then
            echo "$folder"
            return
        fi
    done
    echo "there is no fuzz target $1" >&2
    return 1
}

# run TARGET [ARGUMENT...]: arguments go to libFuzzer.
run() {
    local target=$1 folder
    shift
    folder=$(folder_of "$target")
    # The sanitizers watch unsafe code, which this project forbids.
    "$tool" run --fuzz-dir "$folder" --sanitizer none "$target" "$@"
}

if (($# > 1)); then
    target=$1
    shift
    inputs=()
    for input in "$@"; do
        [[ $input = /* ]] || input=$here/$input
        inputs+=("$input")
    done
    run "$target" "${inputs[@]}"
    exit
fi

case ${1-} in
"") mapfile -t targets < <("$tool" list --fuzz-dir fuzz && "$tool" list --fuzz-dir fuzz/server) ;;
--parsers) mapfile -t targets < <("$tool" list --fuzz-dir fuzz) ;;
*) targets=("$1") ;;
esac

if [[ -n ${FUZZ_RUNS-} ]]; then
    extent="-runs=$FUZZ_RUNS"
else
    extent="-max_total_time=${FUZZ_SECONDS:-60}"
fi
for target in "${targets[@]}"; do
    options=("$extent" "-max_len=$max_len" -timeout=5 -report_slow_units=1 -rss_limit_mb=2048 -print_final_stats=1)
    dictionary=$(folder_of "$target")/$target.dict
    if [[ -f $dictionary ]]; then
        options+=("-dict=$dictionary")
    fi
    echo "fuzzing $target: $extent"
    run "$target" -- "${options[@]}"
done
