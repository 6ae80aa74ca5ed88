#!/bin/sh
# Builds the book: target/book/index.html. Takes mdBook 0.5: cargo install mdbook
#
# Pages link to others as they do in the repository, also out of docs/. So what the book is made of is laid out in a folder of the
# same shape first, with every README as the index of its folder, which is what mdBook makes of them.
set -eu
cd "$(dirname "$0")/.."
source=target/book-source
rm -rf "$source"
mkdir -p "$source/python"
cp -r docs integrations results fixtures README.md ARCHITECTURE.md CONTRIBUTING.md "$source"
cp -r python/notebooks "$source/python"
sed -e 's#](\([a-z]\)#](docs/\1#' -e 's#](\.\./#](#' docs/SUMMARY.md >"$source/SUMMARY.md"
rm "$source/docs/SUMMARY.md"
find "$source" -name README.md | while read -r page; do
    mv "$page" "${page%README.md}index.md"
done
find "$source" -name '*.md' -exec sed -i 's,README\.md\([)#]\),index.md\1,g' {} +
mdbook build "$@"
