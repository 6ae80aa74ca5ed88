#!/usr/bin/env bash
# Trains the same small network on the same 50,000 pairs in f32 and in bf16, and shows what both say of held-out pairs.
#
#   bench/precision.sh PREPARED SCRATCH [SEED...]
#
# PREPARED is a folder of `formulanet prepare --view dag`, SCRATCH a folder for the runs. Where the CPU has no bf16
# instructions, factors are rounded to bf16 and multiplied in f32, which is as exact but slower.
set -euo pipefail
prepared=$1 scratch=$2
shift 2
cargo build --release -q
for seed in "${@:-0}"; do
    for precision in f32 bf16; do
        run="$scratch/$precision-$seed"
        target/release/formulanet train --data "$prepared" --out "$run" --unconditional --dim 64 --seed "$seed" \
            --limit-pairs 50000 --validate-every 1000000 --precision "$precision" >"$run.out" 2>&1 ||
            { cat "$run.out"; exit 1; }
        echo "seed $seed $precision: $(grep '^validation accuracy' "$run.out")"
    done
done
