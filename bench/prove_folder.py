"""Proofs of `formulanet prove DIRECTORY` with and without `--learn`, in the same time of the same cores.

    bench/eprover.py make --archive deepmath-train.tar.zst --prepared prepared --out problems --problems 40
    bench/prove_folder.py problems [--program target/release/formulanet] [--budget 10m] [--prover eprover] [--out results.md]

Both runs have the same budget, one after the other. Prints a table of what each proved, by round and by slice, from their journals, and the
problems that only one of them proved.
"""

import argparse
import collections
import json
import os
import subprocess
import tempfile
import time


def run(arguments, learns, journal):
    command = [arguments.program, "prove", arguments.problems, "--keep-going", "--budget", arguments.budget, "--journal", journal]
    for prover in arguments.prover:
        command += ["--prover", prover]
    if learns:
        command.append("--learn")
    start = time.perf_counter()
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if not os.path.exists(journal):
        raise SystemExit(f"{' '.join(command)}: {found.stderr}")
    with open(journal, encoding="utf-8") as file:
        return [json.loads(line) for line in file][1:], seconds, found.stdout.splitlines()[-1]


def is_proved(entry):
    return entry["outcome"]["status"] in ("Theorem", "Unsatisfiable", "ContradictoryAxioms")


def by_round(entries):
    rounds = collections.defaultdict(lambda: [0, 0, 0.0])
    for entry in entries:
        counts = rounds[entry["round"]]
        counts[0] += 1
        counts[1] += is_proved(entry)
        counts[2] += sum(tried["seconds"] for tried in entry["tried"])
    return rounds


def by_slice(entries):
    slices = collections.defaultdict(lambda: [0, 0, 0.0])
    for tried in (tried for entry in entries for tried in entry["tried"]):
        counts = slices[tried["prover"], tried["most"], tried["order"]]
        counts[0] += 1
        counts[1] += tried["proves"]
        counts[2] += tried["seconds"]
    return slices


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("problems")
    parser.add_argument("--program", default="target/release/formulanet")
    parser.add_argument("--budget", default="10m")
    parser.add_argument("--prover", action="append", default=[])
    parser.add_argument("--out")
    arguments = parser.parse_args()
    lines, proved = [], {}
    orders = ["proofs and model", "symbols alone", "model without proofs"]
    for learns in (False, True):
        name = "learning" if learns else "not learning"
        with tempfile.TemporaryDirectory() as folder:
            entries, seconds, counts = run(arguments, learns, os.path.join(folder, "journal.jsonl"))
        proved[learns] = {entry["outcome"]["problem"] for entry in entries if is_proved(entry)}
        cpu = sum(tried["seconds"] for entry in entries for tried in entry["tried"])
        lines += [f"## {name}", "", f"{counts}; {seconds:.0f} s, {cpu:.0f} s of them in provers, on {os.cpu_count()} cores", ""]
        lines += ["| round | problems | proved | seconds of provers |", "|---|---|---|---|"]
        lines += [f"| {number} | {tried} | {new} | {took:.0f} |" for number, (tried, new, took) in sorted(by_round(entries).items())]
        lines += ["", "| prover | axioms | order | attempts | proofs | seconds | proofs per 100 s |", "|---|---|---|---|---|---|---|"]
        for (prover, most, order), (tried, new, took) in sorted(by_slice(entries).items(), key=lambda item: -item[1][1]):
            order = orders[order] if learns or order else "model"
            lines.append(f"| {prover} | {most} | {order} | {tried} | {new} | {took:.0f} | {100 * new / max(took, 1e-9):.1f} |")
        lines.append("")
    only = sorted(proved[True] - proved[False]), sorted(proved[False] - proved[True])
    lines.append(f"proved {len(proved[False])} without learning and {len(proved[True])} with it: {len(only[0])} with it alone, {len(only[1])} without it alone")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if arguments.out:
        with open(arguments.out, "w", encoding="utf-8") as file:
            file.write(text)


main()
