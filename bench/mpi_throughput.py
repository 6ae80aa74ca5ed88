#!/usr/bin/env python3
"""Training speed of 1 process of 2 threads against 2 processes of 1 thread.

    cargo build --release --features mpi
    bench/mpi_throughput.py --data PREPARED --scratch FOLDER [--minutes 1.5] [--rounds 3] [--recipe '--preset paper']

Runs the two by turns, so that what else the machine does hits both, and prints a JSON line for each run: pairs a second
between the first and the last line of its log, and the share of that time in which rank 0 waited. The last line has the
medians and their ratio. PREPARED is a folder of `formulanet prepare`; runs are removed again.
"""

import argparse
import json
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def speed(run):
    """Pairs a second, and the share of the time in which rank 0 waited for others."""
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    if len(lines) < 3:
        sys.exit(f"{run}: {len(lines)} lines of log say too little; give more --minutes")
    seconds = lines[-1]["seconds"] - lines[0]["seconds"]
    waited = sum(line.get("waited", 0.0) for line in lines[1:])
    return (lines[-1]["pairs"] - lines[0]["pairs"]) / seconds, waited / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--scratch", required=True, type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=1.5, help="of each run")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--recipe", default="", help="flags of `formulanet train`")
    parser.add_argument("--log-every", default="5", help="batches between two lines of the log")
    parser.add_argument("--program", default=str(ROOT / "target/release/formulanet"))
    parser.add_argument("--mpirun", default="mpirun --allow-run-as-root --bind-to core", help="and its flags")
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    kinds = {
        "1 process of 2 threads": (["--threads", "2"], []),
        "2 processes of 1 thread": (["--threads", "1"], [*shlex.split(options.mpirun), "-n", "2"]),
    }
    speeds = {kind: [] for kind in kinds}
    for number in range(options.rounds):
        for kind, (threads, launcher) in kinds.items():
            run = options.scratch / f"throughput-{number}-{threads[1]}"
            shutil.rmtree(run, ignore_errors=True)
            command = [*launcher, options.program, "train", "--data", options.data, "--out", str(run), *threads]
            command += ["--max-minutes", str(options.minutes), "--validate-every", "1000000000"]
            command += ["--log-every", options.log_every, "--checkpoint-every", "100000", *shlex.split(options.recipe)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
            found, waited = speed(run)
            shutil.rmtree(run)
            speeds[kind].append(found)
            print(json.dumps({"kind": kind, "pairs_per_second": round(found, 2), "waited": round(waited, 4)}), flush=True)
    medians = {kind: statistics.median(found) for kind, found in speeds.items()}
    one, two = medians.values()
    print(json.dumps({"recipe": options.recipe, "medians": medians, "ratio": round(two / one, 4)}))


if __name__ == "__main__":
    main()
