#!/bin/sh
# Builds the book: target/book/index.html. Takes mdBook 0.5: cargo install mdbook
#
# Pages link to others as they do in the repository, also out of docs/, so their sources are copied to a directory of the same shape first,
# with every README as the index of its directory, as mdBook expects. Files outside the book are linked on GitHub.
set -eu
cd "$(dirname "$0")/.."
source=target/book-source
repository=https://github.com/formulanet/formulanet/blob/main
rm -rf "$source"
mkdir -p "$source"
cp -r docs integrations README.md ARCHITECTURE.md CONTRIBUTING.md "$source"
sed -e 's#](\([a-z]\)#](docs/\1#' -e 's#](\.\./#](#' docs/SUMMARY.md >"$source/SUMMARY.md"
rm "$source/docs/SUMMARY.md" "$source/docs/build.sh"
find "$source" -name README.md | while read -r page; do
    mv "$page" "${page%README.md}index.md"
done
elsewhere='\(results\|models\|fixtures\|python\|bench\|fuzz\|crates\|LICENSE[-A-Z]*\|SECURITY.md\|CHANGELOG.md\|RELEASE.md\)'
find "$source" -name '*.md' -exec sed -i \
    -e "s,](\(\.\./\)*$elsewhere\([/)#]\),]($repository/\2\3,g" \
    -e 's,\(blob/main/[^)]*\)README\.md,\1READ-ME.md,g' \
    -e 's,README\.md\([)#]\),index.md\1,g' \
    -e 's,READ-ME\.md,README.md,g' {} +
mdbook build "$@"
