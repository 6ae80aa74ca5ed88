#!/usr/bin/env python3
"""Held-out accuracy of several runs, side by side: by pairs, and by the time that a core needs for them.

    bench/curves.py --out results/curves.svg paper=RUN/log.jsonl:126 default=OTHER/log.jsonl:1000

Each run is a name, the log of its folder, and how many pairs a second it trains on a core of its own. Prints a Markdown table
and draws both curves.
"""

import argparse
import json

COLOURS = ["#c0392b", "#2266aa", "#2e8b57", "#8e44ad"]
WIDTH, HEIGHT, MARGIN = 420, 300, 55


def read(text):
    name, rest = text.split("=", 1)
    path, speed = rest.rsplit(":", 1)
    points = []
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        if row.get("validation"):
            points.append((row["pairs"], 100 * row["validation"]["accuracy"]))
    return name, float(speed), points


def panel(left, title, unit, runs, low, high):
    """Axes and a line for each run; points are (x, accuracy)."""
    most = max(x for _, points in runs for x, _ in points)
    across = lambda x: left + MARGIN + x / most * (WIDTH - 2 * MARGIN)
    up = lambda y: HEIGHT - MARGIN - (y - low) / (high - low) * (HEIGHT - 2 * MARGIN)
    parts = [f'<text x="{left + WIDTH / 2}" y="24" text-anchor="middle" font-size="14">{title}</text>']
    for step in range(5):
        x, y = most * step / 4, low + (high - low) * step / 4
        parts.append(f'<line x1="{across(0)}" y1="{up(y):.1f}" x2="{across(most)}" y2="{up(y):.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{across(0) - 6}" y="{up(y) + 4:.1f}" text-anchor="end">{y:.0f} %</text>')
        parts.append(f'<text x="{across(x):.1f}" y="{HEIGHT - MARGIN + 16}" text-anchor="middle">{x:,.0f}</text>')
    parts.append(f'<text x="{left + WIDTH / 2}" y="{HEIGHT - 14}" text-anchor="middle">{unit}</text>')
    for colour, (name, points) in zip(COLOURS, runs):
        line = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        x, y = points[-1]
        place, anchor = (x + most / 50, "start") if x < most / 2 else (x, "end")
        parts.append(f'<text x="{across(place):.1f}" y="{up(y) + 20:.1f}" text-anchor="{anchor}" fill="{colour}">{name}</text>')
    return parts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=read)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    runs = arguments.runs
    print("| run | pairs | minutes of a core | accuracy in % |\n|---|---|---|---|")
    for name, speed, points in runs:
        for pairs, accuracy in points:
            print(f"| {name} | {pairs:,} | {pairs / speed / 60:.1f} | {accuracy:.2f} |")
    accuracies = [accuracy for _, _, points in runs for _, accuracy in points]
    low, high = min(accuracies) // 4 * 4, -(-max(accuracies) // 4) * 4
    by_pairs = [(name, points) for name, _, points in runs]
    by_time = [(name, [(pairs / speed / 60, accuracy) for pairs, accuracy in points]) for name, speed, points in runs]
    parts = panel(0, "at equal pairs", "pairs", by_pairs, low, high)
    parts += panel(WIDTH, "at equal time", "minutes of a core", by_time, low, high)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">'
    with open(arguments.out, "w", encoding="utf-8") as file:
        file.write("\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>"]) + "\n")


if __name__ == "__main__":
    main()
