"""Rankings of real data, recorded bit by bit, to compare two programs.

    bench/golden_data.py record --program target/release/formulanet --data ../shared/data --out old.json
    bench/golden_data.py compare old.json new.json

Asks a server for 200 stored facts of HOL4's library, evenly spread over those that have proofs, and selects axioms for 40
problems of Mizar as bench/eprover.py makes them (of all conjectures, not only held-out ones), with and without names. Keeps
names and the bits of their scores. What is recorded is made of the data and belongs into no repository.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import eprover

#: Facts that an answer has.
K = 32


def hit(row):
    """A name and the bits of its score."""
    return f"{row['name']} {struct.pack('>f', row['score']).hex()}"


def library_command(program, library, theory):
    return [program, "library", "build", library, theory, "--precision", "f32"]


def serve_command(program, library):
    return [program, "serve", "--library", library, "--listen", "127.0.0.1:0", "--precision", "f32", "--timeout", "300"]


def stored_request(library, name):
    return {"library": library, "name": name, "k": K}


def select_command(program, problems, out, is_anonymous):
    names = ["--symbols", "anonymous"] if is_anonymous else []
    return [program, "select", *problems, "-k", str(K), "--out", out, "--format", "json", "--precision", "f32", *names]


def spread(items, number):
    """`number` items at even distances."""
    return [items[i * len(items) // number] for i in range(min(number, len(items)))]


def hol4(options, folder):
    theory, library = folder / "hol4.jsonl", folder / "hol4.db"
    with open(theory, "wb") as out:
        subprocess.run(["zstd", "-dcq", options.data / "hol4-theory.jsonl.zst"], stdout=out, check=True)
    subprocess.run(library_command(options.program, library, theory), check=True)
    with open(theory) as lines:
        facts = [json.loads(line) for line in lines]
    names = spread([fact["name"] for fact in facts if fact.get("proof")], options.questions)
    server = subprocess.Popen(serve_command(options.program, library), stderr=subprocess.PIPE, text=True)
    try:
        for line in server.stderr:
            if line.startswith("listening on "):
                address = line.split()[-1]
                break
        else:
            sys.exit("the server did not start")

        def ask(name):
            body = json.dumps(stored_request("hol4", name)).encode()
            request = urllib.request.Request(f"{address}/v1/rank", body, {"content-type": "application/json"})
            try:
                with urllib.request.urlopen(request, timeout=300) as answer:
                    return [hit(row) for row in json.load(answer)["premises"]]
            except urllib.error.HTTPError as error:
                # That a goal cannot be read is an answer as well; that there was no time is none.
                if error.code not in (400, 422):
                    raise
                return [f"refused {error.code}"]

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return dict(zip(names, pool.map(ask, names)))
    finally:
        server.terminate()
        server.wait()


def mizar(options, folder):
    conjectures = eprover.read_archive(options.data / "deepmath-train.tar.zst")
    rng = random.Random(0)
    wanted = rng.sample(sorted(conjectures), options.problems)
    others = rng.sample(sorted(conjectures.keys() - set(wanted)), 100)
    library = {name: formula for other in others for _, name, formula in conjectures[other][1]}
    problems = {}
    for name in wanted:
        goal, premises = conjectures[name]
        axioms = library | {other: formula for is_useful, other, formula in premises if is_useful}
        axioms = [(n, f) for n, f in sorted(axioms.items()) if n != name and f != goal]
        rng.shuffle(axioms)
        name = name.strip("'")
        problems[name] = folder / f"{name}.p"
        with open(problems[name], "w") as file:
            file.writelines(f"fof({n}, axiom, {f}).\n" for n, f in axioms)
            file.write(f"fof('{name}', conjecture, {goal}).\n")

    def select(is_anonymous):
        out = folder / f"selected-{is_anonymous}"
        command = select_command(options.program, problems.values(), out, is_anonymous)
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        lines = {name: (out / f"{name}.{K}.jsonl").read_text().splitlines() for name in problems}
        return {name: [hit(json.loads(line)) for line in rows] for name, rows in lines.items()}

    return select(is_anonymous=False), select(is_anonymous=True)


def record(options):
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        named, anonymous = mizar(options, pathlib.Path(folder))
        found = {"mizar": named, "mizar, anonymous": anonymous, "hol4": hol4(options, pathlib.Path(folder))}
    options.out.write_text(json.dumps(found, indent=0))
    counts = ", ".join(f"{len(answers)} of {part}" for part, answers in found.items())
    print(f"{counts} in {time.monotonic() - began:.0f} s")


def compare(options):
    old, new = (json.loads(path.read_text()) for path in (options.old, options.new))
    is_equal = True
    for part in sorted(old.keys() | new.keys()):
        before, after = old.get(part, {}), new.get(part, {})
        different = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]

        def names(answer):
            return [row.rsplit(" ", 1)[0] for row in answer or []]

        moved = sum(names(before.get(name)) != names(after.get(name)) for name in different)
        print(f"{part}: {len(before)} answers, {len(different)} differ, {moved} of them in names or order")
        for name in different[:5]:
            pairs = zip(before.get(name, []), after.get(name, []))
            place = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(before.get(name, [])), len(after.get(name, []))))
            shown = [(answers.get(name) or [])[place : place + 1] for answers in (before, after)]
            print(f"  {name}, rank {place + 1}: {shown[0]} became {shown[1]}")
        is_equal &= not different
    sys.exit(0 if is_equal else 1)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    recorder = commands.add_parser("record")
    recorder.add_argument("--program", type=pathlib.Path, default="target/release/formulanet")
    recorder.add_argument("--data", type=pathlib.Path, default="../shared/data")
    recorder.add_argument("--out", type=pathlib.Path, required=True)
    recorder.add_argument("--questions", type=int, default=200)
    recorder.add_argument("--problems", type=int, default=40)
    recorder.set_defaults(run=record)
    comparer = commands.add_parser("compare")
    comparer.add_argument("old", type=pathlib.Path)
    comparer.add_argument("new", type=pathlib.Path)
    comparer.set_defaults(run=compare)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
