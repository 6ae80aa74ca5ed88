#!/usr/bin/env python3
"""E with all axioms of a problem, and with those that formulanet selects.

    formulanet prepare deepmath-train.tar.zst --out prepared
    bench/eprover.py make --archive deepmath-train.tar.zst --prepared prepared --out problems --problems 100
    bench/eprover.py run problems --program target/release/formulanet --model MODEL -k 16,64,256 --seconds 10

`make` writes TPTP problems of the conjectures that the prepared folder holds out: each has as axioms the premises that its
own proof used, and all premises of other conjectures, drawn by the seed. The conjecture is none of them. In which order
things were proved is not known, so some axioms may have been proved with its help.

`run` takes any folder of TPTP problems (`*.p`) and prints a Markdown table: a row for each problem and K, with the CPU
seconds of E. `--auto` lets E select axioms in its own way, too. Progress goes to standard error.
"""

import argparse
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

NAME = re.compile(r"fof\(\s*('(?:\\.|[^'\\])*'|\w+)\s*,\s*\w+\s*,\s*(.*)\)\s*\.\s*$", re.DOTALL)
PROVED = {"Theorem", "Unsatisfiable", "ContradictoryAxioms"}


def held_out(prepared):
    """Names of the conjectures in the validation split of a prepared folder."""
    with open(prepared / "graphs.safetensors", "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        tensors = json.loads(file.read(length))

        def read(name):
            begin, end = tensors[name]["data_offsets"]
            file.seek(8 + length + begin)
            return file.read(end - begin)

        splits, names, offsets = map(read, ["conjecture_split", "conjecture_names", "conjecture_names_offsets"])
    offsets = struct.unpack(f"<{len(offsets) // 8}Q", offsets)
    texts = [names[begin:end].decode() for begin, end in zip(offsets, offsets[1:])]
    return {name for name, split in zip(texts, splits) if split == 1}


def read_archive(path):
    """For every conjecture its formula, and its premises as (is useful, name, formula)."""
    unpack = subprocess.Popen(["zstd", "-dcq", path], stdout=subprocess.PIPE)
    conjectures = {}
    with tarfile.open(fileobj=unpack.stdout, mode="r|") as archive:
        for member in archive:
            if not member.isfile():
                continue
            text = archive.extractfile(member).read().decode()
            if not text.startswith("C "):
                continue
            name = formula = None
            premises = []
            for line in text.splitlines():
                found = NAME.match(line[2:])
                if found is None:
                    continue
                if line[0] == "C":
                    name, formula = found.groups()
                else:
                    premises.append((line[0] == "+", *found.groups()))
            conjectures[name] = (formula, premises)
    if unpack.wait() != 0:
        sys.exit(f"{path}: cannot be unpacked")
    return conjectures


def make(options):
    conjectures = read_archive(options.archive)
    wanted = held_out(options.prepared)
    wanted = sorted(name for name in conjectures if name.strip("'") in wanted)
    if not wanted:
        sys.exit(f"{options.prepared}: expected held-out conjectures of the archive, found none")
    rng = random.Random(options.seed)
    wanted = rng.sample(wanted, min(options.problems, len(wanted)))
    # Validation conjectures are asked, others give axioms: the same for every problem, as in a library.
    rest = sorted(conjectures.keys() - set(wanted))
    others = rng.sample(rest, min(options.others, len(rest)))
    library = {name: formula for other in others for _, name, formula in conjectures[other][1]}
    options.out.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        goal, premises = conjectures[name]
        axioms = library | {name: formula for is_useful, name, formula in premises if is_useful}
        axioms = [(n, f) for n, f in sorted(axioms.items()) if n != name and f != goal]
        rng.shuffle(axioms)
        useful = sum(is_useful for is_useful, _, _ in premises)
        with open(options.out / f"{name.strip(chr(39))}.p", "w") as file:
            file.write(f"% {len(axioms)} axioms, of which a proof used {useful}.\n")
            file.writelines(f"fof({n}, axiom, {f}).\n" for n, f in axioms)
            file.write(f"fof({name}, conjecture, {goal}).\n")
    print(f"{len(wanted)} problems in {options.out}", file=sys.stderr)


def measured(command, limit):
    """Runs a command, for so many seconds by the clock at most; returns what it printed, its CPU seconds and its status."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        watch = threading.Timer(limit, process.kill)
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        watch.cancel()
        process.returncode = status
        output.seek(0)
        return output.read(), usage.ru_utime + usage.ru_stime, status


def prove(problem, options):
    """The status that E comes to, and its CPU seconds."""
    # Mizar's numerals are constants like others; E would take them for integers, of which nothing else is said.
    command = ["eprover", "--auto", "-s", "--tstp-format", "--free-numbers", f"--cpu-limit={options.seconds}"]
    # On a machine that does other things, CPU seconds take longer.
    printed, seconds, status = measured([*command, str(problem)], 10 * options.seconds + 10)
    found = re.search(r"SZS status (\w+)", printed)
    if found:
        return found.group(1), seconds
    if "time limit exceeded" in printed or os.WIFSIGNALED(status):
        return "ResourceOut", seconds
    sys.exit(f"{' '.join(command)} {problem}\n{printed}")


def select(problem, folder, options):
    """Writes the problem with fewer axioms, once for each K; returns seconds by the clock."""
    # Several K write several files into a folder, one K the file that it is told.
    out = folder if len(options.k) > 1 else folder / f"{problem.stem}.{options.k[0]}.p"
    command = [options.program, "select", str(problem), "-k", ",".join(map(str, options.k)), "--out", str(out)]
    if options.model:
        command += ["--model", options.model]
    began = time.monotonic()
    printed, _, status = measured(command, 600)
    if status != 0:
        sys.exit(f"{' '.join(command)}\n{printed}")
    return time.monotonic() - began


def shown(status, seconds):
    return f"{seconds:.2f}" if status in PROVED else f"{status} after {seconds:.2f}"


def run(options):
    problems = sorted(options.folder.glob("*.p"))
    if not problems:
        sys.exit(f"{options.folder}: expected problems (*.p), found none")
    counts = {"all": 0, "any": 0, "quicker": 0, **{k: 0 for k in options.k}}
    selecting = []
    print("| problem | axioms | K | seconds with all | seconds with K | proved |")
    print("|---|---:|---:|---:|---:|---|")
    for number, problem in enumerate(problems):
        print(f"{number + 1} of {len(problems)}: {problem.stem}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            status, seconds = prove(problem, options)
            counts["all"] += status in PROVED
            selecting.append(select(problem, folder, options))
            is_any = is_quicker = False
            for k in options.k:
                reduced = folder / f"{problem.stem}.{k}.p"
                with open(reduced) as file:
                    axioms = re.match(r"% \d+ of (\d+)", file.readline()).group(1)
                status_k, seconds_k = prove(reduced, options)
                with_all, with_k = status in PROVED, status_k in PROVED
                counts[k] += with_k
                is_any |= with_k
                is_quicker |= with_k and (not with_all or seconds_k < seconds)
                proved = {(True, True): "both", (True, False): "all", (False, True): f"{k}", (False, False): "neither"}
                row = [problem.stem, axioms, k, shown(status, seconds), shown(status_k, seconds_k)]
                print("|", " | ".join(map(str, row)), "|", proved[with_all, with_k], "|", flush=True)
            counts["any"] += is_any
            counts["quicker"] += is_quicker
    of = f"of {len(problems)} problems within {options.seconds} s"
    print(f"\nProved {of}: {counts['all']} with all axioms; ", end="")
    print("; ".join(f"{counts[k]} with the {k} best" for k in options.k), end="")
    print(f"; {counts['any']} with one of these. With one of these where all axioms take longer or fail: {counts['quicker']}.")
    print(f"Selecting took {sorted(selecting)[len(selecting) // 2]:.2f} s in the median, the model's start included.")


def numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("make", help="write problems from the DeepMath archive")
    command.add_argument("--archive", type=pathlib.Path, required=True, help="deepmath-train.tar.zst")
    command.add_argument("--prepared", type=pathlib.Path, required=True, help="what the model was trained on")
    command.add_argument("--out", type=pathlib.Path, required=True, help="a folder, outside the checkout")
    command.add_argument("--problems", type=int, default=100)
    command.add_argument("--others", type=int, default=2000, help="conjectures whose premises become axioms")
    command.add_argument("--seed", type=int, default=0)
    command.set_defaults(run=make)
    command = commands.add_parser("run", help="prove the problems of a folder")
    command.add_argument("folder", type=pathlib.Path)
    command.add_argument("--program", default="target/release/formulanet")
    command.add_argument("--model", help="a model file or a shipped model")
    command.add_argument("-k", type=numbers, default=[16, 64, 256], help="axioms that are kept, as in 16,64,256")
    command.add_argument("--seconds", type=int, default=10, help="CPU seconds for each proof")
    command.set_defaults(run=run)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
