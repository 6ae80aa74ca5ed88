"""How fast `formulanet.embed` is beside `formulanet embed`, in the same run.

    pip install ./python && cargo build --release && python bench/python_embed.py [STATEMENTS [RUNS]]

Both embed the same file of statements, made here, as many times; runs alternate, so that both meet the same noise. The
program starts, loads its model and writes a file of numpy every time; Python loads its model once, as a user does, and the
time of that is shown apart. The last figures take the program's start, as measured with one statement, off its time. Seconds
of the processor say more than those of the clock where other programs run meanwhile.
"""

import os
import pathlib
import random
import resource
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
        connective = chance.choice(["/\\", "\\/", "==>"])
        return f"({body(depth - 1)}) {connective} ({body(depth - 1)})"

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

        def program():
            subprocess.run([PROGRAM, "embed", "--premises", file, "--format", "npy", "--out", out], check=True)

        def start():
            subprocess.run([PROGRAM, "embed", "--premises", one, "--format", "npy", "--out", out], check=True)

        def python():
            formulanet.embed(statements)

        begin = time.perf_counter()
        formulanet.embed("x = x")
        print(f"{count} statements, {os.cpu_count()} cores; Python loads its model in {time.perf_counter() - begin:.2f} s")
        times = {"start": [], "program": [], "python": []}
        for run in range(runs):
            for work in (start, program, python):
                times[work.__name__].append(measured(work))
            shown = (f"{name} {clock:.2f} s ({cpu:.2f} s)" for name, ((*_, (clock, cpu))) in times.items())
            print(f"run {run}, clock (processor): {', '.join(shown)}", flush=True)
        program()
        assert np.array_equal(formulanet.embed(statements), np.load(out)), "both make the same vectors"
    for which, what in enumerate(["clock", "processor"]):
        start_time, program_time, python_time = (
            statistics.median(pair[which] for pair in times[name]) for name in ("start", "program", "python")
        )
        print(
            f"{what}, median: program {count / program_time:.0f} statements/s, python {count / python_time:.0f};"
            f" python at {100 * program_time / python_time:.1f} %,"
            f" {100 * (program_time - start_time) / python_time:.1f} % without the program's start"
        )


def measured(work):
    """Seconds by the clock, and those of the processor in this process and in those that it started."""

    def processor():
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in used)

    begin = time.perf_counter(), processor()
    work()
    return time.perf_counter() - begin[0], processor() - begin[1]


if __name__ == "__main__":
    main()
