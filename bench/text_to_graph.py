#!/usr/bin/env python3
"""How fast HolStep text becomes graphs, beside the plain Python reference, in one run on one core.

    bench/text_to_graph.py DIRECTORY REFERENCE [--files N] [--rounds N] [--save FILE]

DIRECTORY holds HolStep files, REFERENCE is the path of refgraph.py. The Rust side reads every 50th file (by default)
into memory and then reads, parses and builds each statement; the reference builds the graphs of every 2500th file.
Medians over the rounds; the raw lines are kept in FILE.
"""
import argparse, collections, os, platform, re, statistics, subprocess, sys, time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("directory")
parser.add_argument("reference")
parser.add_argument("--files", type=int, default=200)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--save")
arguments = parser.parse_args()

names = sorted(os.listdir(arguments.directory))
files = [os.path.join(arguments.directory, n) for n in names[:: max(1, len(names) // arguments.files)]]
build = ["cargo", "build", "--release", "-q", "-p", "formulanet-logic", "--example", "text_to_graph"]
subprocess.run(build, check=True)
one_core = ["taskset", "-c", "0"]
raw, speeds = [], collections.defaultdict(list)


def reference_speed():
    sample = files[:: max(1, len(files) // 4)]
    start = time.time()
    output = subprocess.run(one_core + [sys.executable, arguments.reference] + sample, check=True, capture_output=True)
    return output.stdout.count(b"\n") / (time.time() - start)


for round in range(arguments.rounds):
    run = one_core + ["target/release/examples/text_to_graph", "--rounds", "1"] + files
    output = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        raw.append(f"run {round}: {line}")
        match = re.match(r"(\S+): ([\d.]+) MB/s, (\d+) formulas/s", line)
        speeds[match[1]].append((float(match[2]), int(match[3])))
    two = ["target/release/examples/text_to_graph", "--rounds", "1", "--threads", "2"] + files
    output = subprocess.run(two, check=True, capture_output=True, text=True).stdout
    line = next(l for l in output.splitlines() if l.startswith("read+parse+graph:"))
    raw.append(f"run {round}: two threads: {line}")
    match = re.match(r"(\S+): ([\d.]+) MB/s, (\d+) formulas/s", line)
    speeds["read+parse+graph, two cores"].append((float(match[2]), int(match[3])))
    speed = reference_speed()
    raw.append(f"run {round}: refgraph.py: {speed:.0f} formulas/s")
    speeds["refgraph.py"].append((0.0, speed))

cpu = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), platform.machine())
report = [f"{cpu}, {len(files)} files, median of {arguments.rounds}", ""]
report.append("| stage | MB/s | formulas/s | microseconds a formula | formulas/s, best run |")
report.append("|---|---|---|---|---|")
median = {stage: (statistics.median(v[0] for v in values), statistics.median(v[1] for v in values))
          for stage, values in speeds.items()}
for stage, (megabytes, formulas) in median.items():
    shown = f"{megabytes:.0f}" if megabytes else ""
    best = max(speed for _, speed in speeds[stage])
    report.append(f"| {stage} | {shown} | {formulas:.0f} | {1e6 / formulas:.2f} | {best:.0f} |")
ours = median["read+parse+graph"][1]
two = median["read+parse+graph, two cores"][1]
report += ["", f"read+parse+graph is {ours / median['refgraph.py'][1]:.0f} times refgraph.py in the same run (both on one "
           f"core). Against the 1,300 formulas/s given for the paper's own Python: {ours / 1300:.0f} times on one core, "
           f"{two / 1300:.0f} times on two."]
text = "\n".join(report)
print(text)
if arguments.save:
    with open(arguments.save, "w") as out:
        out.write(text + "\n\n" + "\n".join(raw) + "\n")
