#!/usr/bin/env python3
"""How much longer `eval --model holstep` takes, where three models decide, than its first network alone.

    bench/eval_speed.py DATA [--program target/release/formulanet] [--before PROGRAM] [--rounds 3] [--pairs N]

DATA is HolStep, prepared with `--view dag`. Runs both in turns, with an earlier program as well if one is given, for the first network
alone. Prints seconds of every run and the ratios of medians as JSON lines.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALONE = ROOT / "models/holstep/model.safetensors"


def seconds(program, model, options):
    limit = ["--limit-pairs", str(options.pairs)] if options.pairs else []
    began = time.monotonic()
    done = subprocess.run([program, "eval", "--model", str(model), "--data", options.data, "--format", "json", *limit],
                          check=True, capture_output=True, text=True)
    return time.monotonic() - began, json.loads(done.stdout)["accuracy"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data")
    parser.add_argument("--program", default=ROOT / "target/release/formulanet")
    parser.add_argument("--before", help="an earlier program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pairs", type=int)
    options = parser.parse_args()
    runs = {"together": (options.program, "holstep"), "alone": (options.program, ALONE)}
    if options.before:
        runs["alone, before"] = (options.before, ALONE)
    times = {name: [] for name in runs}
    for _ in range(options.rounds):
        for name, (program, model) in runs.items():
            took, accuracy = seconds(program, model, options)
            times[name].append(took)
            print(json.dumps({"run": name, "seconds": round(took, 2), "accuracy": accuracy}), flush=True)
    medians = {name: statistics.median(took) for name, took in times.items()}
    ratios = {name: round(medians[name] / medians["together"], 3) for name in medians if name != "together"}
    print(json.dumps({"medians": {name: round(took, 2) for name, took in medians.items()}, "speed_of_together_by": ratios}))


if __name__ == "__main__":
    main()
