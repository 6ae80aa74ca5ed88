#!/usr/bin/env bash
# Checks the archive of a release: its checksum, its files, and that the program ranks the README's example without a network. A
# static program runs in an empty root directory.
#
#   scripts/check_archive.sh ARCHIVE [RANKING]   write the ranking to RANKING, or compare with it if it is there
set -euo pipefail
archive=$(realpath "$1")
ranking=${2:-}
cd "$(dirname "$0")/.."

(cd "$(dirname "$archive")" && sha256sum --check --quiet "${archive##*/}.sha256")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
tar -C "$root" -xzf "$archive"
place=$(echo "$root"/formulanet-*)
for file in formulanet LICENSE-APACHE LICENSE-MIT README.md CHANGELOG.md sbom.cdx.json man/formulanet.1 man/formulanet-rank.1 \
    man/formulanet-mcp.1 completions/formulanet.bash completions/formulanet.zsh completions/formulanet.fish; do
    if [ ! -s "$place/$file" ]; then
        echo "${archive##*/} has no $file" >&2
        exit 1
    fi
done

goal='!s t. s INTER t = t INTER s'
rank=(rank "$goal" --premises /arithmetic.hol -k 5 --format json)
cp fixtures/arithmetic.hol "$place/arithmetic.hol"
if ldd "$place/formulanet" 2>&1 | grep -q -e 'not a dynamic executable' -e 'statically linked'; then
    # Nothing is there but the program and its input, and no network.
    found=$(unshare --user --map-root-user --net --root="$place" /formulanet "${rank[@]}")
    how="in an empty root, without a network"
else
    rank[3]=$place/arithmetic.hol
    found=$(unshare --user --map-root-user --net "$place/formulanet" "${rank[@]}")
    how="without a network"
fi
if [ "$(wc -l <<<"$found")" != 5 ]; then
    echo "expected 5 premises, found: $found" >&2
    exit 1
fi
if [ -n "$ranking" ] && [ -f "$ranking" ]; then
    diff "$ranking" <(echo "$found") && how="$how, with the same scores as ${ranking##*/}"
elif [ -n "$ranking" ]; then
    echo "$found" >"$ranking"
fi
echo "${archive##*/}: ranks $how"
