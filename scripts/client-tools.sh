# Sourced by scripts that make or try the clients. Installs what they need below .tools/clients: the packages of
# clients/typescript/package-lock.json in `node`, those of clients/python/requirements.txt in `python`, and their wheels in `wheels`.
# Sets CLIENT_TOOLS, that folder.

source scripts/debian.sh
debian_packages node:nodejs npm

CLIENT_TOOLS=$PWD/.tools/clients
# What npm has fetched once is not asked for again.
export npm_config_cache=$CLIENT_TOOLS/npm-cache npm_config_prefer_offline=true
export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false

# The copied list comes last, beside what it lists: it says that the installation is complete.
if ! cmp -s clients/typescript/package-lock.json "$CLIENT_TOOLS/node/installed.json"; then
    rm -rf "$CLIENT_TOOLS/node"
    mkdir -p "$CLIENT_TOOLS/node"
    cp clients/typescript/package.json clients/typescript/package-lock.json "$CLIENT_TOOLS/node/"
    (cd "$CLIENT_TOOLS/node" && npm ci --silent --ignore-scripts)
    cp clients/typescript/package-lock.json "$CLIENT_TOOLS/node/installed.json"
fi
source scripts/python-venv.sh
python_venv "$CLIENT_TOOLS/python" clients/python/requirements.txt
# The same files again, for the guide: what `pip install` of the client fetches.
if ! cmp -s clients/python/requirements.txt "$CLIENT_TOOLS/wheels/requirements.txt"; then
    rm -rf "$CLIENT_TOOLS/wheels"
    "$CLIENT_TOOLS/python/bin/python" -m pip download --quiet --disable-pip-version-check \
        --require-hashes --no-deps --only-binary :all: --dest "$CLIENT_TOOLS/wheels" -r clients/python/requirements.txt
    cp clients/python/requirements.txt "$CLIENT_TOOLS/wheels/requirements.txt"
fi
