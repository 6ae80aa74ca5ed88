"""How long it takes to add to a library of 40,000 statements with proofs and to ask it, and how much memory the server needs.

    cargo build --release
    python3 bench/library_speed.py THEORY.jsonl[.zst] [--program target/release/formulanet]

The library is the given theory (HOL4's in bench/results/library_speed.txt), several times: in each copy half of the symbols have
names of their own, the others are shared, and a proof uses facts of its own copy. Times are medians.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import time
import urllib.request
import zlib


def lines(path):
    if path.endswith(".zst"):
        text = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout.decode()
    else:
        text = open(path, encoding="utf-8").read()
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def renamed(statement, copy):
    """The statement with half of the library's symbols renamed."""

    def rename(match):
        name = match.group()
        return f"{name}_copy{copy}" if zlib.crc32(name.encode()) % 2 else name

    return re.sub(r"\bc_2E\w+", rename, statement) if copy else statement


def write_theory(facts, number, path):
    """The facts, again and again under other names; every one has a proof, if only a short one."""
    with open(path, "w", encoding="utf-8") as out:
        for n in range(number):
            copy, fact = n // len(facts), dict(facts[n % len(facts)])
            fact["name"] += f"_{copy}"
            fact["statement"] = renamed(fact["statement"], copy)
            used = fact.get("proof") or [facts[max(0, n % len(facts) - 1)]["name"]]
            fact["proof"] = [f"{name}_{copy}" for name in used if f"{name}_{copy}" != fact["name"]]
            out.write(json.dumps(fact) + "\n")


def timed(command, text):
    start = time.perf_counter()
    subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return time.perf_counter() - start


def shown(what, seconds):
    print(f"{what}: {1000 * statistics.median(seconds):.1f} ms (fastest {1000 * min(seconds):.1f}, slowest {1000 * max(seconds):.1f}, {len(seconds)} times)")


def ask(address, body):
    request = urllib.request.Request(f"{address}/v1/rank", json.dumps(body).encode(), {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("theory")
    parser.add_argument("--program", default="target/release/formulanet")
    parser.add_argument("--facts", type=int, default=40_000)
    parser.add_argument("--questions", type=int, default=200)
    arguments = parser.parse_args()
    program, facts = arguments.program, lines(arguments.theory)
    with tempfile.TemporaryDirectory() as folder:
        theory, library = os.path.join(folder, "theory.jsonl"), os.path.join(folder, "big.db")
        write_theory(facts, arguments.facts, theory)
        built = timed([program, "library", "build", library, theory], None)
        size = os.path.getsize(library) / 2**20
        print(f"library build of {arguments.facts} statements with proofs: {built:.1f} s, {size:.0f} MB")
        goals = facts[-arguments.questions :]
        new = [json.dumps({**goal, "name": f"new_{n}", "proof": []}) for n, goal in enumerate(goals[:20])]
        shown("library add of one statement, the whole process", [timed([program, "library", "add", library, "-"], line) for line in new])
        proofs = [f"new_{n}: {goal['name']}_0\n" for n, goal in enumerate(goals[:20])]
        shown("library learn of one proof, the whole process", [timed([program, "library", "learn", library, "-"], line) for line in proofs])
        serve = [program, "serve", "--library", library, "--listen", "127.0.0.1:0"]
        server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            address = next(re.search(r"http://\S+", line).group() for line in server.stdout if "http://" in line)
            for read in [False, True]:
                took = []
                for goal in goals:
                    body = {"conjecture": goal["statement"], "library": "big", "syntax": goal["syntax"], "read": read, "k": 64}
                    took.append(ask(address, body)["took_ms"] / 1000)
                shown(f"a query in the server, {'read together' if read else 'without reading together'}", took)
            waits = []
            for n in range(10):
                line = json.dumps({**goals[n], "name": f"late_{n}", "proof": []})
                timed([program, "library", "add", library, "-"], line)
                start, listing = time.perf_counter(), f"{address}/v1/library?name=big&contains=late_{n}"
                while json.load(urllib.request.urlopen(listing))["found"] == 0:
                    time.sleep(0.01)
                waits.append(time.perf_counter() - start)
            shown("until the server knows what was added", waits)
            status = open(f"/proc/{server.pid}/status", encoding="utf-8").read()
            print("memory of the server at most:", re.search(r"VmHWM:\s*(\d+)", status).group(1), "kB")
        finally:
            server.terminate()
            server.wait()


main()
