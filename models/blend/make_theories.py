"""Makes theory files of HolStep and DeepMath, in the order of their libraries, to train a blend on.

    python3 models/blend/make_theories.py holstep HOLSTEP/train > holstep.jsonl
    python3 models/blend/make_theories.py mizar NNDATA > mizar.jsonl
    python3 models/blend/make_theories.py mizar NNDATA --articles 60 --number 8 --out-stem mizar-part

HolStep lists the theorems that a proof uses in the order of HOL Light's library, so the order of all theorems follows from
the lists. Mizar's articles are put in an order in which as few proofs as possible use a later article; within an
article, by number, but what a proof uses comes before it. With --articles, each file has so many articles that build on
each other, as MPTP2078 does.
"""

import argparse
import collections
import heapq
import json
import os
import random
import re
import sys


def topological(facts, proofs, key):
    """All facts, each behind what its proof uses; where there is a choice, the lowest key first."""
    following, waiting = collections.defaultdict(list), collections.Counter()
    edges = {(used, name) for name, deps in proofs.items() for used in deps}
    for before, after in sorted(edges):
        following[before].append(after)
        waiting[after] += 1
    ready = [(key(name), name) for name in facts if not waiting[name]]
    heapq.heapify(ready)
    order = []
    while ready:
        name = heapq.heappop(ready)[1]
        order.append(name)
        for after in following[name]:
            waiting[after] -= 1
            if not waiting[after]:
                heapq.heappush(ready, (key(after), after))
    assert len(order) == len(facts), "proofs form a cycle"
    return order


def read_holstep(folder):
    facts, proofs, edges = {}, {}, set()
    for file in sorted(os.listdir(folder)):
        conjecture, used, name = None, [], None
        for line in open(os.path.join(folder, file), encoding="utf-8"):
            kind, text = line[0], line[2:].strip()
            if kind == "N":
                conjecture = name = text
            elif kind == "D":
                name = text
                used.append(name)
            elif kind in "CA":
                facts.setdefault(name, text)
            elif kind in "+-":
                break
        proofs[conjecture] = used
        edges.update(zip(used, used[1:] + [conjecture]))
    return facts, proofs, edges


def shortly_before(facts, edges):
    """All facts, each behind those that edges put before it, and no earlier than something needs it."""
    before = collections.defaultdict(list)
    for early, late in sorted(edges):
        before[late].append(early)
    depth, order = {}, []

    def walk(root, seen, leave):
        stack = [(root, iter(before[root]))]
        seen.add(root)
        while stack:
            name, rest = stack[-1]
            following = next((other for other in rest if other not in seen), None)
            if following is None:
                leave(name)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(before[following])))

    def measure(name):
        depth[name] = 1 + max((depth[other] for other in before[name]), default=0)

    seen = set()
    for name in sorted(facts):
        if name not in seen:
            walk(name, seen, measure)
    seen = set()
    for name in sorted(facts, key=lambda name: (depth[name], name)):
        # What nothing leads to and that leads to something comes when it is needed.
        if name not in seen and before[name]:
            walk(name, seen, order.append)
    return order + sorted(set(facts) - seen)


def article(name):
    """The article that a name of the Mizar library belongs to."""
    if name.startswith("rq"):
        return "numerals"
    words = name.split("__")[-1] if name.startswith(("s", "de_", "e")) and "__" in name else name
    first = re.match(r"(?:[a-z]+_)?[a-z]+\d+_(.+)$", words)
    if name.startswith("fraenkel_"):
        return re.sub(r"^fraenkel_a_\d+_\d+_", "", name)
    return first.group(1) if first else words


def number(name):
    return [int(part) for part in re.findall(r"\d+", name.split("_")[0])] or [0]


def read_mizar(folder):
    facts, proofs = {}, {}
    for file in sorted(os.listdir(folder)):
        for line in open(os.path.join(folder, file), encoding="utf-8"):
            kind, text = line[0], line[2:].strip()
            name = text[text.index("(") + 1 : text.index(",")].strip()
            facts.setdefault(name, text)
            if kind == "C":
                conjecture = name
                proofs.setdefault(name, [])
            elif kind == "+":
                proofs[conjecture].append(name)
    return facts, proofs


def article_order(facts, proofs):
    needs = collections.defaultdict(collections.Counter)
    articles = {article(name) for name in facts}
    for name, used in proofs.items():
        for other in used:
            needs[article(name)][article(other)] += 1
    for name, text in facts.items():
        for symbol in set(re.findall(r"\b[a-z]\d+_(\w+)", text)):
            if symbol in articles:
                needs[article(name)][symbol] += 1
    order, left = [], set(articles)
    missing = {a: sum(n for b, n in needs[a].items() if b != a) for a in articles}
    users = collections.defaultdict(list)
    for a in articles:
        for b, n in needs[a].items():
            users[b].append((a, n))
    while left:
        nearest = min(left, key=lambda a: (missing[a], a))
        left.remove(nearest)
        order.append(nearest)
        for a, n in users[nearest]:
            if a != nearest:
                missing[a] -= n
    return {a: i for i, a in enumerate(order)}, needs


def write(out, facts, proofs, order, syntax):
    for name in order:
        fact = {"name": name, "statement": facts[name], "syntax": syntax}
        if proofs.get(name):
            fact["proof"] = sorted(set(proofs[name]))
        out.write(json.dumps(fact, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", choices=["holstep", "mizar"])
    parser.add_argument("folder")
    parser.add_argument("--articles", type=int)
    parser.add_argument("--number", type=int, default=1)
    parser.add_argument("--out-stem", default="part")
    arguments = parser.parse_args()
    if arguments.source == "holstep":
        facts, proofs, edges = read_holstep(arguments.folder)
        write(sys.stdout, facts, proofs, shortly_before(facts, edges), "hol")
        return
    facts, proofs = read_mizar(arguments.folder)
    rank, needs = article_order(facts, proofs)
    kinds = lambda name: 0 if not re.match(r"[tl]\d", name) else 1
    key = lambda name: (rank[article(name)], number(name), kinds(name))
    if not arguments.articles:
        write(sys.stdout, facts, proofs, topological(facts, proofs, key), "tptp")
        return
    draw = random.Random(0)
    late = sorted(rank, key=rank.get)[len(rank) // 5 :]
    for n in range(arguments.number):
        chosen, frontier = set(), collections.Counter({draw.choice(late): 1})
        while frontier and len(chosen) < arguments.articles:
            best = max(frontier, key=lambda a: (frontier[a], a))
            del frontier[best]
            chosen.add(best)
            for a, count in needs[best].items():
                if a not in chosen and a in rank:
                    frontier[a] += count
        inside = {name: text for name, text in facts.items() if article(name) in chosen}
        known = {
            name: [used for used in proofs[name] if used in inside]
            for name in proofs
            if name in inside and all(used in inside for used in proofs[name])
        }
        with open(f"{arguments.out_stem}-{n}.jsonl", "w", encoding="utf-8") as out:
            write(out, inside, known, topological(inside, known, key), "tptp")


main()
