#!/usr/bin/env python3
"""Two builds of formulanet side by side: training, `rank --library` and queries of the server.

    bench/before_after.py OLD NEW --data PREPARED [--rounds 5]

OLD and NEW are binaries, PREPARED a folder of `formulanet prepare`. The two take turns, so that what else the machine
does falls on both; medians and the ratio NEW / OLD are printed. Each build makes a library of its own.
"""

import argparse
import json
import re
import statistics
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

GOAL = "!m n. m * n = n * m"


def run(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)


def train(program, data, folder, pairs):
    """Pairs a second, as the log has them; the first lines are left out."""
    out = folder / f"run{time.time_ns()}"
    run(program, "train", "--data", data, "--out", out, "--limit-pairs", pairs, "--validation-pairs", 500)
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    return statistics.median(line["speed"] for line in lines[2:])


def rank(program, library):
    """Milliseconds of a whole process."""
    start = time.perf_counter()
    run(program, "rank", "--conjecture", GOAL, "--library", library, "-k", 32, "--format", "json")
    return 1000 * (time.perf_counter() - start)


def serve(program, library, queries=50):
    """Milliseconds of a query."""
    command = [str(program), "serve", "--listen", "127.0.0.1:0", "--library", str(library)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        while not (found := re.search(r"listening on (\S+)", server.stderr.readline())):
            pass
        body = json.dumps({"conjecture": GOAL, "library": Path(library).stem, "k": 32}).encode()
        times = []
        for _ in range(queries):
            request = urllib.request.Request(
                found[1] + "/v1/rank", body, {"content-type": "application/json"})
            start = time.perf_counter()
            urllib.request.urlopen(request).read()
            times.append(1000 * (time.perf_counter() - start))
        return statistics.median(times)
    finally:
        server.terminate()
        server.wait()


def premises(path, count=12000):
    """A library of statements of our own."""
    shapes = ["!m n. m + {} = n * {}", "!x s. x IN s ==> f{} x < {}", "!l. LENGTH (APPEND l l) = {} + g{} l"]
    lines = (f"S{i}: {shapes[i % 3].format(i % 97, i % 31)}\n" for i in range(count))
    path.write_text("".join(lines))
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs=2, type=Path, metavar="PROGRAM")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=20000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = premises(folder / "premises.hol")
        libraries = [folder / f"library{i}.db" for i in range(2)]
        for program, library in zip(arguments.programs, libraries):
            run(program, "library", "build", library, text)
        kinds = {
            "training, pairs/s": lambda i: train(arguments.programs[i], arguments.data, folder, arguments.pairs),
            "rank --library, ms": lambda i: rank(arguments.programs[i], libraries[i]),
            "server, ms a query": lambda i: serve(arguments.programs[i], libraries[i]),
        }
        for kind, measure in kinds.items():
            found = [[], []]
            for _ in range(arguments.rounds):
                for i in range(2):
                    found[i].append(measure(i))
            old, new = map(statistics.median, found)
            print(f"{kind:20} old {old:9.2f}  new {new:9.2f}  new/old {new / old:.3f}  "
                  f"all {[[round(x, 2) for x in values] for values in found]}", flush=True)


if __name__ == "__main__":
    main()
