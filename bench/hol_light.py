#!/usr/bin/env python3
"""Premises for HOL Light's core, asked for from inside HOL Light.

    bench/hol_light.py --program target/release/formulanet [--folder KEPT] [--prove] > results/hol-light.md

Starts HOL Light (Debian: hol-light libnum-ocaml-dev camlp5) with integrations/hol_light/formulanet.ml, has it write all named
theorems, exact and as it prints them, builds a library of each, and asks for 20 goals: where the theorems rank that we would use,
and with --prove whether FORMULANET_TAC proves the goal. What HOL Light prints goes to bench/results/hol-light.txt, with the first
32 names of each goal, and the table to standard output.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
RAW = ROOT / "bench/results/hol-light.txt"
ASKED = 512

# A goal and the theorems that a proof by hand would use.
GOALS = [
    ("!a b c. a + b + c = c + b + a:num", "ADD_SYM ADD_ASSOC"),
    ("!m n p. m <= n ==> m * p <= n * p + p", "LE_MULT_RCANCEL LE_TRANS LE_ADD"),
    ("!n. EVEN (n * n + n)", "EVEN_ADD EVEN_MULT"),
    ("!m n. ~(n = 0) ==> m MOD n < n + 1", "DIVISION LT_TRANS LT_ADD"),
    ("!m n. ~(n = 0) ==> (m * n) DIV n + 0 = m", "DIV_MULT ADD_CLAUSES"),
    ("!l m n. LENGTH (APPEND l (APPEND m n)) = LENGTH (n:A list) + LENGTH m + LENGTH l", "LENGTH_APPEND ADD_AC"),
    ("!l m. REVERSE (APPEND (REVERSE l) m) = APPEND (REVERSE m) (l:A list)", "REVERSE_APPEND REVERSE_REVERSE"),
    ("!(f:A->B) l m. LENGTH (MAP f (APPEND l m)) = LENGTH l + LENGTH m", "LENGTH_MAP LENGTH_APPEND"),
    ("!(P:A->bool) l m. ALL P (APPEND l m) ==> ALL P l", "ALL_APPEND"),
    ("!s t u:A->bool. s SUBSET t /\\ t SUBSET u /\\ u SUBSET s ==> s = u", "SUBSET_TRANS SUBSET_ANTISYM"),
    ("!s t:A->bool. FINITE s /\\ FINITE t ==> FINITE (s UNION (t INTER s))", "FINITE_UNION FINITE_INTER"),
    ("!(f:A->B) s. FINITE s ==> CARD (IMAGE f s) <= CARD s + 1", "CARD_IMAGE_LE LE_TRANS LE_ADD"),
    ("!s t:A->bool. s SUBSET t /\\ FINITE t ==> FINITE s /\\ CARD s <= CARD t", "FINITE_SUBSET CARD_SUBSET"),
    ("!x y z. x <= y /\\ y < z ==> x < z /\\ ~(z <= x:real)", "REAL_LET_TRANS REAL_NOT_LE"),
    ("!x. &0 < x ==> &0 < inv x * x", "REAL_LT_MUL REAL_LT_INV"),
    ("!x n. &0 <= x ==> &0 <= x pow n * x", "REAL_POW_LE REAL_LE_MUL"),
    ("!x y. abs(x - y) <= abs x + abs y", "REAL_ABS_TRIANGLE REAL_ABS_NEG real_sub"),
    ("!a b:int. a * b = &0 /\\ ~(a = &0) ==> b = &0", "INT_ENTIRE"),
    ("!(f:A->real) g s t. (!x. x IN s ==> f x = g x) /\\ s = t ==> sum s f = sum t g", "SUM_EQ"),
    ("!R:A->A->bool. WF R ==> ~(?x. R x x)", "WF_REFL"),
]


def quoted(text):
    """A string of OCaml."""
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def script(folder, proves):
    yield f'#use {quoted(ROOT / "integrations/hol_light/formulanet.ml")};;'
    yield f"FORMULANET_DUMP {quoted(folder / 'core.jsonl')};;"
    yield "set_margin 1000000;;"
    yield f"let printed = open_out {quoted(folder / 'printed.txt')};;"
    yield 'do_list (fun (name,th) -> output_string printed ("val " ^ name ^ " : thm = " ^ string_of_thm th ^ "\\n")) !theorems;;'
    yield "close_out printed;;"
    yield "set_margin 78;;"
    yield 'report "BUILD";;'
    yield "FORMULANET_LEARN ();;"
    yield "formulanet_seconds := 2;;"
    yield "formulanet_slices := [8; 32; 128];;"
    # The clock of a process that waits stands still.
    for number, (goal, _) in enumerate(GOALS):
        yield f'report "GOAL {number}";;'
        yield "let begun = Unix.time ();;"
        yield f'do_list (fun name -> report ("NAME " ^ name)) (FORMULANET {ASKED} `{goal}`);;'
        yield "let asked = Unix.time ();;"
        if proves:
            yield f'(try let _ = prove(`{goal}`, FORMULANET_TAC) in report "PROVED" with Failure why -> report ("OPEN " ^ why));;'
        yield 'report (Printf.sprintf "TIMES %.0f %.0f" (asked -. begun) (Unix.time () -. asked));;'


def run_hol_light(folder, program, proves):
    where = subprocess.run(["ocamlc", "-where"], capture_output=True, text=True, check=True).stdout.strip()
    environment = dict(os.environ, FORMULANET=str(program), FORMULANET_LIBRARY=str(folder / "core.db"))
    begun = time.time()
    run = subprocess.run(["hol-light", "-I", where], input="\n".join(script(folder, proves)) + "\n", capture_output=True, text=True,
                         env=environment, cwd=ROOT, errors="replace")
    print(f"HOL Light ran for {time.time() - begun:.0f} s", file=sys.stderr)
    text = run.stdout + run.stderr
    # Not what loading the core prints.
    start = text.find("val formulanet_environment")
    if start < 0:
        sys.exit("HOL Light did not load the integration:\n" + text[-2000:])
    return text[start:].replace(str(folder), "FOLDER").replace(str(ROOT), "ROOT").replace(str(program), "formulanet")


def answers(text):
    """Of each goal: names in order, what the tactic said, seconds."""
    parts = re.split(r"^(?:# )*GOAL \d+\n", text, flags=re.M)[1:]
    for part in parts:
        names = re.findall(r"^(?:# )*NAME (.*)$", part, flags=re.M)
        proved = re.search(r"proved with the best (\d+) premises: (\w+)", part)
        times = re.search(r"TIMES (\d+) (\d+)", part)
        yield names, proved and (int(proved.group(1)), proved.group(2)), times and tuple(map(int, times.groups()))


def shortened(text):
    """What is worth keeping of a session: the first names of each goal, and all else from the first goal on."""
    kept, count = [], 0
    for line in text[re.search(r"^(?:# )*GOAL 0$", text, flags=re.M).start():].splitlines():
        is_name = re.match(r"^(# )*NAME ", line)
        count = count + 1 if is_name else 0
        if count <= 32:
            kept.append(line)
    return "\n".join(kept) + "\n"


def build(program, library, file):
    """Builds a library of what HOL Light printed; what the program says."""
    run = subprocess.run([program, "library", "build", library, file], capture_output=True, text=True, check=False)
    return (run.stdout + run.stderr).strip().replace(str(library), "printed.db").replace(str(file), "printed.txt")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "target/release/formulanet", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, help="keep dumps and libraries here")
    parser.add_argument("--prove", action="store_true", help="try FORMULANET_TAC, which takes up to half a minute for each goal")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.folder or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        text = run_hol_light(folder, program, arguments.prove)
        facts = [json.loads(line) for line in open(folder / "core.jsonl", encoding="utf-8")]
        printed = build(program, folder / "printed.db", folder / "printed.txt")
    RAW.write_text(shortened(text))
    table(facts, printed, list(answers(text)), arguments.prove)


def table(facts, printed, results, proves):
    known = {fact["name"] for fact in facts}
    proofs = [fact for fact in facts if fact.get("proof")]
    used = sum(len(fact["proof"]) for fact in proofs)
    if len(results) != len(GOALS):
        sys.exit(f"HOL Light answered {len(results)} of {len(GOALS)} goals")
    print("# Premises for HOL Light's core\n")
    print("`bench/hol_light.py`, with the HOL Light of Debian 12; what it printed is in `bench/results/hol-light.txt`.\n")
    print(f"{len(facts)} named theorems, each read exactly and as HOL Light prints it; {len(proofs)} have a proof, which uses "
          f"{used / len(proofs):.1f} of them on average. A library of what is printed: {printed}.\n")
    print(f"The goals are consequences of known theorems. They are asked for from inside HOL Light with `FORMULANET {ASKED}`; the ranks "
          "are those of the theorems that a proof by hand would use, among all theorems of the core.\n")
    if proves:
        print("`FORMULANET_TAC` had 2 seconds of the CPU for each of 8, 32 and 128 theorems and each of MESON and METIS. The last "
              "column is its time.\n")
    print("| goal | theorem (rank) |" + (" FORMULANET_TAC | s |" if proves else "") + "\n|---|---|" + ("---|---|" if proves else ""))
    proved_count, ranks = 0, []
    for (goal, expected), (names, proved, times) in zip(GOALS, results):
        cells = []
        for name in expected.split():
            if name not in known:
                sys.exit(f"no theorem is called {name}")
            rank = names.index(name) + 1 if name in names else None
            ranks.append(rank or ASKED + 1)
            cells.append(f"{name} ({rank or f'over {ASKED}'})")
        proved_count += proved is not None
        tactic = f"{proved[1]}, {proved[0]} theorems" if proved else "not proved"
        shown = goal.replace("|", "\\|")
        print(f"| `{shown}` | {', '.join(cells)} |" + (f" {tactic} | {times[1]} |" if proves else ""))
    ranks.sort()
    print(f"\nOf the {len(ranks)} theorems, {sum(rank <= 8 for rank in ranks)} are among the first 8, "
          f"{sum(rank <= 32 for rank in ranks)} among the first 32, {sum(rank <= 128 for rank in ranks)} among the first 128; the median "
          f"rank is {ranks[len(ranks) // 2]}.")
    if proves:
        print(f"{proved_count} of {len(GOALS)} goals are proved.")


if __name__ == "__main__":
    main()
