"""How long adding to a theory of 40,000 facts and asking it takes, and how much memory it needs.

    cargo build --release -p formulanet --example theory_speed
    python3 bench/theory_speed.py THEORY.jsonl[.zst] [--program target/release/examples/theory_speed]

The theory is the given one (HOL4's in bench/results/theory_speed.txt), several times: in each copy half of the symbols have
names of their own, the others are shared, and a proof uses facts of its own copy.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import tempfile
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("theory")
    parser.add_argument("--program", default="target/release/examples/theory_speed")
    parser.add_argument("--facts", type=int, default=40_000)
    parser.add_argument("--questions", type=int, default=300)
    arguments = parser.parse_args()
    facts = lines(arguments.theory)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "theory.jsonl")
        with open(path, "w", encoding="utf-8") as out:
            for number in range(arguments.facts):
                copy, fact = number // len(facts), dict(facts[number % len(facts)])
                fact["name"] += f"_{copy}"
                fact["statement"] = renamed(fact["statement"], copy)
                # Every fact has a proof, if only a short one.
                used = fact.get("proof") or [facts[max(0, number % len(facts) - 1)]["name"]]
                fact["proof"] = [f"{name}_{copy}" for name in used if f"{name}_{copy}" != fact["name"]]
                out.write(json.dumps(fact) + "\n")
        run = subprocess.run([arguments.program, path, str(arguments.questions)], capture_output=True, text=True, check=True)
        print(run.stdout, end="")
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(f"memory, with the file's features: {most / 1024:.0f} MB")


main()
