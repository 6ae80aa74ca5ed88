"""Vectors and graphs."""

import json

import numpy as np
import pytest

import formulanet


def test_vectors_are_those_of_the_program(fixtures, program, tmp_path):
    file = fixtures / "arithmetic.hol"
    out = tmp_path / "vectors.npy"
    program("embed", "--premises", file, "--format", "npy", "--out", out)
    found = formulanet.embed(file)
    assert found.dtype == np.float32 and np.array_equal(found, np.load(out))
    statements = [lemma.statement for lemma in formulanet.read(file)]
    assert np.array_equal(formulanet.embed(statements), found)
    assert np.array_equal(formulanet.embed(statements[3])[0], found[3])
    assert np.array_equal(formulanet.embed({"name": statements[3]})[0], found[3])


def test_vectors_belong_to_numpy():
    vectors = formulanet.embed(["x = x", "x = y"])
    assert vectors.flags.writeable and vectors.flags.c_contiguous and not vectors.flags.owndata
    vectors[0] = 0
    assert formulanet.embed([]).shape == (0, vectors.shape[1])


def test_other_models_and_languages():
    tptp = formulanet.embed("![X]: X = X", syntax="tptp")
    assert np.array_equal(tptp, formulanet.embed("![X]: X = X", syntax="tptp", model="mizar-premises"))
    one = formulanet.Model("mizar-premises", threads=1, precision="f32")
    assert np.allclose(tptp, formulanet.embed("![X]: X = X", syntax="tptp", model=one), atol=0.1)
    with pytest.raises(formulanet.Error, match="reads them together"):
        formulanet.embed("x = x", model="reader")


def test_the_wrong_one_of_many_is_named():
    with pytest.raises(formulanet.ParseError) as caught:
        formulanet.embed(["x = x", "x = "])
    assert (caught.value.file, caught.value.line, caught.value.column) == ("statement 2", 1, 4)


@pytest.mark.parametrize("view", ["graph", "graph-names", "tree", "tree-names", "dag"])
def test_graphs_are_those_of_the_program(view, program):
    formula = "!f x. f (f x) = x + 1 ==> ?y. f y = x"
    expected = json.loads(program("graph", formula, "--view", view, "--format", "json"))
    graph = formulanet.graph(formula, view=view)
    assert graph.labels == expected["nodes"]
    assert graph.edge_index.T.tolist() == expected["edges"]
    assert graph.edge_index.dtype == np.int64
    assert graph.treelets.shape == (3, expected["treelets"])
    assert len(graph.kinds) == len(graph)


def test_networkx():
    networkx = pytest.importorskip("networkx")
    graph = formulanet.graph("!x. ?y. P x /\\ Q x y")
    found = graph.to_networkx()
    assert isinstance(found, networkx.MultiDiGraph)
    assert [label for _, label in found.nodes(data="label")] == graph.labels
    assert found.number_of_edges() == graph.edge_index.shape[1]
    # A node's children are in order.
    (equal,) = [node for node, label in formulanet.graph("a = b").to_networkx().nodes(data="label") if label == "="]
    edges = sorted(formulanet.graph("a = b").to_networkx().out_edges(equal, data="rank"), key=lambda edge: edge[2])
    assert [rank for _, _, rank in edges] == [0, 1]


def test_arrays_for_pytorch_geometric():
    graph = formulanet.graph("!x. x = x")
    arrays = graph.to_arrays()
    assert arrays["x"].ravel().tolist() == [0, 1, 2, 3]
    assert arrays["edge_attr"].ravel().tolist() == [0, 0, 1, 0, 1]
    vocabulary = formulanet.Model("hol-premises").vocabulary
    tokens = graph.to_arrays(vocabulary)["x"].ravel()
    assert [vocabulary[token] for token in tokens] == graph.labels
    assert graph.to_arrays(["="])["x"].ravel().tolist() == [-1, -1, 0, -1]
    assert graph.to_pyg() is not None


def test_drawings():
    graph = formulanet.graph("!x. x = x")
    assert graph._repr_svg_().startswith("<svg") and "digraph" in graph.dot()
    assert "<title>mine</title>" in graph.svg(title="mine", legend=False, theme="light")
    with pytest.raises(formulanet.Error, match="'auto', 'light', 'dark', found 'blue'"):
        graph.svg(theme="blue")


def test_files_are_read(fixtures):
    lemmas = formulanet.read(fixtures / "arithmetic.hol")
    assert len(lemmas) == 49 and lemmas[0].syntax == "hol" and lemmas[0].role == ""
    roles = {statement.role for statement in formulanet.read(fixtures / "relations.p")}
    assert roles == {"axiom", "hypothesis", "conjecture"}
