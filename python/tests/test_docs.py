"""The examples of docstrings, of the pages and of the notebook run as they stand."""

import contextlib
import doctest
import importlib
import io
import json
import pathlib
import pkgutil
import re

import pytest

import formulanet

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/guides/python.md", "python/README.md"]
MODULES = ["formulanet", *(f"formulanet.{module.name}" for module in pkgutil.iter_modules(formulanet.__path__))]


@pytest.mark.parametrize("name", [name for name in MODULES if name != "formulanet._native"])
def test_docstrings(name):
    # Names are those of the module, so that examples need no import.
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0


def test_everything_is_documented():
    for name in formulanet.__all__:
        if name != "__version__":
            assert getattr(formulanet, name).__doc__, name


def blocks(page):
    """The Python of a page, each block with what follows it as `text`, if anything does."""
    text = (ROOT / page).read_text()
    return re.findall(r"```python\n(.*?)```(?:\n+```text\n(.*?)```)?", text, re.DOTALL)


def close(expected, found):
    """Whether two texts are the same, but for decimals, which CPUs round differently."""
    number = re.compile(r"\d+\.\d+")
    if number.sub("#", expected) != number.sub("#", found):
        return False
    values = zip(number.findall(expected), number.findall(found))
    return all(abs(float(a) - float(b)) <= 0.02 for a, b in values)


@pytest.mark.parametrize("page", PAGES)
def test_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    names, found = {}, blocks(page)
    assert found, f"{page} shows no Python"
    for code, expected in found:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), names)
        if expected:
            assert close(expected.rstrip(), printed.getvalue().rstrip()), printed.getvalue()


def test_the_notebook(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(ROOT / "python" / "notebooks")
    notebook = json.loads(pathlib.Path("tour.ipynb").read_text())
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "tour.ipynb", "exec"), names)
            assert "error" not in {output["output_type"] for output in cell["outputs"]}
    assert names["ranking"][0].name == "IN_INTER_BOTH"
