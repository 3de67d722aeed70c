# Sourced by scripts that need programs of Debian.

# debian_packages PROGRAM[:PACKAGE]...: installs the packages of the programs that are missing.
# Packages of Debian are checked by their signatures.
debian_packages() {
    local missing=() program
    for program in "$@"; do
        command -v "${program%:*}" >/dev/null || missing+=("${program#*:}")
    done
    if ((${#missing[@]})); then
        debian_install "${missing[@]}"
    fi
}

# debian_install PACKAGE...: one installation at a time, whichever script asks for it.
debian_install() {
    if [[ $(id -u) != 0 ]]; then
        echo "$0: run apt-get install $*" >&2
        return 1
    fi
    mkdir -p .tools
    flock .tools/apt.lock sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' sh "$@" >&2
}
