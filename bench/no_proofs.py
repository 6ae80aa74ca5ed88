"""How many held-out theorems E proves from what a library without proofs gives: several programs in one run.

    bench/no_proofs.py --facts PART.jsonl --tests PART.tests --program OLD --program NEW [--seconds 5] [--most 100] [-k 32,96]

A facts file has a statement a line (`name`, `statement`, `syntax`), the file of tests `name: ...` for each goal. Each program builds
a library without proofs, ranks what comes before each goal, and E tries with the best axioms. Problems of all programs are tried in
turns, so that a busy machine is equally unkind to all.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

PROVED = {"Theorem", "ContradictoryAxioms"}


def ranked(program, library, name, most):
    for flag in ("--goal-name", "--name"):
        command = [program, "rank", "--library", library, flag, name, "-k", str(most), "--format", "json"]
        answer = subprocess.run(command, capture_output=True, text=True)
        if answer.returncode == 0:
            rows = map(json.loads, answer.stdout.splitlines())
            return [row["statement"] for row in rows if "score" in row]
    sys.exit(f"{program}: {answer.stderr}")


def with_role(statement, role):
    return re.sub(r"^(\w+\(\s*[^,]+,\s*)\w+", rf"\g<1>{role}", statement, count=1)


def is_proved(axioms, goal, seconds):
    text = "\n".join([with_role(goal, "conjecture"), *axioms]) + "\n"
    with tempfile.NamedTemporaryFile("w", suffix=".p") as file:
        file.write(text)
        file.flush()
        command = ["eprover", "--auto", "-s", f"--cpu-limit={seconds}", file.name]
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=4 * seconds + 5)
        except subprocess.TimeoutExpired:
            return False
    status = re.search(r"SZS status (\w+)", answer.stdout)
    return bool(status) and status.group(1) in PROVED


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--facts", action="append", required=True)
    parser.add_argument("--tests", action="append", required=True)
    parser.add_argument("--program", action="append", required=True)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--most", type=int, default=100)
    parser.add_argument("-k", default="32,96")
    options = parser.parse_args()
    slices = [int(k) for k in options.k.split(",")]
    proved, tried, done = {}, 0, set()
    with tempfile.TemporaryDirectory() as folder:
        for facts, tests in zip(options.facts, options.tests):
            statements = {}
            plain = pathlib.Path(folder, "plain.jsonl")
            with open(facts, encoding="utf-8") as lines, open(plain, "w", encoding="utf-8") as out:
                for line in lines:
                    fact = json.loads(line)
                    fact.pop("proof", None)
                    statements[fact["name"]] = fact["statement"]
                    out.write(json.dumps(fact) + "\n")
            libraries = {}
            for number, program in enumerate(options.program):
                libraries[program] = str(pathlib.Path(folder, f"{number}-{pathlib.Path(facts).stem}.db"))
                subprocess.run([program, "library", "build", libraries[program], plain], check=True, capture_output=True)
            for line in open(tests, encoding="utf-8"):
                name = line.split(":")[0]
                if tried >= options.most or name in done:
                    continue
                done.add(name)
                tried += 1
                row = []
                for program in options.program:
                    axioms = ranked(program, libraries[program], name, max(slices))
                    for k in slices:
                        found = is_proved(axioms[:k], statements[name], options.seconds)
                        proved.setdefault((program, k), set())
                        proved.setdefault((program, "any"), set())
                        if found:
                            proved[program, k].add(name)
                            proved[program, "any"].add(name)
                        row.append("+" if found else "-")
                print(name, *row, flush=True)
    for (program, k), names in proved.items():
        print(f"{program} with {k}: {len(names)} of {tried}")


if __name__ == "__main__":
    main()
