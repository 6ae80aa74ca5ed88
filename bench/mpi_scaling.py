#!/usr/bin/env python3
"""Writes results/scaling.md from what was measured: `bench/mpi_scaling.py > results/scaling.md`.

Reads, where they are there, from bench/results/:
  mpi_throughput.jsonl   bench/mpi_throughput.py, the lines of one or several calls
  mpi_netem.jsonl        bench/mpi_netem.py
  mpi_whole_batch.jsonl  the example whole_batch, one line

The model of a step, all in seconds: T(R) = C + O + h b R + M(R, link), where b pairs for each of R machines are a batch, C
is what a machine computes of its own graphs, O the optimiser, h the classifiers for one pair (every machine runs them on the
whole batch), and M(R, link) = x1 (R - 1) delay + x2 bits / rate + x3 bits is fitted to mpi_netem.jsonl by least squares of
relative errors with no x below 0, bits = 32 (2 W + V) (R - 1) / R being what a process sends. x3 is what bits cost where
the wire is free: there, all processes and the wires themselves shared the cores of one machine, so that it is rather too
high for a cluster, where every process has its own.
"""

import argparse
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def lines(name):
    path = ROOT / "bench/results" / name
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()] if path.is_file() else []


def bits(ranks, weights, vectors):
    return 32 * (2 * weights + vectors) * (ranks - 1) / ranks


def features(row):
    sent = bits(row["ranks"], row["weights"], row["vectors"])
    rate = row["rate_mbit"] * 1e6
    return [(row["ranks"] - 1) * row["delay_ms"] / 1e3, sent / rate if rate else 0.0, sent]


def solve(matrix, right):
    """Gauss with pivots; a few unknowns."""
    size = len(right)
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(size):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [rows[i][size] / rows[i][i] for i in range(size)]


def fit(rows):
    """Least squares of relative errors: every row counts the same, however slow its link."""
    scaled = [[x / row["step"] for x in features(row)] for row in rows]
    # Units that differ by many powers of ten are brought together first.
    units = [max(abs(row[i]) for row in scaled) or 1.0 for i in range(3)]
    scaled = [[x / unit for x, unit in zip(row, units)] for row in scaled]
    square = [[sum(row[i] * row[j] for row in scaled) for j in range(3)] for i in range(3)]
    right = [sum(row[i] for row in scaled) for i in range(3)]
    # Nothing is quicker for a longer delay or more bits: an unknown that comes out negative is left out.
    used = [0, 1, 2]
    while True:
        found = solve([[square[i][j] for j in used] for i in used], [right[i] for i in used])
        negative = [i for i, x in zip(used, found) if x < 0]
        if not negative:
            break
        used = [i for i in used if i not in negative]
    fitted = dict(zip(used, found))
    return [fitted.get(i, 0.0) / unit for i, unit in enumerate(units)]


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=300, help="of a batch, for each machine")
    parser.add_argument("--links", default="10:0.03,100:0.01", help="Gbit/s : milliseconds one way, assumed")
    options = parser.parse_args()
    throughput, netem, whole = lines("mpi_throughput.jsonl"), lines("mpi_netem.jsonl"), lines("mpi_whole_batch.jsonl")
    print("# Scaling\n")
    print("Written by `bench/mpi_scaling.py` from the files `bench/results/mpi_*.jsonl`, which have what was measured, line by")
    print("line. What was computed from that stands below, apart.\n")
    print("## Measured\n")
    print("### Two processes of one thread against one process of two threads\n")
    print("`bench/mpi_throughput.py`: training on one machine, runs by turns; the median of pairs a second.\n")
    summaries = [line for line in throughput if "ratio" in line]
    if summaries:
        cells = [
            [line["recipe"] or "default", *(f"{speed:.1f}" for speed in line["medians"].values()), f"{100 * line['ratio']:.1f} %"]
            for line in summaries
        ]
        table(["recipe", *summaries[0]["medians"], "ratio"], cells)
    else:
        print("Not measured yet.\n")
    print("### Communication of a step over slow links\n")
    print("`bench/mpi_netem.py`: processes in network namespaces; every wire has a delay, one way, and a rate, both ways. The")
    print("median of a step's communication without computing.\n")
    fitted = None
    if len(netem) >= 4:
        fitted = fit(netem)
        guess = lambda row: sum(x * y for x, y in zip(fitted, features(row)))
        cells = [
            [row["ranks"], row["delay_ms"], row["rate_mbit"] or "no limit", row["weights"], row["vectors"],
             f"{1e3 * row['step']:.1f}", f"{1e3 * guess(row):.1f}", row["held_back_by"]]
            for row in netem
        ]
        table(["ranks", "delay in ms", "Mbit/s", "weights", "numbers in vectors", "measured ms", "fit ms", "held back by"], cells)
    else:
        print("Not measured yet.\n")
    print("### What every process does for itself\n")
    print("The example `whole_batch`, on one thread.\n")
    if whole:
        cells = [[row["dimension"], row["weights"], row["pairs"], f"{1e3 * row['classifiers']:.1f}", f"{1e3 * row['optimiser']:.1f}",
                  row["compute"]] for row in whole]
        table(["dimension", "weights", "pairs", "classifiers ms", "optimiser ms", "instructions"], cells)
    else:
        print("Not measured yet.\n")
    print("## Computed\n")
    print("No cluster was there to measure on. " + __doc__[__doc__.index("The model of a step"):].strip().replace("\n", " ") + "\n")
    if not (fitted and whole and summaries):
        print("Computed once all of the above is measured.")
        return
    x1, x2, x3 = fitted
    print(f"The fit: x1 = {x1:.2f}, x2 = {x2:.3f}, x3 = {1e9 * x3:.3f} ns for a bit.\n")
    of_paper = [line for line in summaries if "paper" in line["recipe"]]
    speed = list((of_paper or summaries)[-1]["medians"].values())[0]
    row = whole[-1]
    pair, optimiser = row["classifiers"] / row["pairs"], row["optimiser"]
    alone = options.pairs / speed
    own = alone - optimiser - pair * options.pairs
    vectors_of_pair = netem[-1]["vectors"] / options.pairs
    print(f"A machine like the one that was measured ({speed:.1f} pairs a second with its two threads) has {options.pairs} pairs of")
    print(f"every batch: a step takes it {alone:.2f} s alone, {1e3 * optimiser:.0f} ms of them in the optimiser and")
    print(f"{1e3 * pair * options.pairs:.0f} ms in classifiers. {row['weights']} weights. Delays are assumed.\n")
    cells = []
    for link in options.links.split(","):
        rate, delay = (float(number) for number in link.split(":"))
        for ranks in [4, 8, 16, 32, 64]:
            sent = bits(ranks, row["weights"], vectors_of_pair * options.pairs * ranks)
            talk = x1 * (ranks - 1) * delay / 1e3 + x2 * sent / (rate * 1e9) + x3 * sent
            heads = pair * options.pairs * ranks
            step = own + optimiser + heads + talk
            cells.append([f"{rate:g}", delay, ranks, f"{1e3 * talk:.0f}", f"{1e3 * heads:.0f}", f"{step:.2f}",
                          f"{ranks * options.pairs / step:.0f}", f"{100 * alone / step:.0f} %"])
    table(["Gbit/s", "delay in ms", "machines", "communication ms", "classifiers ms", "step in s", "pairs/s", "efficiency"], cells)


if __name__ == "__main__":
    main()
