#!/usr/bin/env python3
"""Compares the graphs of statements with those of an independent reference.

    check_graphs.py holstep|deepmath DIRECTORY HASHED COUNTED REFERENCE COMMAND...

reads files of DIRECTORY, spread over all of them. The first HASHED statements have to agree with the reference in
nodes, edges, treelets and a Weisfeiler-Lehman hash, the next COUNTED ones (0: all the rest) in the numbers alone,
which is several times faster. The reference program at the path REFERENCE has the functions `statements`, `graph`,
`summary` and `from_project`; a DeepMath statement is first translated to HolStep text and a `T` line by the small
parser below. COMMAND, called with the names of some files, prints one JSON object per statement in the order of
the files: `{"nodes": [label, ...], "edges": [[source, target], ...], "treelets": N}`.
Exit code 1 if anything differs.
"""
import importlib.util, json, os, re, subprocess, sys
from math import gcd

TOKEN = re.compile(r"\s*(<=>|=>|!=|[()\[\],:.!?~&|=]|[A-Za-z0-9_$]+)")
CONNECTIVES = {"&": "/\\", "|": "\\/", "=>": "==>", "<=>": "="}


def tokens(text):
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise ValueError(f"column {at + 1}: {text[at:at + 20]!r}")
        found.append(match.group(1))
        at = match.end()
    return found


class Translation:
    """Recursive descent over `fof(name, role, formula).`; leaves HolStep text and the set of constants."""

    def __init__(self, statement):
        self.tokens, self.at, self.constants = tokens(statement), 0, set()
        self.take("fof"), self.take("(")
        self.name = self.take()
        self.take(",")
        self.role = self.take()
        self.take(",")
        self.text = self.formula()
        self.take(")"), self.take(".")
        if self.at != len(self.tokens):
            raise ValueError(f"{self.tokens[self.at:]} after the statement")

    def peek(self):
        return self.tokens[self.at]

    def take(self, expected=None):
        token = self.tokens[self.at]
        if expected not in (None, token):
            raise ValueError(f"expected {expected}, found {token} (token {self.at})")
        self.at += 1
        return token

    def constant(self, name):
        self.constants.add(name)
        return name

    def formula(self):
        left, first = self.unit(), self.peek()
        while self.peek() in CONNECTIVES:
            connective = self.take()
            if connective != first:
                raise ValueError(f"{first} and {connective} without brackets")
            left = f"({left} {self.constant(CONNECTIVES[connective])} {self.unit()})"
            if connective in ("=>", "<=>"):
                break
        return left

    def unit(self):
        token = self.take()
        if token == "(":
            inner = self.formula()
            self.take(")")
            return inner
        if token == "~":
            return f"({self.constant('~')} {self.unit()})"
        if token in "!?":
            names = []
            self.take("[")
            while True:
                names.append(self.take())
                if self.take() == "]":
                    break
            self.take(":")
            body = self.unit()
            for name in reversed(names):
                body = f"({token}{name}. {body})"
            return body
        left = self.term(token)
        if self.peek() in ("=", "!="):
            negated = self.take() == "!="
            left = f"({left} {self.constant('=')} {self.term(self.take())})"
            if negated:
                left = f"({self.constant('~')} {left})"
        return left

    def term(self, token):
        if token[0].isupper():
            return token
        text = self.constant({"$true": "T", "$false": "F"}.get(token, token))
        if self.peek() == "(":
            while self.take() != ")":
                text = f"({text} {self.term(self.take())})"
        return text


def deepmath(path):
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line[:2] not in ("C ", "+ ", "- "):
                raise ValueError(f"{path}:{number}: no DeepMath line")
            translation = Translation(line[2:])
            yield "|- " + translation.text, " ".join("c" + name for name in sorted(translation.constants))


def counts(labels, out):
    """The numbers of `summary`, without the hash."""
    return {"nodes": len(labels), "edges": sum(map(len, out)),
            "treelets": sum(len(kids) * (len(kids) - 1) // 2 for kids in out)}


def load(path):
    spec = importlib.util.spec_from_file_location("reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    kind, directory, hashed, counted, reference, *command = sys.argv[1:]
    hashed, counted, reference = int(hashed), int(counted), load(reference)
    statements = {"holstep": reference.statements, "deepmath": deepmath}[kind]
    files = sorted(os.listdir(directory))
    # A step that shares no factor with the number of files visits every file once, far from the last.
    step = next(s for s in range(len(files) * 618 // 1000 + 1, 2 * len(files) + 2) if gcd(s, len(files)) == 1)
    order = [os.path.join(directory, files[i * step % len(files)]) for i in range(len(files))]
    compared = different = read = 0
    totals = dict.fromkeys(("nodes", "edges", "treelets"), 0)
    for start in range(0, len(order), 20):
        if counted and compared >= hashed + counted:
            break
        batch = order[start:start + 20]
        output = subprocess.run(command + batch, check=True, capture_output=True, text=True).stdout
        printed = iter(output.splitlines())
        for path in batch:
            read += 1
            for text, types in statements(path):
                summary = reference.summary if compared < hashed else counts
                compared += 1
                wanted = summary(*reference.graph(text, types))
                found = json.loads(next(printed, "null"))
                if found is None:
                    sys.exit(f"{path}: the command printed too few lines")
                ours = summary(*reference.from_project(found))
                for key in totals:
                    totals[key] += ours[key]
                if ours != wanted or found["treelets"] != wanted["treelets"]:
                    different += 1
                    print(f"{path}: {text}\nexpected {wanted}, found {ours}", file=sys.stderr)
        if next(printed, None) is not None:
            sys.exit(f"the command printed too many lines for {batch[0]} and the files after it")
    means = {key: round(total / max(compared, 1), 2) for key, total in totals.items()}
    print(json.dumps({"files": read, "statements": compared, "hashed": min(compared, hashed),
                      "different": different, "mean": means}))
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
