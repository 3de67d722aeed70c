# Sourced by test scripts: a server of its own on a scratch folder, gone when the script ends.
# `scratch_command` may name another command than `serve` to start it with, such as `demo`.
# Sets `scratch` (the folder), `address` (http://…) and `token` (ADMIN of shop 1).

source scripts/test-binary.sh

scratch=$(mktemp -d)
server=
stop_scratch_server() {
    if [[ -n $server ]]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap stop_scratch_server EXIT

token=$("$binary" token create --data "$scratch/data" --shop 1 --role ADMIN)
# A named pipe: reading the address waits exactly until the server listens or has ended.
mkfifo "$scratch/out"
"$binary" "${scratch_command:-serve}" --data "$scratch/data" --listen 127.0.0.1:0 >"$scratch/out" 2>"$scratch/log" &
server=$!
exec 3<"$scratch/out"
if ! read -r line <&3; then
    cat "$scratch/log" >&2
    echo "the server did not start" >&2
    exit 1
fi
address=${line##* }
