# Sourced by test scripts: sets `binary` to the program, built as the tests build it, so that nothing is compiled twice.

cargo test --workspace --no-run --locked --quiet
binary=${CARGO_TARGET_DIR:-target}/debug/shopkeeper
