#!/usr/bin/env python3
"""Calls `formulanet mcp` with the official Python SDK of the Model Context Protocol, as agents do.

    scripts/mcp_client.py PROGRAM                                          checks the tools
    scripts/mcp_client.py PROGRAM --statements 5000 --calls 1000           also measures time and memory

Needs the package `mcp` from PyPI.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SUMS = "ADD_COMM: !m n. m + n = n + m\nADD_0: !m. m + 0 = m\nMUL_COMM: !m n. m * n = n * m\n"
GOAL = "!n. EVEN (n + n)"


def statements(number: int) -> str:
    """Statements about sums, products and lists, different from one another."""
    draw = random.Random(0)
    functions = ["+", "*", "-", "EXP", "DIV", "MOD"]
    constants = [f"c{i}" for i in range(60)]

    def term(depth: int) -> str:
        if depth == 0 or draw.random() < 0.2:
            return draw.choice(["m", "n", "p", "0", "SUC n", *draw.sample(constants, 2)])
        return f"({term(depth - 1)} {draw.choice(functions)} {term(depth - 1)})"

    lines = (f"T{i}: !m n p. {term(3)} = {term(3)} ==> {term(2)} <= {term(2)}" for i in range(number))
    return "\n".join(lines) + "\n"


def build(program: str, library: Path, text: str) -> None:
    subprocess.run([program, "library", "build", library, "-"], input=text, text=True, check=True, capture_output=True)


async def call(session: ClientSession, tool: str, **arguments: object) -> list[dict]:
    result = await session.call_tool(tool, arguments)
    text = "".join(block.text for block in result.content)
    failed = getattr(result, "is_error", None) or getattr(result, "isError", None)
    if failed:
        raise RuntimeError(text)
    return [json.loads(line) for line in text.splitlines()]


async def fails(session: ClientSession, words: str, tool: str, **arguments: object) -> None:
    try:
        await call(session, tool, **arguments)
    except Exception as error:  # noqa: BLE001 the SDK raises its own
        assert words in str(error), error
    else:
        raise AssertionError(f"{tool} with {arguments} should fail")


async def check(session: ClientSession) -> None:
    """Lists, ranks, adds, ranks again and sees the addition, and reads errors."""
    listed = {tool.name: tool for tool in (await session.list_tools()).tools}
    expected = {"rank_premises", "select_axioms", "prove", "search_library", "add_statements", "learn_proof", "explain"}
    assert set(listed) == expected, sorted(listed)
    before = await call(session, "rank_premises", goal=GOAL)
    assert [row["name"] for row in before if row["name"] == "EVEN_SUM"] == []
    new = {"name": "EVEN_SUM", "statement": "!m n. EVEN (m + n) <=> (EVEN m <=> EVEN n)"}
    assert (await call(session, "add_statements", statements=[new]))[0]["new"] == 1
    after = await call(session, "rank_premises", goal=GOAL)
    assert "EVEN_SUM" in [row["name"] for row in after]
    assert (await call(session, "learn_proof", name="EVEN_SUM", premises=["ADD_COMM"]))[0]["new"] == 1
    explained = await call(session, "explain", goal=GOAL, names=["ADD_COMM"])
    assert explained[-1]["used_by"] == ["EVEN_SUM"], explained
    assert (await call(session, "search_library", pattern="*_COMM"))[0]["found"] == 2
    await fails(session, "goal", "rank_premises", goal="((")
    await fails(session, "sums", "rank_premises", goal="T", library="/etc/passwd")
    resources = (await session.list_resources()).resources
    read = await session.read_resource(resources[0].uri)
    assert json.loads(read.contents[0].text)["statements"] == 4
    # A call that is given up makes the client tell the server, which goes on with others.
    with anyio.move_on_after(0.001):
        await call(session, "rank_premises", goal=GOAL)
    assert len(await call(session, "rank_premises", goal=GOAL, k=1)) == 1


def memory(process: int) -> int:
    """Resident memory in KiB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError("no VmRSS")


def cpu_seconds(process: int) -> float:
    """Computing time of a process, which other work on the machine does not change."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def server_of(library: Path) -> int:
    """The process that serves a library."""
    found = subprocess.run(["pgrep", "-f", f"mcp --library {library}"], capture_output=True, text=True, check=True)
    return int(found.stdout.split()[-1])


async def measure(session: ClientSession, library: Path, calls: int) -> None:
    draw = random.Random(1)
    goals = [f"!m n. (m + {draw.randrange(9)}) * n = c{draw.randrange(60)} + n" for _ in range(50)]
    times, memories = [], []
    await call(session, "rank_premises", goal=goals[0])
    process = server_of(library)
    computed = cpu_seconds(process)
    for number in range(calls):
        began = time.perf_counter()
        found = await call(session, "rank_premises", goal=goals[number % len(goals)], k=16)
        times.append(time.perf_counter() - began)
        assert len(found) == 16
        if number in (calls // 10, calls - 1):
            memories.append(memory(process))
    computed = 1000 * (cpu_seconds(process) - computed) / calls
    times.sort()
    milliseconds = [round(1000 * times[int(share * (len(times) - 1))], 1) for share in (0.5, 0.95, 1)]
    print(f"{calls} calls: median {milliseconds[0]} ms, p95 {milliseconds[1]} ms, slowest {milliseconds[2]} ms, {computed:.1f} ms of CPU each")
    print(f"resident memory: {memories[0]} KiB after {calls // 10} calls, {memories[-1]} KiB after {calls}")


async def run(program: str, library: Path, work) -> None:
    server = StdioServerParameters(command=program, args=["mcp", "--library", str(library), "--writable"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        await work(session)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--statements", type=int, default=0, help="measure over a library of this size")
    parser.add_argument("--calls", type=int, default=1000)
    arguments = parser.parse_args()
    program = str(Path(arguments.program).resolve())
    with tempfile.TemporaryDirectory() as folder:
        sums = Path(folder) / "sums.db"
        build(program, sums, SUMS)
        asyncio.run(run(program, sums, check))
        print("the Python SDK lists, ranks, adds, learns, searches, explains and cancels")
        if arguments.statements:
            large = Path(folder) / "large.db"
            build(program, large, statements(arguments.statements))
            asyncio.run(run(program, large, lambda session: measure(session, large, arguments.calls)))


if __name__ == "__main__":
    main()
