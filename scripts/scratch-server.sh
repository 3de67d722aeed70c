# Sourced by scripts that run against a server. Sets `scratch` to a temporary folder; when the
# script ends, all servers are stopped and the folder is removed.
#
#   start_server NAME COMMAND FLAG…  runs `shopkeeper COMMAND FLAG…` on the data folder
#                                    $scratch/NAME and waits until it listens. Sets `address`
#                                    (http://…) and `server` (its process). The log is
#                                    $scratch/NAME.log.
#   stop_server                      stops the last one.
#   token_of NAME SHOP ROLE          prints a new token for the data folder $scratch/NAME.
#
# `binary` may be set before to the program to run; otherwise the one that the tests use is built.

[[ -n ${binary:-} ]] || source scripts/test-binary.sh

scratch=$(mktemp -d)
server=
servers=()

token_of() {
    "$binary" token create --data "$scratch/$1" --shop "$2" --role "$3"
}

start_server() {
    local name=$1 line output
    shift
    # A named pipe: the read below returns as soon as the server listens or has ended. The pipe
    # stays open, so that the server can go on writing to it.
    mkfifo "$scratch/$name.out"
    "$binary" "$@" --data "$scratch/$name" --listen 127.0.0.1:0 >"$scratch/$name.out" 2>"$scratch/$name.log" &
    server=$!
    servers+=("$server")
    exec {output}<"$scratch/$name.out"
    if ! read -r line <&"$output"; then
        cat "$scratch/$name.log" >&2
        echo "the server did not start" >&2
        exit 1
    fi
    address=${line##* }
}

stop_server() {
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
}

stop_scratch_servers() {
    for server in "${servers[@]}"; do stop_server; done
    rm -rf "$scratch"
}
trap stop_scratch_servers EXIT
