"""Data, training and measuring."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import formulanet

SMALL = {"dimension": 8, "steps": 1, "batch": 4, "group": 2, "micro_batch": 4, "log_every": 1, "threads": 1}


def test_arrays_are_mapped(prepared, fixtures):
    counts = prepared.meta["counts"]
    assert len(prepared) == counts["pairs"] == len(prepared["pair_statement"])
    for name, array in prepared.arrays.items():
        assert isinstance(array, np.memmap) and not array.flags.writeable, name
    graph = prepared.graph(int(prepared["conjecture_graph"][0]))
    assert graph.labels[0] in prepared.vocabulary and graph.edge_index.max() < len(graph)
    assert graph.treelets.shape[0] == 3
    splits = [prepared.pairs(split) for split in ("train", "validation", "test")]
    assert sorted(np.concatenate(splits).tolist()) == prepared.pairs().tolist()
    assert prepared.conjecture_name(0) and prepared.premise_name(0)
    for wrong in (-1, 10**6):
        with pytest.raises(IndexError):
            prepared.graph(wrong)
    with pytest.raises(formulanet.Error, match="formulanet.prepare"):
        formulanet.Prepared(fixtures)


def test_measures_are_those_of_the_program(fixtures, program):
    models = fixtures.parent / "models"
    for model in (str(models / "holstep"), "hol-premises", str(models / "mizar")):
        arguments = ("eval", "--model", model, "--data", fixtures / "sample", "--split", "all", "--format", "json")
        expected = json.loads(program(*arguments))
        found = formulanet.Model(model).eval(fixtures / "sample", split="all")
        assert {key: found[key] for key in found} == {key: expected[key] for key in found}, model
    few = formulanet.Model(str(models / "holstep")).eval(fixtures / "sample", limit_pairs=3)
    assert few["examples"] == 3
    with pytest.raises(formulanet.Error, match="no effect"):
        formulanet.Model("hol-premises").eval(fixtures / "sample", limit_pairs=3)
    with pytest.raises(formulanet.Error, match="found 'dev'"):
        formulanet.Model(str(models / "holstep")).eval(fixtures / "sample", split="dev")


def test_a_callback_sees_training_and_may_stop_it(prepared, tmp_path):
    events = []
    whole = formulanet.train(prepared, tmp_path / "whole", callback=events.append, epochs=4, **SMALL)
    assert whole.finished and os.path.exists(whole.model)
    begins, *logged = events
    assert begins["event"] == "begins" and begins["batches"] == len(logged)
    assert logged[-1]["step"] == len(logged) and len(logged[-1]["loss"]) == 2
    assert formulanet.Model(whole.model).origin["recipe"]["dimension"] == 8

    def stop(event):
        if event.get("step") == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        formulanet.train(prepared, tmp_path / "parts", callback=stop, epochs=4, **SMALL)
    assert (tmp_path / "parts" / "last.safetensors").exists()
    assert not (tmp_path / "parts" / "model.safetensors").exists()
    with pytest.raises(formulanet.Error, match="resume=True"):
        formulanet.train(prepared, tmp_path / "parts", epochs=4, **SMALL)
    again = formulanet.train(prepared, tmp_path / "parts", resume=True, threads=1)
    assert again.finished
    first, second = (np.fromfile(run.model, dtype=np.uint8) for run in (whole, again))
    assert np.array_equal(first, second), "the same weights, bit for bit"


def test_recipes(prepared, tmp_path):
    with pytest.raises(formulanet.Error, match="found `colour`; there are average, batch, blur"):
        formulanet.train(prepared, tmp_path / "run", colour="red")
    with pytest.raises(formulanet.Error, match="`epochs`"):
        formulanet.train(prepared, tmp_path / "run", epochs="many")
    with pytest.raises(formulanet.Error, match="rate must be positive"):
        formulanet.train(prepared, tmp_path / "run", rate=-1.0)
    with pytest.raises(formulanet.Error, match="found 'best'"):
        formulanet.train(prepared, tmp_path / "run", preset="best")
    assert not (tmp_path / "run").exists()


def test_reading_together(fixtures, tmp_path):
    small = {"dimension": 8, "rounds": 1, "hidden": 8, "epochs": 1, "threads": 1}
    run = formulanet.train(fixtures / "sample", tmp_path / "reader", preset="together", validation=1, **small)
    assert run.finished and formulanet.Model(run.model).kind == "read together"


@pytest.mark.skipif(os.name == "nt", reason="signals are those of Unix")
@pytest.mark.parametrize("work", ["train", "embed", "build"])
def test_ctrl_c(work, prepared, tmp_path):
    code = {
        "train": f"""
            def begun(event):
                if event["event"] == "logged" and event["step"] == 3: print("begun", flush=True)
            formulanet.train({prepared.path!r}, {str(tmp_path / 'run')!r}, epochs=10**6, callback=begun, **{SMALL!r})
        """,
        "embed": """
            many = [f"!x. x + {n} = {n} + x" for n in range(200_000)]
            formulanet.embed("T")
            print("begun", flush=True)
            formulanet.embed(many)
        """,
        "build": f"""
            many = {{f"S{{n}}": f"!x. x + {{n}} = {{n}} + x" for n in range(200_000)}}
            formulanet.embed("T")
            print("begun", flush=True)
            formulanet.Library.build({str(tmp_path / 'many.db')!r}, many)
        """,
    }[work]
    script = tmp_path / "script.py"
    # A shell that runs this beside something else has its children ignore Ctrl-C.
    heed = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    script.write_text(heed + "import formulanet\n" + textwrap.dedent(code))
    process = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n", process.stderr.read()
    time.sleep(0.3)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert errors.rstrip().endswith("KeyboardInterrupt"), errors
    assert process.returncode in (1, 130, -signal.SIGINT)
    if work == "train":
        assert (tmp_path / "run" / "last.safetensors").exists(), "the checkpoint is kept"
    if work == "embed":
        assert time.monotonic() - begin < 20
    assert not (tmp_path / "many.db").exists()

