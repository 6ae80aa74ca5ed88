#!/usr/bin/env python3
"""Many clients at once against `formulanet serve`, on this machine.

    formulanet library build small.db statements.hol
    formulanet serve --library small.db &
    bench/serve_load.py --library small --seconds 60 --pid $!

Each client asks, waits for the answer and asks again; one that is told to come back (429) does so a moment later.
Prints one JSON object: requests, statuses, median and 99th percentile of the time to an answer, and the server's memory
at the start and the end. Ends with 1 if there was no answer, or a status other than 200 and 429.
"""

import argparse
import asyncio
import collections
import json
import sys
import time

CONJECTURES = [
    "!m n. m + n = n + m",
    "!m n p. m * (n + p) = m * n + m * p",
    "!x:real. &0 <= x ==> abs x = x",
    "!s t. s SUBSET t /\\ FINITE t ==> FINITE s",
    "!P. (!n. P n ==> P (SUC n)) /\\ P 0 ==> (!n. P n)",
]
PREMISES = "ADD_0: !m. m + 0 = m\nADD_SYM: !m n. m + n = n + m\nLE_REFL: !n:num. n <= n"


def memory(pid):
    """Resident megabytes of a process, where the system tells."""
    try:
        with open(f"/proc/{pid}/status") as status:
            lines = dict(line.split(":", 1) for line in status)
        return round(int(lines["VmRSS"].split()[0]) / 1024, 1)
    except (OSError, KeyError, ValueError):
        return None


async def ask(reader, writer, body):
    """Sends a request on a connection that stays open; returns the status."""
    head = (
        "POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    await writer.drain()
    answer = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in answer.decode("latin-1").split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            length = int(value)
    await reader.readexactly(length)
    return int(answer.split(b" ", 2)[1])


async def client(number, options, until, times, statuses):
    connection = None
    turn = number
    while time.monotonic() < until:
        request = {"conjecture": CONJECTURES[turn % len(CONJECTURES)], "k": 32}
        if options.library:
            request["library"] = options.library
        else:
            request["premises"] = PREMISES
        turn += 1
        began = time.monotonic()
        try:
            if connection is None:
                connection = await asyncio.open_connection(options.host, options.port)
            status = await asyncio.wait_for(ask(*connection, json.dumps(request).encode()), 60)
        except (OSError, EOFError, asyncio.TimeoutError) as error:
            statuses[type(error).__name__] += 1
            if connection is not None:
                connection[1].close()
            connection = None
            await asyncio.sleep(0.05)
            continue
        statuses[str(status)] += 1
        if status == 200:
            times.append(time.monotonic() - began)
        else:
            await asyncio.sleep(0.05)
    if connection is not None:
        connection[1].close()


async def run(options):
    times, statuses = [], collections.Counter()
    before, until = memory(options.pid), time.monotonic() + options.seconds
    clients = [client(i, options, until, times, statuses) for i in range(options.clients)]
    await asyncio.gather(*clients)
    times.sort()

    def percentile(share):
        return round(1000 * times[min(len(times) - 1, int(share * len(times)))], 1) if times else None

    print(
        json.dumps(
            {
                "clients": options.clients,
                "seconds": options.seconds,
                "requests": sum(statuses.values()),
                "statuses": dict(statuses),
                "answers_per_second": round(len(times) / options.seconds, 1),
                "p50_ms": percentile(0.50),
                "p99_ms": percentile(0.99),
                "memory_mb_start": before,
                "memory_mb_end": memory(options.pid),
            }
        )
    )
    return bool(times) and set(statuses) <= {"200", "429"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8017)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--library", help="a library of the server; without it, a few statements are sent along")
    parser.add_argument("--pid", type=int, help="the server's process, to see its memory")
    sys.exit(0 if asyncio.run(run(parser.parse_args())) else 1)


if __name__ == "__main__":
    main()
