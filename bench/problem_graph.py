#!/usr/bin/env python3
"""Measures how fast networks that read whole problems are trained, beside a prototype in PyTorch.

    bench/problem_graph.py FORMULANET PROTOTYPE DEEPMATH [--problems N] [--rounds N] [--seconds N] [--save FILE]

FORMULANET is the program, built for release. PROTOTYPE is the folder of the prototype (prep.py, batch.py, model.py, train.py,
k.c; its train.py needs torch and numpy in the Python that runs this script, and a C compiler). DEEPMATH is a folder of DeepMath
files. Both train on the same problems, with vectors of 64 numbers, five rounds and 4,400 nodes a batch, on one thread, in turns.
A node is a node of a statement before anything is shared; forward and backward count once. What is measured is training alone: the
prototype counts its own seconds from the first batch on, without validation, and of formulanet it is what three epochs take
more than one, so that starting and reading the data, which both runs do, are left out.
"""
import argparse, json, os, re, resource, shutil, statistics, subprocess, sys, tempfile
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("formulanet")
parser.add_argument("prototype")
parser.add_argument("deepmath")
parser.add_argument("--problems", type=int, default=6000)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--seconds", type=int, default=40, help="CPU seconds of the prototype in a round")
parser.add_argument("--save")
arguments = parser.parse_args()
lines = []
BATCH = 4400


def say(line):
    print(line, flush=True)
    lines.append(line)


def cpu(command, **options):
    """The CPU seconds of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout + done.stderr


with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    (folder / "train").mkdir(), (folder / "test").mkdir()
    for number, name in enumerate(sorted(os.listdir(arguments.deepmath))[:arguments.problems + 20]):
        shutil.copy(Path(arguments.deepmath, name), folder / ("test" if number < 20 else "train") / name)
    for name in ("prep.py", "batch.py", "model.py", "train.py", "k.c"):
        shutil.copy(Path(arguments.prototype, name), folder / name)
    kernel = "cc -O3 -march=native -ffast-math -shared -fPIC -DD=64 k.c -o k64.so"
    subprocess.run(kernel.split(), check=True, cwd=folder)
    cpu([sys.executable, "prep.py", "train", "test"], cwd=folder)
    program = os.path.abspath(arguments.formulanet)
    cpu([program, "prepare", folder / "train", "--out", folder / "data", "--together", "--validation", "1"])
    environment = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    ours, theirs = [], []
    for turn in range(arguments.rounds):
        train = [sys.executable, "train.py", "--name", "joint", "--names", "1", "--cpu", str(arguments.seconds)]
        cpu(train, cwd=folder, env=environment)
        result = json.load(open(folder / "joint.json"))
        theirs.append(result["nodes"] / result["cpu"])
        batches, seconds = {}, {}
        for epochs in (1, 3):
            shutil.rmtree(folder / "run", ignore_errors=True)
            train = [program, "train", "--together", "--data", folder / "data", "--out", folder / "run", "--epochs", str(epochs),
                     "--threads", "1", "--batch", str(BATCH), "--validate-every", "1000000", "--subsets", "0"]
            seconds[epochs], printed = cpu(train)
            batches[epochs] = int(re.search(r"(\d+) batches of", printed)[1])
        ours.append((batches[3] - batches[1]) * BATCH / (seconds[3] - seconds[1]))
        say(f"round {turn + 1}: formulanet {ours[-1]:,.0f} nodes a CPU second, prototype {theirs[-1]:,.0f}")
    ratio = statistics.median(ours) / statistics.median(theirs)
    say(f"median of {arguments.rounds}: formulanet {statistics.median(ours):,.0f}, prototype "
        f"{statistics.median(theirs):,.0f} nodes a CPU second; {ratio:.1f} times as fast")
if arguments.save:
    Path(arguments.save).write_text("\n".join(lines) + "\n")
