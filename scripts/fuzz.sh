#!/usr/bin/env bash
# Fuzzes every target of fuzz/Cargo.toml, FUZZ_SECONDS (default 60) each.
#
#   scripts/fuzz.sh                  all targets
#   scripts/fuzz.sh price            one target
#   scripts/fuzz.sh price FILE...    only these inputs, to see a failure again
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$PWD

version=0.13.2
seconds=${FUZZ_SECONDS:-60}
tool=$root/.tools/bin/cargo-fuzz

if [[ $("$tool" --version 2>/dev/null || true) != "cargo-fuzz $version" ]]; then
    cargo install cargo-fuzz --root "$root/.tools" --locked --version "$version"
fi

# cargo-fuzz asks for coverage flags that stable Rust has but hides.
export RUSTC_BOOTSTRAP=1

cd "$root"

# run TARGET [ARGUMENT...]: arguments go to libFuzzer.
run() {
    local target=$1
    shift
    # The sanitizers watch unsafe code, which this project forbids.
    "$tool" run --sanitizer none "$target" "$@"
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

targets=("$@")
if ((${#targets[@]} == 0)); then
    mapfile -t targets < <("$tool" list)
fi
for target in "${targets[@]}"; do
    options=("-max_total_time=$seconds" -timeout=5 -rss_limit_mb=2048)
    if [[ -f fuzz/$target.dict ]]; then
        options+=("-dict=fuzz/$target.dict")
    fi
    echo "fuzzing $target for $seconds s"
    run "$target" -- "${options[@]}"
done
