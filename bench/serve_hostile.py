#!/usr/bin/env python3
"""Hostile requests against `formulanet serve`: every one must be refused, and good ones answered afterwards.

    formulanet serve --timeout 2 --lean --library lemmas.db --writable --token-file token.txt &
    bench/serve_hostile.py --requests 100000 --pid $! --library lemmas --token-file token.txt

Malformed JSON, JSON that makes no sense, deep and huge formulas, files that requests try to include, huge bodies, lies
about their length, wrong methods, paths, types and hosts, what is not HTTP at all, and clients that are slow or break off.
At last come bodies that stop after 1 MB (`--stalled`), and bodies in chunks of one byte, all at once. Meanwhile, a good client
ranks, with `--library` in that library, and with `--token-file` adds statements to it; all of its requests have to be answered.
A refusal is a status from 400 to 499; a slow client may also find the connection closed. Prints one JSON object with the
statuses of every kind, how much memory the server has at rest after the first tenth of the requests and at the end, and the most
that it had meanwhile, in kilobytes. Ends with 1 if something else was answered, if the second is above the first, or if the most is
above 300 MB.
"""

import argparse
import asyncio
import collections
import json
import random
import sys
import time

PATHS = ["/v1/rank", "/v1/graph", "/v1/embed", "/v1/select", "/v1/neighbors"]
GOOD = {"conjecture": "!m n. m + n = n + m", "premises": "ADD_0: !m. m + 0 = m\nLE_REFL: !n. n <= n"}


def post(path, body, kind="application/json", host="localhost", method="POST"):
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    head = f"{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n"
    if kind:
        head += f"content-type: {kind}\r\n"
    return (head + f"content-length: {len(body)}\r\n\r\n").encode() + body


def formula(text, dice, syntax="hol"):
    """A formula at one of the places where requests have formulas."""
    return dice.choice(
        [
            post("/v1/rank", {"conjecture": text, "syntax": syntax, "premises": [{"name": "a", "statement": "$true" if syntax == "tptp" else "T"}]}),
            post("/v1/rank", {"conjecture": "T", "premises": [{"name": "a", "statement": text, "syntax": syntax}]}),
            post("/v1/graph", {"formula": text, "syntax": syntax}),
            post("/v1/embed", {"statements": [{"statement": text, "syntax": syntax}]}),
        ]
    )


def malformed(dice):
    text = json.dumps(GOOD)
    cut = text[: dice.randrange(len(text) - 1)]
    body = dice.choice([cut, cut + "\x00", "[" * dice.randrange(1, 100_000), '{"a":' * 1000, bytes(dice.randrange(256) for _ in range(dice.randrange(1, 300))), "{'conjecture': 'T'}", text + "}"])
    return post(dice.choice(PATHS), body)


def not_utf8(dice):
    return post(dice.choice(PATHS), b'{"conjecture": "' + bytes([dice.randrange(0x80, 0xC0)]) * dice.randrange(1, 50) + b'"}')


def senseless(dice):
    body = dice.choice(
        [[], {}, None, 7, "T", {"conjecture": "T"}, {**GOOD, "k": -1}, {**GOOD, "k": 1e300}, {**GOOD, "syntax": "coq"},
         {**GOOD, "library": "../../etc/passwd"}, {**GOOD, "model": "/etc/passwd"}, {**GOOD, "extra": 1},
         {**GOOD, "premises": {}}, {**GOOD, "premises": []}, {**GOOD, "include": ["*"] * 2000},
         {**GOOD, "exclude": ["*a" * 500]}, {**GOOD, "threshold": "high"}]
    )
    return post("/v1/rank", body)


def broken_formula(dice):
    text = dice.choice(["(", ")", "!x.", "x +", "x = = y", "\\", "let x =", "p ==>", "", "\u202e)", "!x. x = (y", "a |- b |- c"])
    return formula(text, dice)


def broken_tptp(dice):
    text = dice.choice(["![X: p", "p(", "p & & q", "fof(a, axiom, p", "![X]:", "$", "'abc", "p(X) <", "~", "&"])
    return formula(text, dice, "tptp")


def deep(dice):
    count = dice.randrange(5_000, 15_000)
    text = dice.choice(["(" * count, "(" * count + "x" + ")" * count, "~" * count + "p", "!x. " * count + "T", "f (" * count + "x" + ")" * count, "{" * count, "[" * count])
    return formula(text, dice)


def huge(dice):
    count = dice.randrange(6_000, 9_000)
    text = dice.choice([" + ".join(["f x"] * count), "FUN " + "x " * count, "x" * 70_000, " /\\ ".join(f"c{i} = d{i}" for i in range(4_000))])
    return formula(text, dice)


def include(dice):
    text = dice.choice(["include('/etc/passwd').", "fof(a, axiom, p). include('Axioms/SET001-0.ax').", "include('../Cargo.toml', [a])."])
    return post("/v1/rank", {"conjecture": "p", "syntax": "tptp", "premises": text})


def too_many(dice):
    return post("/v1/rank", {"conjecture": "T", "premises": "a: T\n" * dice.randrange(10_001, 50_000)})


def large_body(dice):
    return post(dice.choice(PATHS), b"x" * dice.randrange((1 << 20) + 1, 3 << 20))


def lying_length(dice):
    length = dice.choice(["99999999999", "-1", "abc", "18446744073709551616", "5, 6"])
    return f"POST /v1/rank HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{{}}".encode()


def endless_chunks(dice):
    head = b"POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    return head + (b"10000\r\n" + b"x" * 65536 + b"\r\n") * 20


def wrong_method(dice):
    path = dice.choice(PATHS + ["/v1/library"])
    return post(path, GOOD, method=dice.choice(["PUT", "DELETE", "PATCH", "OPTIONS", "BREW"]))


def wrong_path(dice):
    return post(dice.choice(["/v1", "/v1/rank/", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/" + "a" * 5000, "/v1/rank%00"]), GOOD)


def wrong_type(dice):
    return post(dice.choice(PATHS), GOOD, kind=dice.choice([None, "text/plain", "application/xml", "multipart/form-data"]))


def wrong_host(dice):
    return post("/v1/rank", GOOD, host=dice.choice(["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8017", ""]))


def not_http(dice):
    return dice.choice(
        [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(50), b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
         b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/1.1\r\nhost: localhost\r\nbad header\r\n\r\n",
         b"GET / HTTP/1.1\r\nhost: localhost\r\n" + b"x: y\r\n" * 1000 + b"\r\n",
         b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * 200_000 + b"\r\n\r\n"]
    )


def many_conjectures(dice):
    several = dice.choice([["T"] * dice.randrange(1001, 3000), [7], [["T"]], {"a": "T"}])
    return post("/v1/rank", {"premises": GOOD["premises"], dice.choice(["conjectures", "conjecture"]): several})


def broken_problem(dice):
    text = dice.choice(["fof(a, axiom, p).", "fof(c, conjecture, p", "fof(c, conjecture, p). fof(d, conjecture, q).", "", "include('/etc/passwd').",
                        "fof(c, conjecture, " + "~" * 20_000 + "p)."])
    return post("/v1/select", {"problem": text, "k": dice.choice([-1, 5])})


def broken_neighbours(dice):
    return post("/v1/neighbors", dice.choice([{}, {"formula": "T"}, {"formula": "T", "library": "none"}, {"formula": "T", "k": 1 << 70}, {"formula": "(", "premises": "a: T"},
                                              {"formula": "T", "premises": "a: " + "f (" * 9000}]))


def forbidden_addition(dice):
    name = dice.choice(["none", "..%2F..%2Fetc%2Fpasswd", "a" * 3000, "%00"])
    return post(f"/v1/libraries/{name}/facts", {"facts": [{"name": "a", "statement": "T"}]})


def broken_lean(dice):
    body = dice.choice([{}, [], {"state": 7}, {"state": "⊢ " + "(" * 20_000, "k": 1}, {"state": "⊢ p", "k": -1},
                        {"state": "⊢ p", "k": 1, "new_premises": [{"name": "a"}] * 50}])
    return post("/retrieve", body)


def slow_head(dice):
    return b"POST /v1/rank HTTP/1.1\r\nhost: loc"


def slow_body(dice):
    return b"POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"


KINDS = [malformed, not_utf8, senseless, broken_formula, broken_tptp, deep, huge, include, too_many, large_body, lying_length,
         endless_chunks, wrong_method, wrong_path, wrong_type, wrong_host, not_http, many_conjectures, broken_problem,
         broken_neighbours, forbidden_addition, broken_lean]
SLOW = [slow_head, slow_body]


async def send(options, request):
    """The status of the answer; `closed` if there is none."""
    reader, writer = await asyncio.open_connection(options.host, options.port)

    async def write():
        try:
            writer.write(request)
            await writer.drain()
        except OSError:
            pass  # refused before everything was sent

    writing = asyncio.ensure_future(write())
    try:
        answer = await asyncio.wait_for(reader.read(64), 60)
        return answer.split(b" ", 2)[1].decode() if answer.startswith(b"HTTP/1.1 ") else "closed"
    except ConnectionError:
        return "closed"
    except asyncio.TimeoutError:
        return "no answer"
    finally:
        writing.cancel()
        writer.close()


STALLED = b"POST /v1/rank HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 1048576\r\n\r\n" + b" " * 1_000_000
CHUNKS = (b"POST /v1/rank HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n"
          b"transfer-encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 300_000 + b"0\r\n\r\n")


async def beside(options, answers):
    """A good client, who asks while others attack."""
    number = 0
    while True:
        number += 1
        body, path, kind = dict(GOOD), "/v1/rank", "rank"
        if options.library:
            body["library"] = options.library
        request = post(path, body)
        if options.token_file and number % 5 == 0:
            facts = {"facts": [{"name": f"HOSTILE_{number % 50}", "statement": f"x = f{number % 7} x"}]}
            token = open(options.token_file).read().strip()
            request = post(f"/v1/libraries/{options.library}/facts", facts)
            request = request.replace(b"\r\n", f"\r\nauthorization: Bearer {token}\r\n".encode(), 1)
            kind = "add"
        began = time.monotonic()
        status = await send(options, request)
        answers[kind].append((status, time.monotonic() - began))
        await asyncio.sleep(0.05)


def most_resident(pid):
    """The most memory since [`forget_most`]."""
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def forget_most(pid):
    with open(f"/proc/{pid}/clear_refs", "w") as file:
        file.write("5")


def resident(pid):
    """Kilobytes of memory of a process, counted page by page; /proc/PID/status is about right only."""
    with open(f"/proc/{pid}/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Rss:"))


async def run(options):
    dice = random.Random(options.seed)
    statuses = collections.defaultdict(collections.Counter)
    wrong = []
    slow = min(100, options.requests // 20)
    jobs = [dice.choice(SLOW) for _ in range(slow)] + [KINDS[i % len(KINDS)] for i in range(options.requests - slow)]
    dice.shuffle(jobs)
    began, memory = time.monotonic(), []

    async def worker(waiting):
        for kind in waiting:
            request = kind(dice)
            status = await send(options, request)
            statuses[kind.__name__][status] += 1
            is_refused = status.startswith("4") and len(status) == 3
            if not (is_refused or (kind in SLOW and status == "closed")):
                wrong.append({"kind": kind.__name__, "status": status, "request": request[:200].decode("latin-1")})

    async def attack(jobs):
        waiting = iter(jobs)
        await asyncio.gather(*(worker(waiting) for _ in range(options.clients)))
        good = [await send(options, post("/v1/rank", GOOD)) for _ in range(3)]
        if options.pid:
            # When nobody asks for a second, the server gives back what requests needed.
            await asyncio.sleep(5)
            memory.append(resident(options.pid))
        return good

    tenth = len(jobs) // 10
    peaks, answers = {}, collections.defaultdict(list)

    async def watched(name, work):
        if options.pid:
            forget_most(options.pid)
        done = await work
        if options.pid:
            peaks[name] = most_resident(options.pid)
        return done

    good_client = asyncio.ensure_future(beside(options, answers))
    good = await attack(jobs[:tenth])
    good += await watched("refused requests", attack(jobs[tenth:]))
    for name, request in (("stalled bodies", STALLED), ("bodies in chunks of one byte", CHUNKS)):
        statuses[name].update(await watched(name, asyncio.gather(*(send(options, request) for _ in range(options.stalled)))))
        wrong += [{"kind": name, "status": status} for status in statuses[name] if not status.startswith("4") and status != "closed"]
    good_client.cancel()
    wrong += [{"kind": f"good: {kind}", "status": status} for kind, found in answers.items() for status, _ in found if status != "200"]
    result = {
        "requests": len(jobs),
        "seconds": round(time.monotonic() - began, 1),
        "statuses": {kind: dict(counts) for kind, counts in sorted(statuses.items())},
        "wrong": len(wrong),
        "good_afterwards": good,
        "good_beside": {kind: {"answered": len(found), "slowest": round(max(time for _, time in found), 2)} for kind, found in answers.items()},
        "kilobytes_after_a_tenth_and_at_the_end": memory,
        "kilobytes_at_most": peaks,
    }
    print(json.dumps(result))
    for example in wrong[:10]:
        print(json.dumps(example), file=sys.stderr)
    is_small = all(peak <= 300_000 for peak in peaks.values())
    return not wrong and set(good) == {"200"} and is_small and (not memory or memory[-1] <= memory[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8017)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--pid", type=int, help="the server's process, whose memory is looked at")
    parser.add_argument("--library", help="the library in which the good client ranks")
    parser.add_argument("--token-file", help="the token with which it adds statements")
    parser.add_argument("--stalled", type=int, default=1000, help="bodies that stop, and bodies in small chunks")
    parser.add_argument("--seed", type=int, default=0)
    sys.exit(0 if asyncio.run(run(parser.parse_args())) else 1)


if __name__ == "__main__":
    main()
