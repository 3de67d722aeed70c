# Sourced by scripts that drive a browser. Installs what they need and sets BROWSER (chromium) and
# BROWSER_TOOLS (the folder with the packages of tests/browser/package-lock.json).

source scripts/debian.sh
debian_packages chromium node:nodejs npm

export BROWSER_TOOLS=$PWD/.tools/browser
if ! cmp -s tests/browser/package-lock.json "$BROWSER_TOOLS/package-lock.json" || [ ! -d "$BROWSER_TOOLS/node_modules" ]; then
    mkdir -p "$BROWSER_TOOLS"
    cp tests/browser/package.json "$BROWSER_TOOLS/"
    # Copied last: it says that the installation is complete.
    (cd "$BROWSER_TOOLS" && rm -rf node_modules && cp "$OLDPWD/tests/browser/package-lock.json" . && npm ci --silent --no-audit --no-fund) ||
        { rm -f "$BROWSER_TOOLS/package-lock.json"; exit 1; }
fi
BROWSER=$(command -v chromium)
export BROWSER
