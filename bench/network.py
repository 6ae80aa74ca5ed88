#!/usr/bin/env python3
"""Training and forward speed beside PyTorch, on the same real pairs and cores, one after the other.

    bench/network.py PREPARED TORCH_FORMULANET [--rounds N] [--seconds N] [--threads N] [--save FILE]

PREPARED is a folder of `formulanet prepare` (view graph), TORCH_FORMULANET the path of torch_formulanet.py. Eight
batches of 128 random training pairs, d = 256, three steps, conditional; FormulaNet and FormulaNet-basic. Needs torch,
numpy and safetensors. Medians over the rounds; the raw figures are kept in FILE.
"""
import argparse, collections, json, os, statistics, subprocess, sys, tempfile
import numpy as np
from safetensors.numpy import load_file

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("prepared")
parser.add_argument("peer")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--seconds", type=float, default=10)
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--dtype", nargs="+", default=["f32", "bf16"])
parser.add_argument("--save")
arguments = parser.parse_args()
build = ["cargo", "build", "--release", "-q", "-p", "formulanet", "--example", "network_speed"]
subprocess.run(build, check=True)
data = load_file(os.path.join(arguments.prepared, "graphs.safetensors"))
random = np.random.RandomState(0)
training = np.flatnonzero(data["conjecture_split"][data["pair_conjecture"]] == 0)
batches = random.choice(training, (8, 128), replace=False)
figures, work, raw = collections.defaultdict(list), collections.defaultdict(list), []


def archive(path):
    """The arrays that the peer reads, of just these pairs. It draws its batches from them by itself."""
    chosen = batches.reshape(-1)
    statement = data["pair_statement"][chosen]
    conjecture = data["conjecture_graph"][data["pair_conjecture"][chosen]]
    graphs, places = np.unique(np.concatenate([statement, conjecture]), return_inverse=True)
    nodes = [slice(data["node_offsets"][g], data["node_offsets"][g + 1]) for g in graphs]
    edges = [slice(data["edge_offsets"][g], data["edge_offsets"][g + 1]) for g in graphs]
    offsets = lambda slices: np.concatenate([[0], np.cumsum([s.stop - s.start for s in slices])]).astype(np.int64)
    source = [np.repeat(np.arange(n.stop - n.start), data["degrees"][n]) for n in nodes]
    tokens = np.concatenate([data["tokens"][n] for n in nodes])
    np.savez(path, tokens=tokens, node_offsets=offsets(nodes), edge_source=np.concatenate(source),
             edge_target=np.concatenate([data["targets"][e] for e in edges]), edge_offsets=offsets(edges),
             conjecture=places[len(chosen):], statement=places[:len(chosen)], label=data["pair_useful"][chosen])


with tempfile.TemporaryDirectory() as folder:
    archive(folder + "/graphs.npz")
    with open(folder + "/pairs", "w") as out:
        out.writelines(" ".join(map(str, batch)) + "\n" for batch in batches)
    for round in range(arguments.rounds):
        for model in ("full", "basic"):
            for dtype in arguments.dtype:
                run = ["target/release/examples/network_speed", arguments.prepared, folder + "/pairs", model, dtype,
                       str(arguments.seconds), str(arguments.threads)]
                result = subprocess.run(run, check=True, capture_output=True, text=True)
                raw.append(f"round {round}: {model} formulanet {result.stderr.strip()}")
                for line in result.stdout.splitlines():
                    what, speed, gflops = line.split()
                    figures[model, what, "formulanet " + dtype].append(float(speed))
                    work[model, what, dtype].append(float(gflops))
                    raw.append(f"round {round}: {model} {what} formulanet {dtype} {speed} pairs/s {gflops} GFLOP/s")
            peer = [sys.executable, arguments.peer, folder + "/graphs.npz", "--json", "--seconds", str(arguments.seconds),
                    "--threads", str(arguments.threads), "--dtype", *arguments.dtype] + ["--basic"] * (model == "basic")
            for line in subprocess.run(peer, check=True, capture_output=True, text=True).stdout.splitlines():
                result = json.loads(line)
                figures[model, result["what"], "pytorch " + result["dtype"]].append(result["pairs_per_second"])
                raw.append(f"round {round}: {line}")
            print(f"round {round + 1} of {arguments.rounds}: {model} measured", file=sys.stderr, flush=True)
names = [f"{who} {dtype}" for who in ("formulanet", "pytorch") for dtype in arguments.dtype]
report = ["| model | | " + " | ".join(names) + " | f32 against f32 | best against best | GFLOP/s | of gemm's |",
          "|---|---|" + "---|" * (len(names) + 4)]
for model in ("full", "basic"):
    for what in ("train", "forward"):
        median = {name: statistics.median(figures[model, what, name]) for name in names}
        best = {who: max(median[f"{who} {dtype}"] for dtype in arguments.dtype) for who in ("formulanet", "pytorch")}
        ratio = median["formulanet f32"] / median["pytorch f32"]
        gflops, peak = statistics.median(work[model, what, "f32"]), statistics.median(work[model, "gemm", "f32"])
        report.append(f"| {model} | {what} | " + " | ".join(f"{median[name]:.0f}" for name in names) +
                      f" | {ratio:.2f} | {best['formulanet'] / best['pytorch']:.2f} | {gflops:.0f} | {gflops / peak:.0%} |")
text = "pairs per second; GFLOP/s in matrix products of formulanet f32, and as a share of what the gemm crate\n" \
       "reaches on a large square product in the same process\n\n" + "\n".join(report)
print(text)
if arguments.save:
    with open(arguments.save, "w") as out:
        out.write(text + "\n\n" + "\n".join(raw) + "\n")
