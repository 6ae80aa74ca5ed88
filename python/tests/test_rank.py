"""Rankings are those of the program, to the last digit."""

import pickle
import threading
import time

import pytest

import formulanet

GOAL = "!s t. s INTER t = t INTER s"


def same(found, expected):
    keys = ("rank", "name", "score", "statement")
    assert [tuple(getattr(row, key) for key in keys) for row in found] == [
        tuple(row[key] for key in keys) for row in expected
    ]


def test_the_example_of_the_readme(fixtures, lines):
    found = formulanet.rank(GOAL, fixtures / "arithmetic.hol", k=5)
    same(found, lines("rank", "--conjecture", GOAL, "--premises", fixtures / "arithmetic.hol", "-k", 5))
    assert str(found[0]).startswith("   1  0.95")
    assert found[0].name == "IN_INTER_BOTH" and found[0].syntax == "hol"


@pytest.mark.parametrize(
    "options, flags",
    [
        ({"order": "probability"}, ["--order", "probability"]),
        ({"rerank": "on"}, ["--rerank", "on"]),
        ({"model": "mizar-premises"}, ["--model", "mizar-premises"]),
        ({"exclude": ["*_BOTH", "SET_*"], "min_score": 0.05}, ["--exclude", "*_BOTH", "--exclude", "SET_*", "--min-score", "0.05"]),
        ({"include": "ADD_COMM"}, ["--include", "ADD_COMM"]),
        ({"overload": "real", "keep_duplicates": True}, ["--overload", "real", "--keep-duplicates"]),
    ],
)
def test_options(fixtures, lines, options, flags):
    file = fixtures / "arithmetic.hol"
    same(formulanet.rank(GOAL, file, k=7, **options), lines("rank", "--conjecture", GOAL, "--premises", file, "-k", 7, *flags))


def test_tptp_is_read_together(fixtures, lines):
    goal = "![X,Y]: (r(X,Y) => r(Y,X))"
    file = fixtures / "relations.p"
    same(formulanet.rank(goal, file), lines("rank", "--conjecture", goal, "--premises", file))


def test_statements_may_be_pairs_or_a_mapping(fixtures):
    file = fixtures / "arithmetic.hol"
    expected = formulanet.rank(GOAL, file, k=5)
    pairs = [(lemma.name, lemma.statement) for lemma in formulanet.read(file)]
    assert formulanet.rank(GOAL, pairs, k=5) == expected
    assert formulanet.rank(GOAL, dict(pairs), k=5) == expected
    assert formulanet.rank(GOAL, pairs[:20], local=pairs[20:], k=5) == expected
    assert formulanet.rank(GOAL, [file], k=5) == expected


def test_explanations(fixtures, lines):
    file = fixtures / "arithmetic.hol"
    found = formulanet.rank(GOAL, file, k=5, explain=True)
    expected = lines("rank", "--conjecture", GOAL, "--premises", file, "-k", 5, "--explain")
    assert [row.unknown_symbols for row in found] == [row["unknown_symbols"] for row in expected]
    assert [row.base_rate for row in found] == [row["base_rate"] for row in expected]


def test_select(fixtures, program, lines):
    file = fixtures / "relations.p"
    with pytest.warns(UserWarning, match='try `symbols="anonymous"`'):
        found = formulanet.select(file, k=3)
    assert found.text == program("select", file, "-k", 3)
    same(found.rows, lines("select", file, "-k", 3))
    nameless = formulanet.select(str(file), k=3, symbols="anonymous", explain=True)
    assert nameless.text == program("select", file, "-k", 3, "--symbols", "anonymous")
    assert formulanet.select(file.read_text(), k=3, symbols="anonymous").names == nameless.names
    assert nameless.conjectures and nameless.rows[0].shared_symbols is not None and len(nameless) == 3


def test_errors_have_a_place(fixtures, tmp_path):
    with pytest.raises(formulanet.ParseError) as caught:
        formulanet.rank("!x. x = \n (", fixtures / "arithmetic.hol")
    error = caught.value
    assert (error.file, error.line, error.column) == ("conjecture", 2, 3)
    assert error.expected in str(error) and error.found in str(error)
    assert isinstance(error, (formulanet.Error, ValueError))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line) == (str(error), 2)
    file = tmp_path / "broken.hol"
    file.write_text("GOOD: x = x\nBAD: x = )\n")
    with pytest.raises(formulanet.ParseError) as caught:
        formulanet.rank(GOAL, file)
    assert (caught.value.file, caught.value.line) == (str(file), 2)
    with pytest.raises(FileNotFoundError) as missing:
        formulanet.rank(GOAL, tmp_path / "nothing.hol")
    assert missing.value.filename == str(tmp_path / "nothing.hol")


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, "statements to rank"),
        ({"premises": {}}, "expected statements to rank, found none"),
        ({"premises": {"A": "T"}, "order": "best"}, "'probability', 'lift', found 'best'"),
        ({"premises": {"A": "T"}, "syntax": "coq"}, "'hol', 'tptp', 'lean', found 'coq'"),
        ({"premises": {"A": "T"}, "before": "A"}, "`before` needs a `library`"),
        ({"premises": {"A": "T"}, "model": "nosuch"}, "built-in models"),
        ({"premises": {"A": "T"}, "model": "reader", "rerank": "on"}, "needs neither"),
        ({"premises": {"A": "T", "B": "F"}, "include": "*", "k": 1}, "raise `k`"),
    ],
)
def test_what_makes_no_sense_is_refused(options, expected):
    with pytest.raises(formulanet.Error, match=expected):
        formulanet.rank(GOAL, **options)


def test_a_pattern_that_fits_nothing_is_a_warning():
    with pytest.warns(UserWarning, match="no statement is called `SUB_\\*`"):
        formulanet.rank(GOAL, {"A": "T"}, exclude="SUB_*")


def test_pairs_have_to_be_pairs():
    with pytest.raises(TypeError, match="pairs of name and statement"):
        formulanet.rank(GOAL, [("A", "T", "hol")])


def test_other_threads_run_meanwhile(fixtures):
    formulanet.embed("T")
    ticks, is_over = [], threading.Event()

    def tick():
        while not is_over.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = len(ticks)
    formulanet.embed([f"!x. x + {number} = {number} + x" for number in range(2000)])
    meanwhile = len(ticks) - begin
    is_over.set()
    thread.join()
    assert meanwhile >= 5, "the lock is held for long"


def test_rankings_are_tables(fixtures):
    plain = formulanet.rank(GOAL, fixtures / "arithmetic.hol", k=3)
    assert plain.names == [row.name for row in plain]
    assert list(plain.columns())[:5] == ["rank", "name", "score", "statement", "syntax"]
    assert "unknown_symbols" not in plain.columns()
    explained = formulanet.rank(GOAL, fixtures / "arithmetic.hol", k=3, explain=True)
    assert set(explained.columns()) > {"unknown_symbols", "base_rate"}
    assert formulanet.rank(GOAL, fixtures / "arithmetic.hol", k=0).columns()["name"] == []


def test_rankings_become_arrow_tables(fixtures):
    pyarrow = pytest.importorskip("pyarrow")
    table = formulanet.rank(GOAL, fixtures / "arithmetic.hol", k=3).to_arrow()
    assert isinstance(table, pyarrow.Table) and table.num_rows == 3
    assert table.column("rank").to_pylist() == [1, 2, 3]


def test_rankings_become_data_frames(fixtures):
    pytest.importorskip("pandas")
    ranking = formulanet.rank(GOAL, fixtures / "arithmetic.hol", k=3)
    frame = ranking.to_pandas()
    assert list(frame["name"]) == ranking.names
