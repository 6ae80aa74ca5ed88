"""How well the probabilities of a ranking are calibrated.

    bench/calibration.py --library LIBRARY --tests TESTS [--program formulanet] [--most 100]

TESTS has a line `name: premise premise ...` for each goal, a statement of the library. Every eligible statement is ranked for it. Prints
the mean sum of the probabilities next to the mean number of premises that proofs use, and the expected calibration error over ten bins
of the statements that have a probability of at least 0.01.
"""

import argparse
import json
import subprocess


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True)
    parser.add_argument("--tests", required=True)
    parser.add_argument("--program", default="formulanet")
    parser.add_argument("--most", type=int, default=100)
    options = parser.parse_args()
    goals = [line.split(":") for line in open(options.tests, encoding="utf-8")]
    step = max(1, len(goals) // options.most)
    pairs, expected, found = [], 0.0, 0
    goals = goals[::step][: options.most]
    for name, premises in goals:
        command = [options.program, "rank", "--library", options.library, "--goal-name", name]
        command += ["-k", "1000000", "--format", "json"]
        rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        used = set(premises.split())
        found += len(used)
        for row in map(json.loads, rows):
            if "probability" in row:
                expected += row["probability"]
                pairs.append((row["probability"], row["name"] in used))
    likely = [pair for pair in pairs if pair[0] >= 0.01]
    error = 0.0
    for low in range(10):
        inside = [pair for pair in likely if low <= 10 * pair[0] < low + 1 or (low == 9 and pair[0] == 1)]
        if inside:
            mean = sum(probability for probability, _ in inside) / len(inside)
            share = sum(is_used for _, is_used in inside) / len(inside)
            print(f"{low / 10:.1f}: {len(inside):6} statements, mean probability {mean:.3f}, used {share:.3f}")
            error += len(inside) * abs(mean - share)
    print(f"{len(goals)} goals: probabilities add up to {expected / len(goals):.1f}; proofs use {found / len(goals):.1f}")
    print(f"expected calibration error of {len(likely)} statements: {error / max(1, len(likely)):.3f}")


if __name__ == "__main__":
    main()
