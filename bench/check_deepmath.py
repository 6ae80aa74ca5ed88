#!/usr/bin/env python3
"""Compares the graphs of DeepMath statements with those of an independent reference.

    check_deepmath.py DIRECTORY NUMBER REFERENCE COMMAND...

reads files of DIRECTORY, spread over all of them, until NUMBER statements are compared (0: all). Every
statement is translated to HolStep text and a `T` line by the small parser below, and the reference program at
the path REFERENCE (functions `graph`, `summary`, `from_project`) makes the graph. COMMAND, called with the names
of some files, prints one JSON object per statement in the order of the files:
`{"nodes": [label, ...], "edges": [[source, target], ...], "treelets": N}`.
Nodes, edges, treelets and a Weisfeiler-Lehman hash have to agree. Exit code 1 if anything differs.
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


def expected(path, reference):
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line[:2] not in ("C ", "+ ", "- "):
                raise ValueError(f"{path}:{number}: no DeepMath line")
            translation = Translation(line[2:])
            types = " ".join("c" + name for name in sorted(translation.constants))
            yield number, reference.summary(*reference.graph("|- " + translation.text, types))


def load(path):
    spec = importlib.util.spec_from_file_location("reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    directory, number, reference, command = sys.argv[1], int(sys.argv[2]), load(sys.argv[3]), sys.argv[4:]
    files = sorted(os.listdir(directory))
    # A step that shares no factor with the number of files visits every file once, far from the last.
    step = next(s for s in range(len(files) * 618 // 1000 + 1, 2 * len(files) + 2) if gcd(s, len(files)) == 1)
    order = [os.path.join(directory, files[i * step % len(files)]) for i in range(len(files))]
    compared = different = read = 0
    for start in range(0, len(order), 200):
        if number and compared >= number:
            break
        batch = order[start:start + 200]
        output = subprocess.run(command + batch, check=True, capture_output=True, text=True).stdout
        printed = iter(output.splitlines())
        for path in batch:
            read += 1
            for line, wanted in expected(path, reference):
                compared += 1
                found = json.loads(next(printed, "null"))
                if found is None:
                    sys.exit(f"{path}:{line}: the command printed too few lines")
                summary = reference.summary(*reference.from_project(found))
                if summary != wanted or found["treelets"] != wanted["treelets"]:
                    different += 1
                    print(f"{path}:{line}: expected {wanted}, found {summary}", file=sys.stderr)
        if next(printed, None) is not None:
            sys.exit(f"the command printed too many lines for {batch[0]} and the files after it")
    print(json.dumps({"files": read, "statements": compared, "different": different}))
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
