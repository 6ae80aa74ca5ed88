"""Writes the two theories of the golden matrix, one in TPTP's language and one in HOL Light's.

    python3 bench/golden_facts.py fixtures/golden

Laws of a dozen operations, with made-up proofs: every fact uses the definition of its operation, earlier laws of the same
operation and now and then one of another; every third uses that equality is symmetric, which is thus more usual than useful. The
models know some of the symbols and not the others. The same laws in both languages, always the same files.
"""

import json
import pathlib
import sys

#: Operations with their neutral elements, what they are distributive over, and their modules.
OPERATIONS = [
    ("plus", "zero", None, "numbers"),
    ("times", "one", "plus", "numbers"),
    ("minimum", "infinity", "plus", "numbers"),
    ("union", "empty", None, "sets"),
    ("intersection", "universe", "union", "sets"),
    ("difference", "empty", "union", "sets"),
    ("meet", "top", "join", "lattices"),
    ("join", "bottom", "meet", "lattices"),
    ("append", "nil", None, "lists"),
    ("zip", "nil", "append", "lists"),
    ("compose", "identity", None, "maps"),
    ("restrict", "identity", "compose", "maps"),
]

#: Symbols as Mizar writes them; the others are unknown to its model.
MIZAR = {
    "plus": "k2_xcmplx_0", "times": "k3_xcmplx_0", "below_plus": "r1_xxreal_0",
    "union": "k2_xboole_0", "intersection": "k3_xboole_0", "difference": "k4_xboole_0", "below_union": "r1_tarski",
    "empty": "k1_xboole_0", "compose": "k5_relat_1",
}  # fmt: skip
#: Symbols as HOL Light writes them: operators between what they are applied to, and words before it.
INFIX = {
    "plus": "+", "times": "*", "below_plus": "<=", "union": "UNION", "intersection": "INTER", "difference": "DIFF",
    "below_union": "SUBSET", "compose": "o",
}  # fmt: skip
PREFIX = {"append": "APPEND", "nil": "NIL", "zip": "ZIP", "empty": "EMPTY", "zero": "0", "one": "1"}


def laws(op, neutral, over):
    """Names and formulas: variables are `x`, `y`, `z`; lists are applications, and the first word tells what is applied."""
    x, y, z = "x", "y", "z"

    def of(a, b):
        return [op, a, b]

    over = over or op
    yield "def", ["iff", ["below_" + op, x, y], ["=", of(x, y), y]]
    yield "comm", ["=", of(x, y), of(y, x)]
    yield "assoc", ["=", of(of(x, y), z), of(x, of(y, z))]
    yield "neutral", ["=", of(x, [neutral]), x]
    yield "neutral_left", ["=", of([neutral], x), x]
    yield "idem", ["=", of(x, x), x]
    yield "cancel", ["=>", ["=", of(x, y), of(x, z)], ["=", y, z]]
    yield "distrib", ["=", of(x, [over, y, z]), [over, of(x, y), of(x, z)]]
    yield "below_refl", ["below_" + op, x, x]
    yield "below_trans", ["=>", ["&", ["below_" + op, x, y], ["below_" + op, y, z]], ["below_" + op, x, z]]
    yield "mono", ["=>", ["below_" + op, x, y], ["below_" + op, of(x, z), of(y, z)]]


def variables(formula):
    if isinstance(formula, str):
        return {formula}
    return set().union(*(variables(part) for part in formula[1:])) if len(formula) > 1 else set()


def tptp(formula):
    if isinstance(formula, str):
        return formula.upper()
    head, parts = formula[0], [tptp(part) for part in formula[1:]]
    if head == "=":
        return " = ".join(parts)
    if head in ("iff", "=>", "&"):
        sign = {"iff": "<=>"}.get(head, head)
        return "(" + f" {sign} ".join(parts) + ")"
    head = MIZAR.get(head, head)
    return f"{head}({','.join(parts)})" if parts else head


def hol(formula):
    if isinstance(formula, str):
        return formula
    head, parts = formula[0], [hol(part) for part in formula[1:]]
    if head == "=":
        return " = ".join(parts)
    if head in ("iff", "=>", "&"):
        sign = {"iff": "<=>", "=>": "==>", "&": "/\\"}[head]
        return "(" + f" {sign} ".join(f"({part})" for part in parts) + ")"
    if head in INFIX:
        return f"({parts[0]} {INFIX[head]} {parts[1]})"
    head = PREFIX.get(head, head)
    return f"({' '.join([head, *parts])})" if parts else head


def facts():
    """Name, module, formula and proof, in order."""
    all_names, state = ["eq_sym"], 7
    yield "eq_sym", "logic", ["=>", ["=", "x", "y"], ["=", "y", "x"]], []
    for op, neutral, over, module in OPERATIONS:
        own = []
        for law, formula in laws(op, neutral, over):
            name = f"{op}_{law}"
            used = own[:1] + own[1:][-2:]
            for _ in range(2):
                state = (state * 1103515245 + 12345) % 2**31
                earlier = all_names[: len(all_names) - len(own)]
                if earlier and state % 3 != 0:
                    used.append(earlier[(state >> 8) % len(earlier)])
            if over and law == "distrib":
                used.append(f"{over}_comm" if f"{over}_comm" in all_names else own[1])
            if len(all_names) % 3 == 0:
                used.append("eq_sym")
            yield name, module, formula, list(dict.fromkeys(used))
            own.append(name)
            all_names.append(name)


def main():
    out = pathlib.Path(sys.argv[1])
    for file, syntax in [("laws-tptp.jsonl", "tptp"), ("laws-hol.jsonl", "hol")]:
        lines = []
        for name, module, formula, proof in facts():
            bound = sorted(variables(formula))
            if syntax == "tptp":
                text = f"! [{','.join(v.upper() for v in bound)}] : {tptp(formula)}"
            else:
                text = f"!{' '.join(bound)}. {hol(formula)}"
            fact = {"name": name, "statement": text, "syntax": syntax, "module": module}
            lines.append(json.dumps(fact | ({"proof": proof} if proof else {})) + "\n")
        (out / file).write_text("".join(lines))


main()
