#!/usr/bin/env python3
"""Runs every fuzz target with the address sanitizer, and counts.

    bench/fuzz.py [--seconds 600] [--at-once 2] [--out /tmp/fuzz] [TARGET...]

Builds the targets of `fuzz/` on the pinned toolchain (RUSTC_BOOTSTRAP=1 allows the sanitizer), writes first inputs for each, and
runs each for so many seconds. What it builds and finds is kept in the folder `--out`, and gone on with. Prints a table: seconds, inputs
tried, those kept because they reached new code, edges reached, and peak memory. Ends with 1 if one crashed, ran out of memory or
hung; the input is in `--out` then.
"""

import argparse
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import kills

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRIPLE = "x86_64-unknown-linux-gnu"
FLAGS = ["-Zsanitizer=address", "-Cpasses=sancov-module", "-Cllvm-args=-sanitizer-coverage-level=4",
         "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters", "-Cllvm-args=-sanitizer-coverage-pc-table",
         "-Cllvm-args=-sanitizer-coverage-trace-compares", "-Cdebug-assertions", "--cfg=fuzzing"]

HOL = ["!x y. x + y = y + x", "p /\\ q ==> ~r \\/ (?z. f z = \\w. w)", "x IN {y | y < SUC 0} <=> [a; b] = CONS a [b]",
       "let f = \\x. x * &2 in f(--x pow 2) <= abs x", "if p then (a, b) else (c:num, d:A->bool)", "@x. !n. x EXP n >= NUMERAL (BIT1 _0)"]
TPTP = ["fof(a, axiom, ![X, Y]: (p(X, f(Y)) => (q(X) | X != Y))).", "cnf(b, negated_conjecture, ~p(X) | 'Q r'(X, \"s\")).",
        "thf(c, conjecture, ! [X: $i] : ( f @ ^ [Y: a > b] : ( g @ Y ) @ X )).", "include('x.ax', [a, b])."]
LEAN = ["theorem add_comm (a b : Nat) : a + b = b + a", "a b : Nat\nh : a < b\n⊢ ∃ c, b = a + c", "fun x => ∀ y, x ∈ {z | z ≤ y}"]
DERIVATION = "fof(c1, plain, p, inference(rw, [status(thm)], [a, inference(cn, [], [b])])).\nfof(a, axiom, p, file('x.p', a)).\n"


def unsealed(path):
    """A file without its checksum, as older versions wrote them."""
    return re.sub(rb'checksum(\\?":\\?")checksum:', rb"Checksum\1Checksum:", path.read_bytes(), count=1)


def seeds(program, folder):
    """First inputs of each target."""
    def run(*arguments):
        subprocess.run([program, *map(str, arguments)], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    kills.holstep(folder / "data", 10)
    run("prepare", "data", "--out", "prepared", "--validation", "2")
    run("train", "--data", "prepared", "--out", "run", "--dim", "4", "--steps", "1", "--epochs", "1", "--threads", "1")
    run("tally", "--data", "prepared", "--out", "tally.safetensors", "--trees", "3", "--depth", "2")
    (folder / "some.hol").write_text("".join(f"a{i}: {text}\n" for i, text in enumerate(HOL[:2])))
    (folder / "some.txt").write_text("a1: a0\n")
    run("library", "build", "some.db", "some.hol", "--model", "run/model.safetensors")
    run("library", "learn", "some.db", "some.txt")
    example = sorted((folder / "data/train").iterdir())[0].read_bytes()[:2000]
    parts = [folder / "prepared" / name for name in ("meta.json", "vocab.txt", "graphs.safetensors", "problems.safetensors", "symbols.txt")]
    contents = [unsealed(part) if part.exists() else b"" for part in parts]
    questions = [{"conjecture": HOL[0], "premises": "a: T\nb: !x. x = x"}, {"formula": TPTP[0], "syntax": "tptp"},
                 {"statements": [{"statement": HOL[1]}]}, {"problem": TPTP[0] + TPTP[2], "k": 1},
                 {"conjecture": HOL[2], "premises": [{"name": "a", "statement": "T"}], "k": 1},
                 {"facts": [{"name": "a", "statement": HOL[0]}]},
                 {"state": LEAN[1], "imported_modules": ["Init"], "local_premises": ["a"], "new_premises": [{"name": "a", "decl": LEAN[0]}], "k": 2}]
    return {
        "hol": [bytes([i]) + text.encode() for i, text in enumerate(HOL)],
        "holstep": [example],
        "tptp": [text.encode() for text in TPTP],
        "deepmath": [f"C {TPTP[0]}\n+ {TPTP[0]}\n- {TPTP[1]}\n".encode()],
        "lean": [text.encode() for text in LEAN],
        "model": [unsealed(folder / "run/model.safetensors"), unsealed(ROOT / "models/blend/blend.safetensors")],
        "tally": [unsealed(folder / "tally.safetensors")],
        "checkpoint": [bytes(4), b"\0\x10\0{\x08\x01\"", unsealed(folder / "run/last.safetensors")],
        "prepared": [b"".join(struct.pack("<I", len(content)) + content for content in contents)],
        "library": [(folder / "some.db").read_bytes()],
        "http_body": [bytes([i]) + json.dumps(question).encode() for i, question in enumerate(questions)],
        "proofs": [b"a: b c\nd: e\n", b'{"name": "a", "proof": ["b"]}\n', DERIVATION.encode(), b"2\nthy.a 1 2; 3; thy.b thy.c\n"],
        "corpus": [bytes([format, policy]) + text.encode() for format, text in enumerate(
            [f"A: {HOL[0]}\n", example.decode(), TPTP[0], f"C {TPTP[0]}\n+ {TPTP[0]}\n", '{"name": "a", "statement": "T"}\n',
             f"val it : thm = |- {HOL[0]}\n"]) for policy in (0, 7)],
        "wire": [f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{more}\r\n".encode() + body for method, path, more, body in (
            ("GET", "/healthz", "", b""), ("OPTIONS", "/v1/rank", "origin: https://example.org\r\naccess-control-request-method: POST\r\n", b""),
            ("POST", "/v1/graph", "content-type: application/json\r\ncontent-length: 15\r\n", b'{"formula":"T"}'),
            ("POST", "/v1/graph", "content-type: application/json\r\ntransfer-encoding: chunked\r\n", b'f\r\n{"formula":"T"}\r\n0\r\n\r\n'))],
        "predict": [b"a:\"f\", \"g\"\nb:\"g\"\0b:a\n\0a\nb\n\0\"g\", \"f\"\n"],
    }


def fuzz(target, binary, first, options):
    place = options.out / target
    for folder in ("first", "corpus", "found"):
        (place / folder).mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(first):
        (place / "first" / str(number)).write_bytes(content)
    longest = max(4096, *map(len, first))
    began = time.monotonic()
    # Two variables of SQLite have the same name.
    environment = dict(os.environ, ASAN_OPTIONS="detect_odr_violation=0")
    with open(place / "log", "w") as log:
        code = subprocess.run([binary, place / "corpus", place / "first", f"-max_total_time={options.seconds}", f"-max_len={longest}",
                               "-rss_limit_mb=2048", "-timeout=30", "-print_final_stats=1", f"-artifact_prefix={place}/found/"],
                              stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment).returncode
    text = (place / "log").read_text(errors="replace")

    def figure(name):
        found = re.findall(name + r": +(\d+)", text)
        return f"{int(found[-1]):,}" if found else "–"

    figures = [figure(name) for name in ("number_of_executed_units", "new_units_added", "cov", "peak_rss_mb")]
    failures = "none" if code == 0 else f"exit code {code}"
    print(f"| {target} | {time.monotonic() - began:.0f} | {' | '.join(figures)} | {failures} |", flush=True)
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--program", default=ROOT / "target/release/formulanet", type=pathlib.Path, help="makes first inputs")
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--out", type=pathlib.Path, default="/tmp/fuzz")
    options = parser.parse_args()
    options.out = options.out.resolve()
    built = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", options.out / "target"))
    environment = dict(os.environ, RUSTC_BOOTSTRAP="1", CARGO_ENCODED_RUSTFLAGS="\x1f".join(FLAGS), CARGO_TARGET_DIR=str(built))
    subprocess.run(["cargo", "build", "--release", "--locked", "--target", TRIPLE], cwd=ROOT / "fuzz", env=environment, check=True)
    with tempfile.TemporaryDirectory() as folder:
        first = seeds(options.program.resolve(), pathlib.Path(folder))
    unknown = set(options.targets) - set(first)
    if unknown:
        sys.exit(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(first)}")
    folder = built / TRIPLE / "release"
    print("| target | seconds | inputs tried | kept | edges | peak MB | failures |\n|---|---|---|---|---|---|---|")
    with ThreadPoolExecutor(options.at_once) as pool:
        codes = list(pool.map(lambda target: fuzz(target, folder / target, first[target], options), options.targets or first))
    sys.exit(int(any(codes)))


if __name__ == "__main__":
    main()
