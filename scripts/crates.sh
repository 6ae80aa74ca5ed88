#!/usr/bin/env bash
# Packs the crates as crates.io gets them, in the order of their dependencies, and checks what is in them.
#
#   scripts/crates.sh            pack and check (seconds)
#   scripts/crates.sh --verify   also build each from its package, and ask crates.io whether it would take it
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}

apart=(--exclude formulanet-lab --exclude formulanet-testing)
# What is not committed yet is packed, too: the check is for whoever works on it. A release is made from a clean tree.
dirty=()
[ -n "$(git status --porcelain 2>/dev/null)" ] && dirty=(--allow-dirty)
rm -f "$target"/package/*.crate
if [ "${1:-}" = --verify ]; then
    cargo publish --workspace "${apart[@]}" --locked --dry-run "${dirty[@]}"
else
    pack=(cargo package --workspace "${apart[@]}" --locked --no-verify "${dirty[@]}")
    # Without a network, what is in the cache is enough.
    "${pack[@]}" || "${pack[@]}" --offline
fi

# The limit of crates.io.
limit=10485760
count=0
for crate in "$target"/package/*.crate; do
    size=$(stat -c %s "$crate" 2>/dev/null || stat -f %z "$crate")
    files=$(tar -tzf "$crate")
    if [ "$size" -gt "$limit" ]; then
        echo "$crate has $size bytes; crates.io takes at most $limit" >&2
        exit 1
    fi
    case $crate in
    *formulanet-model-*) needed='README\.md lib\.rs [a-z]*\.safetensors' ;;
    *formulanet-server-*) needed='README\.md src/lib\.rs src/page\.html src/openapi\.json' ;;
    *) needed='README\.md src/lib\.rs' ;;
    esac
    for file in $needed; do
        if ! grep -q "/$file\$" <<<"$files"; then
            echo "$crate has no ${file//\\/}" >&2
            exit 1
        fi
    done
    printf '%10s  %s\n' "$size" "${crate##*/}"
    count=$((count + 1))
done
if [ "$count" != 12 ]; then
    echo "expected 12 crates, found $count" >&2
    exit 1
fi
