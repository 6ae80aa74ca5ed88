#!/usr/bin/env python3
"""E on problems whose symbols were renamed at random: what a selector is worth that knows no name.

    bench/eprover.py make --archive deepmath-train.tar.zst --prepared prepared --out problems --problems 40
    bench/renamed.py problems --program target/release/formulanet -k 16,64,256 --seconds 5 [--save FILE]

Each problem is written anew with random names for symbols and axioms. `formulanet select --symbols anonymous` selects axioms of both; the
selections must be the same to the last axiom, or the script stops. Beside it: MePo-like selection, as `formulanet eval --theory
--method mepo` ranks the axioms of the problem in its order. E has so many CPU seconds for each K; a problem counts as
proved if any K proves it.
"""
import argparse, importlib.util, json, pathlib, random, re, subprocess, sys, tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("problems", type=pathlib.Path)
parser.add_argument("--program", required=True)
parser.add_argument("--reranker", help="a model that reads axioms together, instead of the one that is built in")
parser.add_argument("-k", type=lambda text: [int(k) for k in text.split(",")], default=[16, 64, 256])
parser.add_argument("--seconds", type=int, default=5)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--save")
options = parser.parse_args()
spec = importlib.util.spec_from_file_location("eprover", pathlib.Path(__file__).with_name("eprover.py"))
eprover = importlib.util.module_from_spec(spec)
spec.loader.exec_module(eprover)

TOKEN = re.compile(r"'(?:\\.|[^'\\])*'|\$?\w+")
KEPT = {"fof", "axiom", "conjecture"}
lines = []


def say(line):
    print(line, flush=True)
    lines.append(line)


def renamed(text, rng):
    """The same problem with other names; variables begin with capitals and stay, as numerals and $true do."""
    names = {}
    words = {word for word in TOKEN.findall(text) if word not in KEPT and (word[0] == "'" or word[0].islower())}
    numbers = rng.sample(range(10 ** 6), len(words))
    for word, number in zip(sorted(words), numbers):
        names[word] = f"n{number}"
    return TOKEN.sub(lambda found: names.get(found[0], found[0]), text), names


def selected(problem, k):
    command = [options.program, "select", str(problem), "--symbols", "anonymous", "-k", str(k), "--format", "names"]
    command += ["--reranker", options.reader] if options.reader else []
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return printed.strip().split(":", 1)[1].split()


def mepo(statements, folder, k):
    """The best axioms by MePo's reach."""
    theory, tests, out = folder / "theory.jsonl", folder / "tests", folder / "rankings"
    with open(theory, "w") as file:
        for name, _, text in statements:
            file.write(json.dumps({"name": name, "statement": text, "syntax": "tptp"}) + "\n")
    goal = statements[-1][0]
    tests.write_text(f"{goal}: {statements[0][0]}\n")
    command = [options.program, "eval", "--theory", str(theory), "--test", str(tests), "--method", "mepo",
               "--rankings", str(out), "--format", "json"]
    subprocess.run(command, check=True, capture_output=True)
    return out.read_text().strip().split(":", 1)[1].split()[:k]


def statements_of(text):
    found = []
    for line in text.splitlines():
        match = re.match(r"fof\(\s*('(?:\\.|[^'\\])*'|\w+)\s*,\s*(\w+)\s*,", line)
        if match:
            found.append((match[1], match[2], line))
    # The conjecture is the last.
    return found


proved = {"formulanet": {}, "mepo": {}}
rng = random.Random(options.seed)
files = sorted(options.problems.glob("*.p"))
say(f"{len(files)} problems, K = {options.k}, {options.seconds} CPU seconds of E each")
for number, file in enumerate(files):
    text = file.read_text()
    other, names = renamed(text, rng)
    statements = statements_of(other)
    by_name = {name: line for name, _, line in statements}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "renamed.p").write_text(other)
        results = []
        longest = max(options.k)
        choice = {"mepo": mepo(statements, folder, longest)}
        ours, plain = selected(folder / "renamed.p", longest), selected(file, longest)
        if [names[name] for name in plain] != ours:
            sys.exit(f"{file}: expected the same selection whatever the names, found another")
        choice["formulanet"] = ours
        for selector, ranked in choice.items():
            for k in options.k:
                problem = folder / f"{selector}.{k}.p"
                problem.write_text("\n".join(by_name[name] for name in ranked[:k]) + "\n" + statements[-1][2] + "\n")
                status, seconds = eprover.prove(problem, options)
                if status in eprover.PROVED:
                    proved[selector].setdefault(file.stem, []).append(k)
            results.append(f"{selector} {proved[selector].get(file.stem, 'not proved')}")
    say(f"{number + 1:>3} {file.stem:<24} {', '.join(results)}")
for selector, found in proved.items():
    by_k = ", ".join(f"K = {k}: {sum(k in ks for ks in found.values())}" for k in options.k)
    say(f"{selector}: {len(found)} of {len(files)} proved ({by_k})")
if options.save:
    pathlib.Path(options.save).write_text("\n".join(lines) + "\n")
