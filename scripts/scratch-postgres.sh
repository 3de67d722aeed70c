#!/usr/bin/env bash
# Runs a PostgreSQL of our own for as long as a command takes.
#
#   scripts/scratch-postgres.sh FOLDER COMMAND…
#
# Its databases are kept in FOLDER. The command finds its address, without a database, in
# SCRATCH_POSTGRES, and its programs in SCRATCH_POSTGRES_BIN.
set -euo pipefail

mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
programs=$("$(dirname "${BASH_SOURCE[0]}")"/postgres.sh)
# PostgreSQL does not run as root.
as=()
if [[ $(id -u) = 0 ]]; then
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chown 65534:65534 "$folder"
fi
if ! "${as[@]}" "$programs/bin/postgres" --version >/dev/null 2>&1; then
    echo "scratch-postgres: $programs cannot be run by who is not root" >&2
    exit 1
fi
if [[ ! -f $folder/data/PG_VERSION ]]; then
    "${as[@]}" "$programs/bin/initdb" -D "$folder/data" -U shopkeeper --auth=trust \
        --encoding=UTF8 --locale=C --no-sync >/dev/null
fi
# The same port every time: those who come again know their database by its address.
if [[ ! -f $folder/port ]]; then
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])' >"$folder/port"
fi
port=$(<"$folder/port")
"${as[@]}" "$programs/bin/pg_ctl" -D "$folder/data" -w -s -l "$folder/data/server.log" \
    -o "-k '' -p $port -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off
        -c shared_buffers=512MB -c maintenance_work_mem=512MB" start
trap '"${as[@]}" "$programs/bin/pg_ctl" -D "$folder/data" -m fast -s stop' EXIT
export SCRATCH_POSTGRES=postgres://shopkeeper@127.0.0.1:$port SCRATCH_POSTGRES_BIN=$programs/bin
"$@"
