# Sourced by scripts that need Python packages.

# python_venv FOLDER LIST: makes FOLDER a virtual environment with the packages of LIST, unless it is one already.
# Every file must have a SHA-256 sum of the list (see scripts/pin-python.py), and nothing is built from sources.
python_venv() {
    if cmp -s "$2" "$1/installed-requirements.txt"; then
        return
    fi
    need_python_venv
    rm -rf "$1"
    python3 -m venv "$1"
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check \
        --require-hashes --no-deps --only-binary :all: -r "$2"
    # Copied last: it says that the installation is complete.
    cp "$2" "$1/installed-requirements.txt"
}

# Installs what Debian's python3 lacks to make virtual environments.
need_python_venv() {
    if python3 -c 'import ensurepip, venv' 2>/dev/null; then
        return
    fi
    source scripts/debian.sh
    debian_install python3-venv
}
