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
  crowd     two processes change one library (`add` with repeated names, `remove`, `learn`, `forget`, `train`) and are killed, while a
            server serves it, a client adds to it by HTTP, and it is replaced by rebuilt copies: every change that was acknowledged
            is there, one that was killed is there as a whole or not at all, and the server serves what the file has

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
import threading
import time
import urllib.error
import urllib.request
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

    def crowd(self, kills):
        Crowd(self, kills).run()

    def expect(self, library, counts):
        told = self.run("library", "verify", library).stdout
        if int(told.split()[0]) not in counts:
            raise Lost(f"{library}: {told}")


class Crowd:
    """One library, and several who change it at once. Each has names of its own, so that it knows what has to be there."""

    TOKEN = "a token of one test"

    def __init__(self, attack, kills):
        self.attack, self.kills, self.done, self.failures = attack, kills, 0, []
        self.place = attack.folder / "crowd"
        self.place.mkdir()
        self.library = self.place / "shared.db"
        self.locks = {who: threading.Lock() for who in "ABH"}
        # Statements by name: text, and what their proofs used.
        self.states = {who: {} for who in "ABH"}
        self.replaced = self.by_http = self.refused = 0

    def run(self):
        (self.place / "first.hol").write_text("".join(f"Z{i}: p{i % 9} x = q{i % 5} x\n" for i in range(60)))
        (self.place / "first.txt").write_text("".join(f"Z{i}: Z{i // 2} Z{i // 3}\n" for i in range(3, 60)))
        self.attack.run("library", "build", self.library, self.place / "first.hol")
        self.attack.run("library", "learn", self.library, self.place / "first.txt")
        (self.place / "token").write_text(self.TOKEN.replace(" ", "-"))
        server = subprocess.Popen(
            [self.attack.program, "serve", "--library", str(self.library), "--listen", "127.0.0.1:0", "--writable",
             "--token-file", str(self.place / "token")], stderr=subprocess.PIPE, text=True)
        try:
            for line in server.stderr:
                if "listening on " in line:
                    self.address = line.split()[-1]
                    break
            threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()
            jobs = [threading.Thread(target=self.work, args=(job, *rest)) for job, *rest in
                    ((self.writer, "A"), (self.writer, "B"), (self.client,), (self.replacer,))]
            for job in jobs:
                job.start()
            for job in jobs:
                job.join()
            if self.failures:
                raise self.failures[0]
            self.compare()
            if server.poll() is not None:
                raise Lost("the server has ended")
        finally:
            server.kill()
            server.wait()
        self.attack.run("library", "verify", self.library)
        self.attack.swept(self.place)
        self.attack.counts["crowd: replaced, by HTTP, refused"] = [self.replaced, self.by_http + self.refused]

    def work(self, job, *arguments):
        try:
            job(*arguments)
        except Exception as failure:  # noqa: BLE001 one that a thread alone knows is lost
            self.failures.append(failure)

    def goes_on(self):
        return self.done < self.kills and not self.failures

    def listed(self):
        """What the file has."""
        lines = self.attack.run("library", "list", self.library, "--format", "json").stdout.splitlines()
        found = {}
        for row in map(json.loads, lines):
            proofs = row.get("proofs", []) + ([row["proof"]] if "proof" in row else [])
            found[row["name"]] = (row["statement"], frozenset(map(tuple, proofs)))
        return found

    def own(self, who):
        return {name: row for name, row in self.listed().items() if name[0] == who}

    def change(self, who, dice, number):
        """A command, and what the writer's statements are after it."""
        state = dict(self.states[who])
        some = dice.choice(sorted(state)) if state else None
        kind = dice.choice(["add", "add", "add", "remove", "learn", "forget", "train"]) if len(state) > 4 else "add"
        if kind == "train":
            return ["library", "train", self.library, "--budget", "1s", "--threads", "1"], state
        if kind == "remove":
            del state[some]
            return ["library", "remove", self.library, some], state
        if kind == "forget" and state[some][1]:
            state[some] = (state[some][0], frozenset())
            return ["library", "forget", self.library, some], state
        if kind == "learn":
            used = f"Z{dice.randrange(60)}"
            (self.place / f"{who}.txt").write_text(f"{some}: {used}\n")
            state[some] = (state[some][0], state[some][1] | {(used,)})
            return ["library", "learn", self.library, self.place / f"{who}.txt"], state
        lines = []
        for step in range(dice.randrange(1, 4)):
            name = dice.choice(sorted(state)) if state and dice.random() < 0.3 else f"{who}{number}_{step}"
            text = f"f{dice.randrange(99)} x = g{dice.randrange(9)} x"
            before = self.states[who].get(name)
            if before and dice.random() < 0.5:
                # Another text and then the old one: as before, with its proofs.
                lines += [f"{name}: {text}", f"{name}: {before[0]}"]
                state[name] = before
            else:
                lines += [f"{name}: y = x", f"{name}: {text}"]
                state[name] = before if before and before[0] == text else (text, frozenset())
        (self.place / f"{who}.hol").write_text("\n".join(lines) + "\n")
        return ["library", "add", self.library, self.place / f"{who}.hol"], state

    def writer(self, who):
        dice, number = random.Random(ord(who)), 0
        usual = self.attack.timed("library", "list", self.library)
        while self.goes_on():
            number += 1
            with self.locks[who]:
                command, after = self.change(who, dice, number)
                child = subprocess.Popen([self.attack.program, *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                is_killed = dice.random() < 0.6
                if is_killed:
                    time.sleep(dice.uniform(0, 2.5 * usual))
                    if child.poll() is None:
                        child.kill()
                    else:
                        is_killed = False
                told = child.communicate()[1].decode()
                found = self.own(who)
                if is_killed:
                    self.done += 1
                    self.attack.counts.setdefault("crowd", [0, 0])[0] += 1
                    if found not in (self.states[who], after):
                        raise Lost(f"crowd: {command} was killed, and is there in part")
                    self.states[who] = found
                    continue
                if child.returncode not in (0, 1) or (child.returncode == 1 and command[1] != "train"):
                    raise Lost(f"crowd: {command}: {told}")
                if found != after:
                    raise Lost(f"crowd: {command}: expected {after}, found {found}")
                self.states[who] = after

    def request(self, path, body):
        headers = {"content-type": "application/json", "authorization": "Bearer " + self.TOKEN.replace(" ", "-")}
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refusal:
            return refusal.code, None

    def client(self):
        dice, number = random.Random(7), 0
        while self.goes_on():
            number += 1
            with self.locks["H"]:
                state = dict(self.states["H"])
                name = dice.choice(sorted(state)) if state and dice.random() < 0.4 else f"H{number}"
                text, used = f"h{dice.randrange(99)} x = x", f"Z{dice.randrange(60)}"
                proofs = state[name][1] if name in state and state[name][0] == text else frozenset()
                state[name] = (text, proofs | {(used,)})
                facts = [{"name": name, "statement": "x = y"}, {"name": name, "statement": text, "proof": [used]}]
                status, _ = self.request("/v1/libraries/shared/facts", {"facts": facts})
                if status not in (200, 503):
                    raise Lost(f"crowd: a request was answered with {status}")
                expected = state if status == 200 else self.states["H"]
                self.by_http, self.refused = self.by_http + (status == 200), self.refused + (status == 503)
                if self.own("H") != expected:
                    raise Lost(f"crowd: status {status}, and the library has something else")
                self.states["H"] = expected
            time.sleep(0.1)

    def replacer(self):
        while self.goes_on():
            time.sleep(3)
            # As documented: not while a process is committing.
            for who in "ABH":
                self.locks[who].acquire()
            try:
                rows = self.attack.run("library", "list", self.library, "--format", "json").stdout
                (self.place / "copy.jsonl").write_text(rows)
                self.attack.run("library", "build", self.place / "copy.db", self.place / "copy.jsonl")
                os.replace(self.place / "copy.db", self.library)
                self.replaced += 1
                self.compare()
            finally:
                for who in "ABH":
                    self.locks[who].release()

    def compare(self):
        """Waits a while until the server serves what the file has."""
        expected = {name: text for name, (text, _) in self.listed().items()}
        for who, state in self.states.items():
            if {name: row[0] for name, row in state.items()} != {name: text for name, text in expected.items() if name[0] == who}:
                raise Lost(f"crowd: statements of {who} are not those that were acknowledged")
        end = time.monotonic() + 10
        while True:
            asked = {"conjecture": "T", "library": "shared", "k": 10**6, "read": False, "keep_goal": True}
            status, answer = self.request("/v1/rank", asked)
            found = {row["name"]: row["statement"] for row in answer["premises"]} if status == 200 else None
            if found == expected:
                return
            if time.monotonic() > end:
                raise Lost("crowd: the server serves something else than the file has")
            time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/formulanet")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", nargs="*", default=["prepare", "train", "build", "add", "learn", "crowd"], help="which of the commands above")
    arguments = parser.parse_args()
    share = max(1, arguments.kills // len(arguments.parts))
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(arguments.program, arguments.seed, Path(folder))
        try:
            for part in arguments.parts:
                getattr(attack, part)(share)
        except Lost as lost:
            sys.exit(f"lost: {lost}")
    report = {what: {"killed": killed, "over before": over} for what, (killed, over) in attack.counts.items()}
    print(json.dumps({"kills": sum(killed for killed, _ in attack.counts.values()), "lost": 0, **report}, indent=1))


if __name__ == "__main__":
    main()
