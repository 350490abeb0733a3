#!/bin/sh
# Verifies the packages of this folder on this computer: sh verify.sh
cd "$(dirname "$0")" || exit 2
for python in "$PYTHON" python3 python; do
    if [ -n "$python" ] && command -v "$python" >/dev/null 2>&1; then
        exec "$python" run.py "$@"
    fi
done
echo "error: there is no Python on PATH" >&2
echo "help: Install Python 3.10 or newer, or set PYTHON to its path." >&2
exit 2
