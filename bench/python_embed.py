"""How fast `formulanet.embed` is beside `formulanet embed`, in the same run.

    pip install ./python && cargo build --release && python bench/python_embed.py [STATEMENTS [RUNS]]

Both embed the same file of statements, made here, as many times; runs alternate, so that both meet the same noise. The
program starts, loads its model and writes a file of numpy every time; Python loads its model once, as a user does, and the
time of that is shown apart. The second figure takes the program's start, as measured with one statement, off its time.
"""

import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import formulanet
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("FORMULANET_BIN", ROOT / "target/release/formulanet")


def formula(chance):
    """A formula as large as those of HolStep: some dozens of nodes."""
    variables = ["x", "y", "z", "m", "n"]

    def term(depth):
        if depth == 0 or chance.random() < 0.2:
            return chance.choice([*variables, str(chance.randrange(100))])
        return f"({term(depth - 1)} {chance.choice(['+', '*', '-'])} {term(depth - 1)})"

    def body(depth):
        if depth == 0 or chance.random() < 0.3:
            return f"{term(3)} {chance.choice(['=', '<=', '<'])} {term(3)}"
        return f"({body(depth - 1)}) {chance.choice(['/\\', '\\/', '==>'])} ({body(depth - 1)})"

    return f"!{' '.join(variables)}. {body(2)}"


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    chance = random.Random(0)
    statements = [formula(chance) for _ in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        file, one, out = (pathlib.Path(folder, name) for name in ("many.hol", "one.hol", "vectors.npy"))
        file.write_text("".join(f"S{n}: {text}\n" for n, text in enumerate(statements)))
        one.write_text("S: x = x\n")

        def program(path):
            begin = time.perf_counter()
            subprocess.run([PROGRAM, "embed", "--premises", path, "--format", "npy", "--out", out], check=True)
            return time.perf_counter() - begin

        begin = time.perf_counter()
        formulanet.embed("x = x")
        print(f"{count} statements, {os.cpu_count()} cores; Python loads its model in {time.perf_counter() - begin:.2f} s")
        start = statistics.median(program(one) for _ in range(runs))
        print(f"the program starts and embeds one statement in {start:.2f} s")
        times = {"program": [], "python": []}
        for run in range(runs):
            times["program"].append(program(file))
            begin = time.perf_counter()
            vectors = formulanet.embed(statements)
            times["python"].append(time.perf_counter() - begin)
            print(f"run {run}: program {times['program'][-1]:.2f} s, python {times['python'][-1]:.2f} s", flush=True)
        assert np.array_equal(vectors, np.load(out)), "both make the same vectors"
    program_time, python_time = (statistics.median(times[name]) for name in ("program", "python"))
    print(f"median: program {count / program_time:.0f} statements/s, python {count / python_time:.0f} statements/s")
    print(f"python at {100 * program_time / python_time:.1f} % of the program, its start included")
    print(f"python at {100 * (program_time - start) / python_time:.1f} % of the program, without its start")


if __name__ == "__main__":
    main()
