"""What tests share: fixtures of the repository, and the program, if it is built."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def fixtures():
    return ROOT / "fixtures"


@pytest.fixture(scope="session")
def program():
    """Runs the program and returns what it prints."""
    places = [os.environ.get("FORMULANET_BIN"), ROOT / "target/release/formulanet", ROOT / "target/debug/formulanet"]
    found = next((place for place in places if place and os.path.exists(place)), None)
    if found is None:
        pytest.skip("the program is not built: set FORMULANET_BIN, or run `cargo build`")

    def run(*arguments):
        command = [str(found), *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout

    return run


@pytest.fixture(scope="session")
def lines(program):
    """Runs the program and returns the objects that it prints as JSON Lines."""
    return lambda *arguments: [json.loads(line) for line in program(*arguments, "--format", "json").splitlines()]


@pytest.fixture(scope="session")
def prepared(fixtures, tmp_path_factory):
    """A small data set, prepared for training."""
    import formulanet

    out = tmp_path_factory.mktemp("data") / "prepared"
    return formulanet.prepare(fixtures / "sample", out, view="dag", validation=1)
