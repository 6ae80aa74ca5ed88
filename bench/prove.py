"""How many problems `formulanet prove` proves, one after the other, each on all cores.

    bench/eprover.py make --archive deepmath-train.tar.zst --prepared prepared --out problems --problems 40
    bench/prove.py problems [--program target/release/formulanet] [--time 30]

Prints a line a problem: status, the prover, how many axioms it had, seconds with selection, and how many axioms the proof used.
"""

import argparse
import glob
import json
import os
import statistics
import subprocess
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("problems")
    parser.add_argument("--program", default="target/release/formulanet")
    parser.add_argument("--time", type=float, default=30)
    arguments = parser.parse_args()
    took = []
    files = sorted(glob.glob(os.path.join(arguments.problems, "*.p")))
    for file in files:
        command = [arguments.program, "prove", file, "--time", str(arguments.time), "--format", "json"]
        start = time.perf_counter()
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
        found = json.loads(run.stdout or '{"status": "Error"}')
        name, status = os.path.basename(file), found["status"]
        if status == "Theorem":
            took.append(seconds)
            print(f"{name:<24} {status}  {found['prover']}  {found['axioms']} axioms  {seconds:.1f} s  {len(found['premises'])} used", flush=True)
        else:
            print(f"{name:<24} {status}  {seconds:.1f} s  {run.stderr.strip().splitlines()[-1:] or ''}", flush=True)
    median = f", the median in {statistics.median(took):.1f} s" if took else ""
    print(f"proved {len(took)} of {len(files)} in {arguments.time:g} s each{median}; {os.cpu_count()} cores, load {os.getloadavg()[2]:.1f}")


main()
