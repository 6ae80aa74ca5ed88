#!/usr/bin/env python3
"""Time, memory and disk of `formulanet prepare` on a quarter, a half and all of a HolStep archive, and that the
result does not depend on the number of threads.

    bench/prepare.py ARCHIVE [DEEPMATH_ARCHIVE] [--scratch FOLDER] [--save FILE]

The parts are archives of every fourth and every second file, made beforehand in the scratch folder. Every run writes
a new folder there; runs with other numbers of threads are compared byte for byte with the first.
"""
import argparse, filecmp, os, re, shutil, subprocess, tarfile, tempfile, time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("archive")
parser.add_argument("deepmath", nargs="?")
parser.add_argument("--scratch", default=tempfile.gettempdir())
parser.add_argument("--save")
arguments = parser.parse_args()
subprocess.run(["cargo", "build", "--release", "-q", "-p", "formulanet-cli"], check=True)
subprocess.run(["cargo", "build", "--release", "-q", "-p", "formulanet", "--example", "open_prepared"], check=True)
lines = []


def say(line):
    print(line, flush=True)
    lines.append(line)


def part(step, path):
    """Every step-th file of the archive, compressed the same way."""
    plain = path + ".tar"
    decompressed = subprocess.Popen(["zstd", "-dc", arguments.archive], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=decompressed.stdout, mode="r|") as source, tarfile.open(plain, "w") as target:
        files = 0
        for member in source:
            if member.isfile():
                files += 1
                if files % step == 0:
                    target.addfile(member, source.extractfile(member))
    subprocess.run(["zstd", "-q", "-f", "-T0", plain, "-o", path + ".tar.zst"], check=True)
    size = os.path.getsize(plain)
    os.remove(plain)
    return path + ".tar.zst", size


def run(archive, out, *flags):
    shutil.rmtree(out, ignore_errors=True)
    command = ["/usr/bin/time", "-v", "target/release/formulanet", "prepare", archive, "--out", out, *flags]
    start = time.time()
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds = time.time() - start
    memory = int(re.search(r"Maximum resident set size \(kbytes\): (\d+)", result.stderr)[1]) / 1e6
    disk = sum(os.path.getsize(os.path.join(out, name)) for name in os.listdir(out)) / 1e6
    return seconds, memory, disk, result.stdout.replace(out, "FOLDER")


with tempfile.TemporaryDirectory(dir=arguments.scratch) as scratch:
    whole = int(subprocess.run(f"zstd -dc '{arguments.archive}' | wc -c", shell=True, capture_output=True).stdout)
    inputs = [("1/4", *part(4, scratch + "/quarter")), ("1/2", *part(2, scratch + "/half")),
              ("1", arguments.archive, whole)]
    say("| part | MB of text | seconds (best of 3) | MB/s | peak memory GB | disk MB |")
    say("|---|---|---|---|---|---|")
    for name, archive, size in inputs:
        runs = [run(archive, scratch + "/out") for _ in range(3)]
        seconds, memory, disk, output = min(runs)
        memory = max(r[1] for r in runs)
        say(f"| {name} | {size / 1e6:.0f} | {seconds:.1f} | {size / 1e6 / seconds:.0f} | {memory:.2f} | {disk:.0f} |")
    say("")
    say(output.strip())
    opened = subprocess.run(["target/release/examples/open_prepared", scratch + "/out"], capture_output=True, text=True)
    say(opened.stdout.strip())
    for threads in ("1", "2", "3"):
        seconds, *_ = run(arguments.archive, scratch + "/other", "--threads", threads)
        same = all(filecmp.cmp(f"{scratch}/out/{n}", f"{scratch}/other/{n}", shallow=False) for n in os.listdir(scratch + "/out"))
        say(f"--threads {threads}: {seconds:.1f} s, {'the same bytes' if same else 'OTHER BYTES'}")
    if arguments.deepmath:
        seconds, memory, disk, output = min(run(arguments.deepmath, scratch + "/out") for _ in range(3))
        say(f"DeepMath: {seconds:.1f} s, {memory:.2f} GB, {disk:.0f} MB on disk")
        say(output.strip())
if arguments.save:
    with open(arguments.save, "w") as out:
        out.write("\n".join(lines) + "\n")
