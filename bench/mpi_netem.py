#!/usr/bin/env python3
"""Communication of a training step between processes that are linked by slow wires, on one machine.

    cargo build --release --features mpi -p formulanet --example exchange
    bench/mpi_netem.py --weights 2300000 --vectors 80000 > bench/results/mpi_netem.jsonl

As root. Every process is in a network namespace of its own, the namespaces are linked by a switch, and each process's
wire has a delay and a rate, both ways. Where the kernel has netem (`tc qdisc ... netem`), it holds packets back; where it
has not, the switch is a part of this program that reads frames from TAP devices and passes them on when their time has
come. Prints a JSON line for every number of processes and link: what the example `exchange` measures. All addresses are
in the namespaces, which are removed at the end.
"""

import argparse
import atexit
import contextlib
import fcntl
import heapq
import json
import os
import pathlib
import select
import shlex
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Frames this large keep the switch from being the slow part.
MTU = 60000
NETWORK = "10.77.0"


def call(command, check=True):
    return subprocess.run(shlex.split(command), check=check, capture_output=True, text=True)


def name(number):
    return f"fnet{number}"


class Wires(threading.Thread):
    """A switch whose wires have a delay and a rate."""

    def __init__(self, taps, delay, rate):
        super().__init__(daemon=True)
        self.taps, self.delay, self.rate = taps, delay, rate
        self.ends = False

    def run(self):
        waiting, count = [], 0
        up, down = [0.0] * len(self.taps), [0.0] * len(self.taps)
        poll = select.poll()
        for tap in self.taps:
            poll.register(tap, select.POLLIN)
        number_of = {tap: number for number, tap in enumerate(self.taps)}
        while not self.ends:
            now = time.perf_counter()
            # The last moments are spent looking at the clock: sleeping is not exact enough.
            rest = waiting[0][0] - now if waiting else 0.01
            for tap, _ in poll.poll(max(0, int((rest - 0.0002) * 1000))):
                source = number_of[tap]
                while True:
                    try:
                        frame = os.read(tap, MTU + 100)
                    except BlockingIOError:
                        break
                    target = frame[5] - 1
                    if frame[0] & 1 or not 0 <= target < len(self.taps):
                        continue
                    takes = len(frame) * 8 / self.rate if self.rate else 0.0
                    up[source] = max(time.perf_counter(), up[source]) + takes
                    # A wire carries the frame on as it comes; it is late only behind other frames.
                    arrives = max(up[source] + self.delay, down[target] + takes)
                    down[target] = arrives
                    count += 1
                    heapq.heappush(waiting, (arrives, count, target, frame))
            now = time.perf_counter()
            while waiting and waiting[0][0] <= now:
                _, _, target, frame = heapq.heappop(waiting)
                with contextlib.suppress(BlockingIOError, OSError):
                    os.write(self.taps[target], frame)


class Network:
    """So many namespaces, linked."""

    def __init__(self, count, has_netem):
        self.count, self.has_netem, self.taps = count, has_netem, []
        self.wires = None
        atexit.register(self.remove)
        for number in range(1, count + 1):
            call(f"ip netns add {name(number)}")
        if has_netem:
            call("ip link add fnet0 type bridge")
            call("ip link set fnet0 up")
        for number in range(1, count + 1):
            self.link(number)

    def link(self, number):
        space, device = name(number), f"fnlink{number}"
        if self.has_netem:
            call(f"ip link add {device}b type veth peer name {device}")
            call(f"ip link set {device}b master fnet0")
            call(f"ip link set {device}b up")
        else:
            tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            # IFF_TAP | IFF_NO_PI
            fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH", device.encode(), 0x0002 | 0x1000))
            self.taps.append(tap)
        call(f"ip link set {device} netns {space}")
        inside = f"ip netns exec {space} "
        call(inside + f"ip link set {device} name wire")
        call(inside + f"ip link set wire address 02:00:00:00:00:{number:02x} mtu {1500 if self.has_netem else MTU}")
        call(inside + f"ip addr add {NETWORK}.{number}/24 dev wire")
        call(inside + "ip link set lo up")
        call(inside + "ip link set wire up")
        for other in range(1, self.count + 1):
            if other != number:
                mac = f"02:00:00:00:00:{other:02x}"
                call(inside + f"ip neigh replace {NETWORK}.{other} lladdr {mac} dev wire")

    def shape(self, delay, rate):
        """Seconds one way, and bits a second; 0 for no limit."""
        if not self.has_netem:
            if self.wires:
                self.wires.ends = True
                self.wires.join()
            self.wires = Wires(self.taps, delay, rate)
            self.wires.start()
            return
        limits = f"delay {delay * 1e6:.0f}us limit 100000" + (f" rate {rate:.0f}bit" if rate else "")
        for number in range(1, self.count + 1):
            call(f"ip netns exec {name(number)} tc qdisc replace dev wire root netem {limits}")
            back = f"limit 100000 rate {rate:.0f}bit" if rate else "limit 100000"
            call(f"tc qdisc replace dev fnlink{number}b root netem {back}")

    def remove(self):
        if self.wires:
            self.wires.ends = True
            self.wires.join()
        for number in range(1, self.count + 1):
            call(f"ip link del fnlink{number}b", check=False)
            call(f"ip netns del {name(number)}", check=False)
        call("ip link del fnet0", check=False)
        for tap in self.taps:
            os.close(tap)
        self.taps, self.count, self.wires = [], 0, None


def has_netem():
    """Whether the kernel can hold packets back by itself."""
    call("ip netns add fnettry")
    try:
        return call("ip netns exec fnettry tc qdisc add dev lo root netem delay 1ms", check=False).returncode == 0
    finally:
        call("ip netns del fnettry")


def launch(count, command, folder):
    """Runs a command as one job, a process in every namespace."""
    agent = pathlib.Path(folder) / "agent"
    # What Open MPI would do with ssh: the host is an address, whose last number is that of the namespace.
    agent.write_text(
        "#!/bin/sh\nhost=$1\nshift\nnumber=${host##*.}\n"
        'exec ip netns exec "fnet$number" unshare --uts sh -c "hostname fnet$number; $*"\n'
    )
    agent.chmod(0o755)
    hosts = ",".join(f"{NETWORK}.{number}:1" for number in range(1, count + 1))
    flags = "--allow-run-as-root --bind-to none --mca btl tcp,self --mca pml ob1 --mca btl_tcp_if_include wire"
    flags += " --mca oob_tcp_if_include wire --mca mpi_yield_when_idle 1"
    mpirun = f"mpirun {flags} --mca plm_rsh_agent {agent} --host {hosts} -n {count} {command}"
    first = ["ip", "netns", "exec", name(1), "unshare", "--uts", "sh", "-c", f"hostname {name(1)}; exec {mpirun}"]
    done = subprocess.run(first, capture_output=True, text=True, timeout=1200)
    if done.returncode != 0:
        sys.exit(f"{mpirun}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="2,4", help="numbers of processes")
    parser.add_argument("--delays", default="0.05,0.5,2", help="milliseconds one way")
    parser.add_argument("--rates", default="100,1000", help="Mbit/s; 0 for no limit")
    parser.add_argument("--weights", type=int, required=True, help="numbers that are trained")
    parser.add_argument("--vectors", type=int, required=True, help="numbers of all vectors of a batch")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--program", default=str(ROOT / "target/release/examples/exchange"))
    options = parser.parse_args()
    numbers = lambda text: [float(number) for number in text.split(",")]
    kernel = has_netem()
    for ranks in numbers(options.ranks):
        network = Network(int(ranks), kernel)
        with tempfile.TemporaryDirectory() as folder:
            for delay in numbers(options.delays):
                for rate in numbers(options.rates):
                    network.shape(delay / 1e3, rate * 1e6)
                    command = f"{options.program} {options.weights} {options.vectors} {options.rounds}"
                    line = json.loads(launch(int(ranks), command, folder).strip().splitlines()[-1])
                    link = {"delay_ms": delay, "rate_mbit": rate, "held_back_by": "netem" if kernel else "user space"}
                    print(json.dumps(link | line), flush=True)
        network.remove()


if __name__ == "__main__":
    main()
