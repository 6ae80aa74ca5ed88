#!/usr/bin/env python3
"""Which slices of axioms prove which problems, and a schedule for `formulanet prove` that follows from that.

    bench/eprover.py make --archive deepmath-train.tar.zst --prepared prepared --out others --problems 40 --seed 2
    bench/schedule.py others [--program target/release/formulanet] [--seconds 3] [--not problems]

For every problem, number of axioms and order (with names, and `--symbols anonymous`), E tries for so many CPU seconds. What it took is
printed, a line a problem. Then slices are chosen greedily: the next is always the one that proves the most further problems for
each second that it takes. Problems that are in the folder `--not`, too, are left out.
"""

import argparse
import pathlib
import re
import resource
import subprocess
import tempfile

SIZES = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024]
NAMELESS = [16, 64, 256]
TIMES = [0.5, 1, 2, 3]


def prove(file, seconds):
    """The CPU seconds in which E proves a problem; None if it does not."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["eprover", "--auto", "-s", "--free-numbers", f"--cpu-limit={seconds}", str(file)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=20 * seconds + 60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took if re.search("SZS status (Theorem|Unsatisfiable|ContradictoryAxioms)", run.stdout) else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("problems", type=pathlib.Path)
    parser.add_argument("--program", default="target/release/formulanet")
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--not", dest="others", type=pathlib.Path)
    options = parser.parse_args()
    known = {file.name for file in options.others.glob("*.p")} if options.others else set()
    files = [file for file in sorted(options.problems.glob("*.p")) if file.name not in known]
    took = {}
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            for order, sizes, flags in (("names", SIZES, []), ("none", NAMELESS, ["--symbols", "anonymous"])):
                out = pathlib.Path(folder) / order
                select = [options.program, "select", file, "-k", ",".join(map(str, sizes)), "--out", out, *flags]
                subprocess.run(select, check=True, capture_output=True)
                for size in sizes:
                    found = prove(out / f"{file.stem}.{size}.p", options.seconds)
                    if found is not None:
                        took[file.stem, order, size] = found
        proved = [f"{order} {size}: {t:.2f}" for (name, order, size), t in took.items() if name == file.stem]
        print(f"{file.stem:<20} {', '.join(proved) or '-'}", flush=True)
    slices = {(order, size) for _, order, size in took}
    print(f"\n{len({name for name, _, _ in took})} of {len(files)} problems are proved by some slice")
    for order, size in sorted(slices):
        times = [t for (_, o, s), t in took.items() if (o, s) == (order, size)]
        print(f"  {order} {size}: {len(times)}, {sum(t <= 1 for t in times)} of them within a second")
    print("\nschedule, each slice with what it adds:")
    left, spent = {file.stem for file in files}, 0.0
    while True:
        def gain(slice_):
            (order, size), time = slice_
            return {n for n in left if took.get((n, order, size), 1e9) <= time}
        choices = [(slice_, time) for slice_ in slices for time in TIMES if time <= options.seconds]
        best = max(choices, key=lambda choice: len(gain(choice)) / choice[1], default=None)
        if best is None or not gain(best):
            break
        spent += best[1]
        left -= gain(best)
        (order, size), time = best
        print(f"  {order} {size} for {time} s: {len(files) - len(left)} proved after {spent:.1f} s")


main()
