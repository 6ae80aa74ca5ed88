#!/usr/bin/env python3
"""Compares losses and gradients of formulanet-net with PyTorch's on the same weights, graphs and pairs.

    bench/compare_torch.py TORCH_FORMULANET [--save FILE]

TORCH_FORMULANET is the path of torch_formulanet.py, an independent implementation of the same equations (it needs
torch and numpy). All variants; PyTorch computes in f64, so that the difference is the rounding of f32 alone.
"""
import argparse, importlib.util, json, subprocess, tempfile
import numpy as np, torch, torch.nn.functional as F

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("peer")
parser.add_argument("--save")
arguments = parser.parse_args()
spec = importlib.util.spec_from_file_location("peer", arguments.peer)
peer = importlib.util.module_from_spec(spec)
spec.loader.exec_module(peer)
torch.set_default_dtype(torch.float64)
lines = []


def say(line):
    print(line, flush=True)
    lines.append(line)


class Graphs:
    """What `union` of the peer's reader of archives makes, from graphs in memory."""
    union, treelets = peer.Graphs.union, peer.Graphs.treelets

    def __init__(self, graphs):
        offsets = lambda lengths: np.concatenate([[0], np.cumsum(lengths)])
        self.tokens = np.concatenate([g["tokens"] for g in graphs]).astype(np.int64)
        self.noff = offsets([len(g["tokens"]) for g in graphs])
        self.src = np.concatenate([np.repeat(np.arange(len(g["degrees"])), g["degrees"]) for g in graphs]).astype(np.int64)
        self.dst = np.concatenate([g["targets"] for g in graphs]).astype(np.int64)
        self.eoff, self.tri = offsets([len(g["targets"]) for g in graphs]), {}


def compare(folder, kind, conditional, dimension):
    command = ["cargo", "run", "-q", "--release", "-p", "formulanet-net", "--example", "dump", "--",
               folder, kind, conditional, str(dimension)]
    subprocess.run(command, check=True)
    batch = json.load(open(folder + "/batch.json"))
    values, gradients = (np.fromfile(f"{folder}/{n}.bin", np.float32) for n in ("values", "gradients"))
    part = lambda array, name: array[batch["tensors"][name][2]:][:batch["tensors"][name][0] * batch["tensors"][name][1]]
    tensor = lambda array, name: torch.tensor(part(array, name).reshape(batch["tensors"][name][:2]).astype(np.float64))
    net = peer.FormulaNet(30, dimension, 3, kind == "full", conditional == "conditional")
    pairs = []  # (name, what PyTorch has, what formulanet has)

    def bind(parameter, *names):
        ours = torch.cat([tensor(values, n) for n in names], 1).reshape(parameter.shape)
        parameter.data.copy_(ours)
        pairs.append((names[0], parameter, torch.cat([tensor(gradients, n) for n in names], 1).reshape(parameter.shape)))

    def norm(module, name):
        weight, bias = (module.w, module.b) if hasattr(module, "w") else (module.weight, module.bias)
        bind(weight, name + ".scale"), bind(bias, name + ".shift")

    bind(net.emb, "embedding"), norm(net.n0, "embedding_norm")
    for t, step in enumerate(net.steps):
        for module, name in (("fi", "in"), ("fo", "out"), ("fl", "left"), ("fh", "head"), ("fr", "right")):
            if module in step:
                stem = f"steps.{t}.{name}"
                bind(step[module].w1, *[f"{stem}.first.{i}" for i in range(2 if name in ("in", "out") else 3)])
                bind(step[module].w2, stem + ".second")
                norm(step[module].n1, stem + ".first_norm"), norm(step[module].n2, stem + ".second_norm")
        bind(net.wp[t], f"steps.{t}.combine"), norm(step["np"], f"steps.{t}.combine_norm")
    for t, head in enumerate(net.cls):
        bind(head[0].weight, f"heads.{t}.first"), norm(head[1], f"heads.{t}.norm")
        bind(head[3].weight, f"heads.{t}.second"), bind(head[3].bias, f"heads.{t}.bias")
    union = Graphs(batch["graphs"]).union(range(len(batch["graphs"])))
    union = {k: v.double() if torch.is_tensor(v) and v.is_floating_point() else v for k, v in union.items()}
    statement, conjecture, label = (torch.tensor(column) for column in zip(*batch["pairs"]))
    # The peer's norms compute in f32; here everything stays in f64.
    torch.Tensor.float = lambda self: self.double()
    logits = net(union, statement, conjecture)
    losses = [F.cross_entropy(l, label) for l in logits]
    sum(losses).backward()
    worst_loss = max(abs(a.item() - b) for a, b in zip(losses, batch["losses"]))
    # Some gradients are zero (a classifier's norm takes out any shift of what it reads): small beside all counts as small.
    total = sum(p.grad.norm() ** 2 for _, p, _ in pairs) ** 0.5
    errors = [((p.grad - ours).norm() / (p.grad.norm() + 1e-3 * total)).item() for _, p, ours in pairs]
    say(f"{kind} {conditional} d={dimension}: losses {[round(l.item(), 6) for l in losses]}, largest difference {worst_loss:.1e}; "
        f"gradients of {len(pairs)} tensors, relative difference: median {np.median(errors):.1e}, largest {max(errors):.1e} "
        f"({pairs[int(np.argmax(errors))][0]})")
    return worst_loss < 1e-4 and max(errors) < 1e-2


with tempfile.TemporaryDirectory() as folder:
    results = [compare(folder, kind, conditional, d) for d in (16, 256) for kind in ("basic", "full")
               for conditional in ("unconditional", "conditional")]
say("all agree" if all(results) else "THEY DIFFER")
if arguments.save:
    with open(arguments.save, "w") as out:
        out.write(f"pytorch {torch.__version__}\n" + "\n".join(lines) + "\n")
raise SystemExit(0 if all(results) else 1)
