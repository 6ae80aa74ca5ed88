#!/usr/bin/env python3
"""Kills `formulanet` at random moments while it writes, and checks that nothing is lost.

    bench/kills.py [--program target/release/formulanet] [--kills 1000] [--seed 0]

Each of train, prepare, library build, library add and library learn is started again and again and ended with SIGKILL at a random
moment of its run. After each kill, what was there before has to be there still, and what is new has to be whole or absent:

  train     a run that is resumed until its end has the weights of a run that nobody killed, to the last bit
  prepare   the folder is not there, or `stats` reads it and it has the bytes of a folder that nobody killed
  build     the library is not there, or `library verify` finds nothing wrong
  add       `library verify` finds nothing wrong, and the library has the old statements, or the old and all new ones
  learn     the same for proofs

At the end, one more command in each folder has to have removed what killed processes left (`.formulanet-*`). Data is made up here;
everything is written to a temporary folder. Prints a JSON object, and fails with the first loss.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def statements(first, count):
    """Lines of a file of premises."""
    shapes = ["!x y. f{i} x + y = y + f{i} x", "!x. p{i} x ==> (?y. p{i} y)", "!a b. a * g{i} b = g{i} b * a"]
    return "".join(f"T{i}: {shapes[i % 3].format(i=i)}\n" for i in range(first, first + count))


def proofs(count, most):
    return "".join(f"T{i}: T{i // 2} T{i // 3}\n" for i in range(3, min(count, most)))


def holstep(folder, files):
    """A small data set in HolStep's format."""
    for number in range(files):
        place = folder / ("test" if number % 5 == 0 else "train")
        place.mkdir(parents=True, exist_ok=True)
        lines = [f"N C{number}", f"C |- (c{number % 7} = d)", f"T c= cc{number % 7} cd"]
        for step in range(40):
            useful = (number + step) % 2 == 0
            name = f"e{step % 11}" if useful else f"h{step % 13}"
            lines += [f"{'+' if useful else '-'} |- ({name} = k{(number * step) % 17})", f"T c= c{name} ck{(number * step) % 17}"]
        (place / f"{number:05}").write_text("\n".join(lines) + "\n")


def digest(path):
    """A hash of a file, or of all files of a folder."""
    total = hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            total.update(file.name.encode() + b"\0" + file.read_bytes())
    return total.hexdigest()


# A run's checkpoint.
STATE = "last.safetensors"


class Lost(Exception):
    pass


class Attack:
    def __init__(self, program, seed, folder):
        self.program, self.folder = str(Path(program).resolve()), folder
        self.random = random.Random(seed)
        self.counts = {}

    def run(self, *arguments, expect=0):
        done = subprocess.run([self.program, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)
        if expect is not None and done.returncode != expect:
            raise Lost(f"{' '.join(map(str, arguments))}: exit code {done.returncode}\n{done.stderr}")
        return done

    def timed(self, *arguments):
        begin = time.monotonic()
        self.run(*arguments)
        return time.monotonic() - begin

    def kill(self, what, usual, *arguments):
        """Starts a command and kills it within its usual time. True if it was over before."""
        child = subprocess.Popen([self.program, *map(str, arguments)], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.random.uniform(0, 1.1 * usual))
        over = child.poll() is not None
        if not over:
            os.kill(child.pid, signal.SIGKILL)
        child.wait()
        self.counts.setdefault(what, [0, 0])[over] += 1
        return over

    def swept(self, where):
        left = [path.name for path in where.iterdir() if path.name.startswith(".formulanet-")]
        if left:
            raise Lost(f"left behind in {where}: {left}")

    def prepare(self, kills):
        data, place = self.folder / "data", self.folder / "prepared"
        holstep(data, 400)
        place.mkdir()
        usual = self.timed("prepare", data, "--out", place / "whole", "--validation", "20")
        expected = digest(place / "whole")
        for number in range(kills):
            out = place / "out"
            self.kill("prepare", usual, "prepare", data, "--out", out, "--validation", "20")
            if out.exists():
                self.run("stats", out)
                if digest(out) != expected:
                    raise Lost("prepare: a folder with other bytes")
                shutil.rmtree(out)
        self.run("prepare", data, "--out", place / "last", "--validation", "20")
        self.swept(place)

    def train(self, kills):
        data, runs = self.folder / "prepared" / "whole", self.folder / "runs"
        runs.mkdir()
        flags = ["--data", data, "--dim", "8", "--steps", "1", "--batch", "16", "--epochs", "6", "--seed", "7", "--threads", "1", "--checkpoint-every", "1"]
        usual = self.timed("train", "--out", runs / "whole", *flags)
        expected = digest(runs / "whole" / "model.safetensors")
        done, number = 0, 0

        def command(run):
            # Before its first checkpoint, a run has nothing to go on with: it begins anew.
            return ["train", "--resume", run, "--data", data] if (run / STATE).exists() else ["train", "--out", run, *flags]

        while done < kills:
            run, over, number = runs / f"run{number}", False, number + 1
            while done < kills and not over:
                over = self.kill("train", usual / 3, *command(run))
                done += 1
            if not (run / "model.safetensors").exists():
                self.run(*command(run))
            if digest(run / "model.safetensors") != expected:
                raise Lost(f"train: other weights in {run}")
            self.swept(run)
            shutil.rmtree(run)

    def build(self, kills):
        place = self.folder / "build"
        place.mkdir()
        (place / "all.hol").write_text(statements(0, 3000))
        usual = self.timed("library", "build", place / "whole.db", place / "all.hol")
        for number in range(kills):
            library = place / "new.db"
            self.kill("library build", usual, "library", "build", library, place / "all.hol")
            if library.exists():
                self.expect(library, {3000})
                library.unlink()
        self.run("library", "build", place / "last.db", place / "all.hol")
        self.swept(place)

    def add(self, kills):
        place = self.folder / "add"
        place.mkdir()
        (place / "old.hol").write_text(statements(0, 500))
        (place / "new.hol").write_text(statements(500, 1500))
        self.run("library", "build", place / "old.db", place / "old.hol")
        library = place / "library.db"
        shutil.copy(place / "old.db", library)
        usual = self.timed("library", "add", library, place / "new.hol")
        for number in range(kills):
            for rest in place.glob("library.db*"):
                rest.unlink()
            shutil.copy(place / "old.db", library)
            self.kill("library add", usual, "library", "add", library, place / "new.hol")
            self.expect(library, {500, 2000})

    def learn(self, kills):
        place = self.folder / "learn"
        place.mkdir()
        (place / "old.hol").write_text(statements(0, 2000))
        (place / "proofs.txt").write_text(proofs(2000, 2000))
        self.run("library", "build", place / "old.db", place / "old.hol")
        library = place / "library.db"
        shutil.copy(place / "old.db", library)
        usual = self.timed("library", "learn", library, place / "proofs.txt")
        for number in range(kills):
            for rest in place.glob("library.db*"):
                rest.unlink()
            shutil.copy(place / "old.db", library)
            self.kill("library learn", usual, "library", "learn", library, place / "proofs.txt")
            listed = self.run("library", "list", library, "--format", "json").stdout.splitlines()
            found = sum("proof" in json.loads(line) for line in listed)
            if len(listed) != 2000 or found not in (0, 1997):
                raise Lost(f"library learn: {len(listed)} statements, {found} proofs")

    def expect(self, library, counts):
        told = self.run("library", "verify", library).stdout
        if int(told.split()[0]) not in counts:
            raise Lost(f"{library}: {told}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/formulanet")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    share = max(1, arguments.kills // 5)
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(arguments.program, arguments.seed, Path(folder))
        try:
            for part in (attack.prepare, attack.train, attack.build, attack.add, attack.learn):
                part(share)
        except Lost as lost:
            sys.exit(f"lost: {lost}")
    report = {what: {"killed": killed, "over before": over} for what, (killed, over) in attack.counts.items()}
    print(json.dumps({"kills": sum(killed for killed, _ in attack.counts.values()), "lost": 0, **report}, indent=1))


if __name__ == "__main__":
    main()
