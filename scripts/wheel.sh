#!/usr/bin/env bash
# Builds the Python wheel, installs it into an empty environment without a network, and ranks the README's example with it.
#
#   scripts/wheel.sh [--wheel WHEEL] [--program PROGRAM]
#
# With a wheel, nothing is built. With a program, both have to give the same scores to the last bit.
set -euo pipefail
wheel='' program=''
while [ $# -gt 0 ]; do
    case $1 in
    --wheel) wheel=$(realpath "$2") ;;
    --program) program=$(realpath "$2") ;;
    *) echo "usage: scripts/wheel.sh [--wheel WHEEL] [--program PROGRAM]" >&2 && exit 2 ;;
    esac
    shift 2
done
cd "$(dirname "$0")/.."

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/tools"
tools=$place/tools/bin/python
pip=("$tools" -m pip --quiet --disable-pip-version-check)
if [ -z "$wheel" ]; then
    "${pip[@]}" install 'maturin>=1.9.4,<2'
    export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
    (cd python && PATH="$place/tools/bin:$PATH" maturin build --release --locked --out "$OLDPWD/dist" --interpreter "$tools")
    wheel=$(ls -t dist/formulanet-*.whl | head -1)
fi
case $wheel in
*-abi3-*) ;;
*) echo "$wheel is for one version of Python only" >&2 && exit 1 ;;
esac

# All that it needs, so that nothing is downloaded when it is installed.
"${pip[@]}" download --dest "$place/needed" numpy
python3 -m venv "$place/empty"
offline=()
unshare --user --map-root-user --net true 2>/dev/null && offline=(unshare --user --map-root-user --net)
"${offline[@]}" "$place/empty/bin/python" -m pip --quiet --disable-pip-version-check install \
    --no-index --find-links "$place/needed" "$wheel"
"${offline[@]}" "$place/empty/bin/python" - >"$place/scores" <<'PYTHON'
import formulanet

for best in formulanet.rank("!s t. s INTER t = t INTER s", "fixtures/arithmetic.hol", k=5):
    print(best.name, float(best.score).hex())
PYTHON
if [ -n "$program" ]; then
    "$program" rank '!s t. s INTER t = t INTER s' --premises fixtures/arithmetic.hol -k 5 --format json |
        "$place/empty/bin/python" -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(row["name"], float(row["score"]).hex())' >"$place/expected"
    diff "$place/expected" "$place/scores"
    echo "${wheel##*/}: ranks like the program, to the last bit"
else
    [ "$(wc -l <"$place/scores")" = 5 ]
    echo "${wheel##*/}: ranks"
fi
