#!/usr/bin/env python3
"""A library of a million statements: how long a query takes, and how much memory.

    bench/million.py --program target/release/formulanet --folder /var/tmp/million

Writes distinct statements that a seed decides, builds a library of them, asks a server that has it several times over, and
runs `formulanet rank --library` as a whole. Prints one JSON object: seconds and the largest resident memory of each. Ends
with 1 if a query took longer than a second, or anything more than 2 GB. What is in the folder already is used again.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
import urllib.request

CONJECTURE = "!m n p. m * (n + p) = m * n + m * p"
UNARY = ["SUC", "PRE", "FACT", "abs", "inv", "sqrt", "CARD", "LENGTH", "REVERSE", "FST", "SND"]
BINARY = ["+", "*", "-", "MOD", "DIV", "EXP", "UNION", "INTER", "DIFF"]
RELATIONS = ["=", "<", "<=", ">", "SUBSET", "IN", "divides"]
CONNECTIVES = ["==>", "/\\", "\\/", "<=>"]


def term(rng, depth):
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(["x", "y", "z", str(rng.randrange(1000))])
    if rng.random() < 0.35:
        return f"({rng.choice(UNARY)} {term(rng, depth - 1)})"
    return f"({term(rng, depth - 1)} {rng.choice(BINARY)} {term(rng, depth - 1)})"


def statement(rng):
    def atom():
        negation = "~" if rng.random() < 0.1 else ""
        return f"{negation}({term(rng, 2)} {rng.choice(RELATIONS)} {term(rng, 2)})"

    body = atom()
    for _ in range(rng.randrange(2)):
        body = f"{body} {rng.choice(CONNECTIVES)} {atom()}"
    return f"!x y z. {body}"


def write_statements(path, count, seed):
    rng, seen = random.Random(seed), set()
    unfinished = path.with_suffix(".part")
    with open(unfinished, "w") as file:
        while len(seen) < count:
            text = statement(rng)
            if text not in seen:
                file.write(f"SYNTHETIC_{len(seen)}: {text}\n")
                seen.add(text)
    unfinished.rename(path)


def peak_mb(pid):
    """The most memory that a process has had resident, in megabytes of a million bytes."""
    with open(f"/proc/{pid}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return round(int(lines["VmHWM"].split()[0]) * 1024 / 1e6, 1)


def cpu_seconds(pid):
    """What a process has computed so far, which does not depend on what else the machine does."""
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(command):
    """Runs a command to its end; returns what it printed, its seconds and its memory."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    printed = []
    reader = threading.Thread(target=lambda: printed.append(process.stdout.read()))
    reader.start()
    # The largest set of pages is only known once the process has ended, and only to who waits for it.
    _, status, usage = os.wait4(process.pid, 0)
    reader.join()
    process.returncode = status
    if status != 0:
        sys.exit(f"{' '.join(command)}: ended with {status}")
    return printed[0], round(time.monotonic() - began, 2), round(usage.ru_maxrss * 1024 / 1e6, 1)


def ask(address):
    body = json.dumps({"conjecture": CONJECTURE, "library": "million", "k": 32}).encode()
    request = urllib.request.Request(f"{address}/v1/rank", body, {"content-type": "application/json"})
    began = time.monotonic()
    with urllib.request.urlopen(request) as answer:
        premises = json.load(answer)["premises"]
    return premises, time.monotonic() - began


def serve(program, library, queries):
    began = time.monotonic()
    command = [program, "serve", "--listen", "127.0.0.1:0", "--library", library, "--timeout", "60"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        address = None
        for line in server.stderr:
            if line.startswith("listening on "):
                address = line.split()[-1]
                break
        if address is None:
            sys.exit("the server does not start")
        start, before = time.monotonic() - began, cpu_seconds(server.pid)
        answers = [ask(address) for _ in range(queries)]
        times = sorted(seconds for _, seconds in answers)
        result = {
            "start_seconds": round(start, 2),
            "query_seconds_median": round(times[len(times) // 2], 3),
            "query_seconds_worst": round(times[-1], 3),
            "query_cpu_seconds": round((cpu_seconds(server.pid) - before) / queries, 3),
            "memory_mb": peak_mb(server.pid),
        }
        return answers[0][0], result
    finally:
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="target/release/formulanet")
    parser.add_argument("--folder", type=pathlib.Path, required=True, help="for the statements and the library")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queries", type=int, default=10)
    options = parser.parse_args()
    folder = options.folder / f"{options.count}-{options.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    statements, library = folder / "million.hol", folder / "million.db"
    if not statements.exists():
        write_statements(statements, options.count, options.seed)
    result = {"statements": options.count}
    if not library.exists():
        command = [options.program, "library", "build", str(library), str(statements)]
        _, seconds, memory = measured(command)
        result["build"] = {
            "seconds": seconds,
            "statements_per_second": round(options.count / seconds),
            "memory_mb": memory,
        }
    result["library_mb"] = round(library.stat().st_size / 1e6, 1)
    of_server, result["serve"] = serve(options.program, str(library), options.queries)
    command = [options.program, "rank", "--conjecture", CONJECTURE, "--library", str(library)]
    printed, seconds, memory = measured([*command, "-k", "32", "--format", "json"])
    result["rank"] = {"seconds": seconds, "memory_mb": memory}
    of_program = [json.loads(line) for line in printed.splitlines()]
    # Both read the same vectors; a server computes on one thread, which changes nothing.
    result["same_answers"] = [(row["name"], row["score"]) for row in of_program] == [
        (row["name"], row["score"]) for row in of_server
    ]
    print(json.dumps(result))
    memories = [result[part]["memory_mb"] for part in ("build", "serve", "rank") if part in result]
    is_good = result["serve"]["query_seconds_worst"] <= 1 and max(memories) <= 2000 and result["same_answers"]
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
