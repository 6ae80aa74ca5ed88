"""The golden matrix, asked through the package: the same scenarios as at the other doors, and the recorded bits.

`FORMULANET_RECORD=1` records. What the processor rounds otherwise than the one that recorded is compared by the program's tests.
"""

import json
import math
import os
import pathlib
import platform
import struct
import warnings

import pytest

import formulanet

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "crates/formulanet-testing"
MATRIX = json.loads((HERE / "scenarios.json").read_text())
GOLDEN = json.loads((HERE / "golden.json").read_text())
DECIDED = json.loads((HERE / "decided.json").read_text()) if (HERE / "decided.json").exists() else {"answers": {}}
DOORS = {"rank": ["cli", "http", "python", "rust"], "select": ["cli", "http", "python", "rust"]}


def is_ours(scenario):
    return "python" in scenario.get("doors", DOORS.get(scenario.get("command", "rank"), []))


SCENARIOS = [scenario for scenario in MATRIX["scenarios"] if is_ours(scenario)]


def machine():
    """As crates/formulanet-testing/src/golden.rs tells processors apart."""
    flags = pathlib.Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    words = set(flags.split())
    return " ".join([platform.machine(), *(flag for flag in ("avx512f", "fma") if flag in words)])


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    """The libraries, made by the package when they are first asked for."""
    folder, made = tmp_path_factory.mktemp("golden"), {}

    def library(name):
        if name not in made:
            files = next(files for files in MATRIX["libraries"] if files["name"] == name)
            path = folder / f"{name}.db"
            model = f32("mizar-premises" if name in ("laws-tptp", "relations") else "hol-premises")
            made[name] = formulanet.Library.build(path, [ROOT / file for file in files["files"]], model=model)
            if "proofs" in files:
                made[name].learn(ROOT / files["proofs"])
            assert "reranker" not in files, "the package cannot keep one"
        return made[name]

    return library


def f32(name):
    return formulanet.Model(str(name), precision="f32")


def models(scenario, libraries):
    """Models in f32: by default, the package takes bf16 where the processor has it. A re-ranker that is given is used."""
    first = scenario.get("problem") or scenario.get("premises") or ""
    library = libraries(scenario["library"]) if "library" in scenario else None
    is_tptp = first.endswith((".p", ".deepmath")) or (library is not None and library.model.name == "mizar-premises")
    options = {"model": f32(scenario.get("model", "mizar-premises" if is_tptp else "hol-premises"))}
    options["rerank"] = scenario.get("rerank", "auto")
    if "reranker" in scenario:
        options["reranker"] = f32(ROOT / scenario["reranker"])
    elif options["rerank"] == "on" or (options["rerank"] == "auto" and is_tptp):
        options["reranker"] = f32("reader")
    return options


def ask(scenario, libraries):
    """A scenario as a call."""
    options = {"k": scenario.get("k", 8)}
    for field in ("min_score", "include", "exclude", "explain"):
        if field in scenario:
            options[field] = scenario[field]
    options.update(models(scenario, libraries))
    if "library" in scenario:
        options["library"] = libraries(scenario["library"])
    if scenario.get("command") == "select":
        if "keep_roles" in scenario:
            options["keep_roles"] = scenario["keep_roles"]
        if "symbols" in scenario:
            options["symbols"] = scenario["symbols"]
        return formulanet.select(ROOT / scenario["problem"], **options).rows
    for field, option in [("before", "before"), ("modules", "module"), ("overload", "overload"), ("constants", "constants"), ("goal_name", "name")]:
        if field in scenario:
            options[option] = scenario[field]
    if "order" in scenario:
        options["order"] = scenario["order"]
    if scenario.get("duplicates") == "keep":
        options["keep_duplicates"] = True
    premises = ROOT / scenario["premises"] if "premises" in scenario else None
    local = [ROOT / file for file in scenario.get("local", [])] or None
    return formulanet.rank(scenario.get("goal"), premises, local=local, **options)


def hit(row):
    return f"{row.name} {struct.pack('>f', row.score).hex()}"


def record(scenario, hits):
    """As `Golden::set` and `Golden::write` do: only answers that a decision changed are recorded."""
    if "decision" not in scenario:
        return
    answers = DECIDED["answers"].setdefault(scenario["id"], [])
    for answer in answers:
        answer["doors"] = [door for door in answer["doors"] if door != "python"]
    same = next((answer for answer in answers if answer["hits"] == hits), None)
    if same is None:
        answers.append({"doors": ["python"], "hits": hits})
    else:
        same["doors"] = sorted([*same["doors"], "python"])
    answers[:] = sorted((answer for answer in answers if answer["doors"]), key=lambda answer: answer["doors"])

    def text(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    lines = [f"  {text(id)}: {text(DECIDED['answers'][id])}" for id in sorted(DECIDED["answers"])]
    head = f'{{\n "machine": {text(machine())},\n "answers": {{\n'
    (HERE / "decided.json").write_text(head + ",\n".join(lines) + "\n }\n}\n")


def recorded(scenario):
    """The recorded answer of this door: where a decision changed it, the later one."""
    for answers in (DECIDED if "decision" in scenario else GOLDEN, GOLDEN):
        for answer in answers["answers"].get(scenario["id"], []):
            if "python" in answer["doors"]:
                return answer["hits"]
    return []


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[scenario["id"] for scenario in SCENARIOS])
def test_answers_are_those_of_the_recording(scenario, libraries):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hits = [hit(row) for row in ask(scenario, libraries)]
    if os.environ.get("FORMULANET_RECORD") == "1":
        record(scenario, hits)
        return
    expected = recorded(scenario)
    if machine() == GOLDEN["machine"]:
        assert hits == expected, scenario["why"]
        return

    def scores(hits):
        return [struct.unpack(">f", bytes.fromhex(hit.rsplit(" ", 1)[1]))[0] for hit in hits]

    assert len(hits) == len(expected), scenario["why"]
    assert all(math.isclose(a, b, abs_tol=1e-3) for a, b in zip(scores(hits), scores(expected))), scenario["why"]
