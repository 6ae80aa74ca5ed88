#!/usr/bin/env bash
# Finds words that this project's prose, help and doc comments avoid, because readers stumble over them. Help texts are doc comments.
#
#     scripts/words.sh
#
# Prints each place and fails if there is one. bench/ is left out.
set -euo pipefail
cd "$(dirname "$0")/.."

words='\b(beside|behind|so many|nobody|somebody|anybody|anew|likeness|speaks? (for|of)|in the place of|shipped|learnt|whoever|lest)\b'

prose=$(git ls-files '*.md' | grep -v '^bench/')
code=$(git ls-files 'crates/*/src/*.rs' 'python/src/*.rs' 'models/*.rs')
python=$(git ls-files 'python/formulanet/*.py')

found=0
report() {
    if [ -n "$2" ]; then
        printf '%s:\n%s\n' "$1" "$2"
        found=1
    fi
}
# shellcheck disable=SC2086 # several files
{
    report "words to avoid" "$(grep -HnEi "$words" $prose $python || true)"
    report "words to avoid in doc comments" "$(grep -HnEi "^[[:space:]]*//[/!].*$words" $code || true)"
    # The first line of a doc comment is its summary.
    report "summaries that are neither a noun phrase nor a verb" "$(awk '
        FNR == 1 { inside = 0 }
        { is_doc = $0 ~ /^[[:space:]]*\/\/[\/!]/ }
        is_doc && !inside && $0 ~ /^[[:space:]]*\/\/[\/!] (What|How many|The same|Such|Of) / { print FILENAME ":" FNR ":" $0 }
        { inside = is_doc }' $code)"
    report "numbers without a leading zero" "$(grep -HnE '(^|[ |(])\.[0-9]{2,3}\b' $prose || true)"
}
exit "$found"
