#!/usr/bin/env python3
"""CoqHammer's own premise selector and ours, on Coq's library.

    bench/coqhammer.py dump --out FILES
    bench/coqhammer.py recall FILES --program target/release/formulanet [--sample 300]
    bench/coqhammer.py ask FILES --program target/release/formulanet [--sample 300]
    bench/coqhammer.py time FILES --program target/release/formulanet
    bench/coqhammer.py prove --program target/release/formulanet
    bench/coqhammer.py alone

`dump` has Coq and its plugin (Debian: coq libcoq-hammer) write the files for `Arith List Lia ZArith`, and keeps them.
`recall` asks both programs for theorems that depend on earlier ones (`-e`), each as if the library ended before it: whether
`--exact` gives the same, and which share of what each depends on is among the first 16, 32 and 64. `ask` asks as the plugin
does: the theorem is taken out of the files, and its features come on standard input. Both ask for 1,000 names by default,
because the stock k-NN looks at more neighbours the more names it has to give. `time` takes the time of one question.
`prove` runs `hammer` on the lemmas of integrations/coqhammer/lemmas.v with each selector, all other settings the same; `alone` tries
`sauto` on them, without any premise.
Results go to standard output, progress to standard error.
"""

import argparse
import os
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

STOCK = "/usr/libexec/coq-hammer/predict"
LEMMAS = pathlib.Path(__file__).parent.parent / "integrations/coqhammer/lemmas.v"
CUTOFFS = [16, 32, 64]


def wrapper(folder, program, kept=None, name="selector"):
    """A script that calls a program, or keeps what it was called with."""
    path = pathlib.Path(folder) / name
    keep = f'cp "$1" {kept}/fea; cp "$2" {kept}/dep; cp "$3" {kept}/seq\n' if kept else ""
    path.write_text(f'#!/bin/sh\n{keep}exec {program} "$@"\n')
    path.chmod(0o755)
    return path


def coq(text, folder):
    """What Coq prints for a file."""
    path = pathlib.Path(folder) / "lemmas.v"
    path.write_text(text)
    # The plugin needs a program of its own for limits of time.
    environment = dict(os.environ, PATH=os.environ["PATH"] + ":" + os.path.dirname(STOCK))
    run = subprocess.run(["nice", "coqc", path.name], cwd=folder, capture_output=True, text=True, env=environment)
    return run.stdout + run.stderr


def dump(arguments):
    out = pathlib.Path(arguments.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        selector = wrapper(folder, STOCK, out)
        print(coq(f"""From Hammer Require Import Hammer.
Require Import Arith List Lia ZArith.
Set Hammer PredictPath "{selector}".
Set Hammer SAutoLimit 0.
Set Hammer ATPLimit 1.
Lemma rev_app : forall (A : Type) (l m : list A), length (rev (l ++ m)) = length m + length l.
Proof. try hammer. Abort.
""", folder), file=sys.stderr)


class Files:
    """The three files of a library."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.paths = [str(self.folder / name) for name in ("fea", "dep", "seq")]
        lines = [open(path, encoding="utf-8").read().splitlines() for path in self.paths]
        self.features = dict(line.split(":", 1) for line in lines[0])
        self.used = {name: set(used.split()) for name, used in (line.split(":", 1) for line in lines[1])}
        self.order = lines[2]
        self.place = {name: place for place, name in enumerate(self.order)}

    def earlier(self, name):
        return {used for used in self.used[name] if self.place.get(used, len(self.order)) < self.place[name]}

    def sample(self, names, number):
        return names if not number else sorted(random.Random(1).sample(names, number), key=self.place.get)


def recalls(found, used):
    return [len(used & set(found[:cutoff])) / len(used) for cutoff in CUTOFFS]


def row(name, figures):
    means = [statistics.mean(column) for column in zip(*figures)]
    errors = [statistics.stdev(column) / len(column) ** 0.5 for column in zip(*figures)]
    cells = " | ".join(f"{mean:.3f} ± {error:.3f}" for mean, error in zip(means, errors))
    print(f"| {name} | {cells} |", flush=True)


def evaluate(program, files, asked, options):
    """The lines that a program prints for a file of names, one after the other: they are too many to keep."""
    command = program + files.paths + options + ["-e", asked]
    print(" ".join(command), file=sys.stderr)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        for line in process.stdout:
            name, found = line.rstrip("\n").split(":", 1)
            yield name, found.split()
    if process.returncode:
        sys.exit(f"failed: {' '.join(command)}")


def heading(files, number):
    print(f"{len(files.order)} theorems, {number} asked for\n")
    print("| | " + " | ".join(f"recall@{cutoff}" for cutoff in CUTOFFS) + " |")
    print("|---|" + "---|" * len(CUTOFFS))


def recall(arguments):
    files = Files(arguments.files)
    ours = [arguments.program, "predict"]
    names = files.sample([name for name in files.order if files.earlier(name)], arguments.sample)
    heading(files, len(names))
    number, agreements = ["-n", str(arguments.number)], []
    with tempfile.NamedTemporaryFile("w") as asked:
        asked.write("\n".join(names) + "\n")
        asked.flush()
        for method in filter(None, arguments.methods.split(",")):
            options = number + ["-p", method]
            stock = evaluate([STOCK], files, asked.name, options)
            exact = evaluate(ours, files, asked.name, options + ["--exact"])
            figures, same = [], 0
            for (name, found), other in zip(stock, exact, strict=True):
                figures.append(recalls(found, files.earlier(name)))
                same += (name, found) == other
            agreements.append(f"--exact -p {method}: {same} of {len(figures)} lines are those of the stock program")
            row(f"stock {method}", figures)
        for method in arguments.own.split(","):
            own = evaluate(ours, files, asked.name, number + ["-p", method])
            row(f"formulanet, {method}", [recalls(found, files.earlier(name)) for name, found in own])
    print("\n" + "\n".join(agreements))


def ask(arguments):
    files = Files(arguments.files)
    names = files.sample([name for name in files.order if files.used[name]], arguments.sample)
    heading(files, len(names))
    programs = [("stock knn", [STOCK], "knn"), ("stock nbayes", [STOCK], "nbayes"),
                ("formulanet, knn", [arguments.program, "predict"], "knn"),
                ("formulanet, nbayes", [arguments.program, "predict"], "nbayes"),
                ("formulanet, rforest", [arguments.program, "predict"], "rforest")]
    figures = {name: [] for name, _, _ in programs}
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("fea", "dep", "seq")]
        for name in names:
            for path, source in zip(paths, files.paths):
                with open(path, "w", encoding="utf-8") as out, open(source, encoding="utf-8") as lines:
                    out.writelines(line for line in lines if line.rstrip("\n").split(":", 1)[0] != name)
            for label, program, method in programs:
                run = subprocess.run(program + paths + ["-n", "1000", "-p", method], input=files.features[name],
                                     capture_output=True, text=True, check=True)
                figures[label].append(recalls(run.stdout.split(), files.used[name]))
    for label, found in figures.items():
        row(label, found)


def measure(arguments):
    files = Files(arguments.files)
    goal = files.features[files.order[len(files.order) // 2]]
    print("| | CPU seconds | seconds |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, XDG_CACHE_HOME=folder)
        ours = [arguments.program, "predict"]
        calls = [("stock knn", [STOCK], "knn", 5), ("stock nbayes", [STOCK], "nbayes", 3),
                 ("formulanet, first call", ours, "knn", 1), ("formulanet, second call", ours, "knn", 5)]
        for label, program, method, times in calls:
            seconds = []
            for _ in range(times):
                before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
                subprocess.run(program + files.paths + ["-n", "128", "-p", method], input=goal, env=environment,
                               capture_output=True, text=True, check=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                seconds.append((cpu, time.time() - start))
            print(f"| {label} | {min(seconds)[0]:.3f} | {min(wall for _, wall in seconds):.3f} |")


def alone(arguments):
    text = LEMMAS.read_text(encoding="utf-8")
    names = re.findall(r"^Lemma (\w+)", text, re.MULTILINE)
    tried = text.replace("try hammer. Abort.", f'tryif timeout {arguments.seconds} sauto then idtac "PROVED" else idtac "FAILED". Abort.')
    with tempfile.TemporaryDirectory() as folder:
        printed = re.findall("^(?:PROVED|FAILED)$", coq(tried, folder), re.MULTILINE)
    if len(printed) != len(names):
        sys.exit(f"Coq came to {len(printed)} of {len(names)} lemmas")
    proved = [name for name, result in zip(names, printed) if result == "PROVED"]
    print(f"{len(names)} lemmas; sauto alone proves {len(proved)} in {arguments.seconds} s: {' '.join(proved)}")


def prove(arguments):
    text = LEMMAS.read_text(encoding="utf-8")
    names = re.findall(r"^Lemma (\w+)", text, re.MULTILINE)
    selectors = [("stock", STOCK), ("formulanet", f"{os.path.abspath(arguments.program)} predict")]
    with tempfile.TemporaryDirectory() as folder:
        paths = {label: wrapper(folder, program, name=label) for label, program in selectors}
        settings = f"""Unset Hammer Vampire. Unset Hammer Z3. Unset Hammer CVC4.
Set Hammer SAutoLimit 0.
Set Hammer ATPLimit {arguments.seconds}.
Set Hammer ReconstrLimit {arguments.seconds}.
Set Hammer GSMode 4.
"""

        def twice(match):
            # One after the other, so that both find the machine equally busy; by turns the first.
            turn = names.index(match[1]) % 2
            order = selectors[turn:] + selectors[:turn]
            calls = (f'Set Hammer PredictPath "{paths[label]}".\n{match[0]}idtac "LEMMA {label} {match[1]}". '
                     "try hammer. Abort.\n" for label, _ in order)
            return "".join(calls)

        marked = re.sub(r"^Lemma (\w+)[^P]*?(?:P(?!roof\.)[^P]*?)*Proof\. ", twice, text, flags=re.MULTILINE)
        marked = marked.replace("\ntry hammer. Abort.\n", "\n")
        start = time.time()
        printed = coq(marked.replace("Import ListNotations.\n", "Import ListNotations.\n" + settings), folder)
    print(f"{printed}\n{time.time() - start:.0f} s", file=sys.stderr)
    parts = re.split(r"^LEMMA (\w+ \w+)$", printed, flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2]))
    for label, _ in selectors:
        for name in names:
            if f"{label} {name}" not in found:
                sys.exit(f"Coq did not come to {name}:\n{printed}")
    proved = {label: {name for name in names if "Replace the hammer tactic" in found[f"{label} {name}"]}
              for label, _ in selectors}
    print(f"{len(names)} lemmas; proved: " + ", ".join(f"{label} {len(found)}" for label, found in proved.items()))
    print("\n| lemma | " + " | ".join(proved) + " |\n|---|" + "---|" * len(proved))
    for name in names:
        print(f"| {name} | " + " | ".join("proved" if name in found else "–" for found in proved.values()) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run, takes_files in [("dump", dump, False), ("recall", recall, True), ("ask", ask, True),
                                   ("time", measure, True), ("prove", prove, False), ("alone", alone, False)]:
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        if takes_files:
            command.add_argument("files")
        if name == "dump":
            command.add_argument("--out", required=True)
        elif name != "alone":
            command.add_argument("--program", default="target/release/formulanet")
        if name in ("recall", "ask"):
            command.add_argument("--sample", type=int, default=0, help="ask for so many theorems, not for all")
        if name == "recall":
            command.add_argument("--methods", default="knn,nbayes,mepo")
            command.add_argument("--own", default="knn,nbayes,rforest", help="what to ask formulanet for")
            command.add_argument("--number", type=int, default=1000, help="how many names a line has")
        if name in ("prove", "alone"):
            command.add_argument("--seconds", type=int, default=10, help="time of a prover, and of a reconstruction or of `sauto`")
    arguments = parser.parse_args()
    arguments.run(arguments)


main()
