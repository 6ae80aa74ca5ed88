"""Libraries, which the program and the package share."""

import pytest

import formulanet

GOAL = "!n. EVEN (n + n)"


@pytest.fixture
def library(fixtures, tmp_path):
    return formulanet.Library.build(tmp_path / "lemmas.db", fixtures / "arithmetic.hol")


def pairs(rows):
    return [(row.name, row.score) for row in rows]


def test_a_library_grows_learns_and_forgets(library, lines, program):
    def check():
        expected = lines("rank", "--conjecture", GOAL, "--library", library.path, "-k", 8)
        assert pairs(library.rank(GOAL, k=8)) == [(row["name"], row["score"]) for row in expected]
        fresh = formulanet.rank(GOAL, library=library.path, k=8)
        assert pairs(fresh) == pairs(library.rank(GOAL, k=8))
        return pairs(fresh)

    assert len(library) == 49 and library.model.name == "hol-premises"
    first = check()
    added = library.add({"ADD_TWICE": "!n. n + n = 2 * n"})
    assert added == formulanet.Added(new=1, changed=0, same=0, proofs=0)
    assert library["ADD_TWICE"] == "!n. n + n = 2 * n" and "ADD_TWICE" in library
    check()
    assert library.learn({"ADD_TWICE": ["ADD_COMM"], "EVEN_SUM": ["ADD_COMM"]}).new == 2
    assert library.proofs("ADD_TWICE") == [["ADD_COMM"]] and library.proof_count == 2
    learned = check()
    assert learned != first
    with pytest.warns(UserWarning, match="not in the library"):
        assert library.learn([("NOSUCH", ["ADD_COMM"])]).left_out == 1
    assert library.forget("EVEN_SUM") == 1 and library.forget(["ADD_TWICE"], last=True) == 1
    assert library.remove("ADD_TWI*") == 1
    assert check() == first
    # Another process changes it.
    program("library", "remove", library.path, first[0][0])
    assert first[0][0] not in [name for name, _ in check()]
    assert library.verify() == 48


def test_places_in_a_library(fixtures, tmp_path, lines):
    library = formulanet.Library.build(tmp_path / "theory.db", [fixtures / "theory.jsonl"])
    assert library.proof_count > 0
    name = library.names[-1]
    for options, flags in [({"name": name}, ["--goal-name", name])]:
        expected = lines("rank", "--library", library.path, *flags, "-k", 5)
        assert pairs(library.rank(k=5, **options)) == [(row["name"], row["score"]) for row in expected]
    before = library.names[10]
    found = library.rank("!n. plus n zero = n", before=before, k=40)
    assert {row.name for row in found} <= set(library.names[:10])


def test_what_cannot_be_is_an_error(library, tmp_path):
    with pytest.raises(formulanet.Error, match="Library.build"):
        formulanet.Library(tmp_path / "nothing.db")
    with pytest.raises(formulanet.Error, match="Library.add"):
        formulanet.Library.build(library.path, {"A": "T"})
    with pytest.raises(formulanet.ParseError):
        library.add({"GOOD": "x = x", "BAD": "x = "})
    assert len(library) == 49, "all or nothing"
    with pytest.raises(formulanet.Error, match="found none"):
        library.rank(name="NOSUCH")
    with pytest.raises(formulanet.Error, match="build the library again"):
        library.rank(GOAL, model="mizar-premises")
    with pytest.raises(KeyError):
        library["NOSUCH"]
    with pytest.raises(TypeError, match="the string 'ADD_COMM'"):
        library.learn({"EVEN_SUM": "ADD_COMM"})
    assert "49 statements, 0 proofs" in repr(library)


def test_axioms_of_a_library(tmp_path, fixtures):
    axioms = {"comm": "![X,Y]: join(X,Y) = join(Y,X)", "odd": "![X]: ~less(X,X)"}
    library = formulanet.Library.build(tmp_path / "axioms.db", axioms, syntax="tptp")
    assert library.model.name == "mizar-premises"
    library.add({"refl": "![X]: leq(X,X)"})
    problem = "fof(goal, conjecture, ![X,Y]: join(X,Y) = join(Y,X)).\nfof(other, axiom, ![X]: join(X,X) = X)."
    found = formulanet.select(problem, library=library, k=2)
    assert len(found.rows) == 2 and "goal" in found.text
