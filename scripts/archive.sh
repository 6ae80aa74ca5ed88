#!/usr/bin/env bash
# Makes the archive of a release in dist/: the program, completions, manual pages, licences and a list of what it is made of.
#
#   scripts/archive.sh [TARGET]           build for this target [default: the one of this machine]
#   scripts/archive.sh TARGET PROGRAM     pack a program that was built already
set -euo pipefail
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
target=${1:-$host}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
program=${2:-}
if [ -z "$program" ]; then
    cargo build --release --locked -p formulanet-cli --target "$target"
    program=${CARGO_TARGET_DIR:-target}/$target/release/formulanet
    [ -f "$program" ] || program=$program.exe
fi

name=formulanet-$version-$target
place=dist/$name
rm -rf "$place" "dist/$name".*
mkdir -p "$place/completions" "$place/man"
ending=''
[ "${program%.exe}" = "$program" ] || ending=.exe
cp "$program" "$place/formulanet$ending"
program=$place/formulanet$ending
strip "$program" 2>/dev/null || true
size=$(stat -c %s "$program" 2>/dev/null || stat -f %z "$program")
most=$((36 * 1024 * 1024))
if [ "$size" -gt "$most" ]; then
    echo "the program has $size bytes, more than $most" >&2
    exit 1
fi

# Completions and pages are the same for all targets: a program that was built for another machine cannot print its own.
runs=$program
"$runs" --version >/dev/null 2>&1 || runs="cargo run --locked --quiet -p formulanet-cli --"
for shell in bash zsh fish powershell; do
    $runs completions "$shell" >"$place/completions/formulanet.$shell"
done
$runs man --out "$place/man"
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$place/"
python3 scripts/sbom.py "$target" >"$place/sbom.cdx.json"

# Two archives of one commit are the same file.
stamp=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
case $target in
*windows*)
    archive=$name.zip
    (cd dist && python3 -m zipfile -c "$archive" "$name")
    ;;
*)
    archive=$name.tar.gz
    if tar --version 2>/dev/null | grep -q GNU; then
        tar -C dist --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$stamp" -cf - "$name" | gzip -n >"dist/$archive"
    else
        tar -C dist -czf "dist/$archive" "$name"
    fi
    ;;
esac
(cd dist && { sha256sum "$archive" 2>/dev/null || shasum -a 256 "$archive"; } >"$archive.sha256")
echo "dist/$archive: program of $size bytes"
