"""Ranking and selecting statements, and reading them from files."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from . import _native
from ._errors import Error
from ._input import Path, Statements, model as model_of, names, parts, reading, unmatched, warn

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from ._library import Library
    from ._model import Model


@dataclass(frozen=True)
class Ranked:
    """A statement with its place in a ranking."""

    #: 1 for the best.
    rank: int
    name: str
    #: What the statements of one ranking are sorted by, from 0 to 1.
    score: float
    #: As it was written.
    statement: str
    #: `hol` or `tptp`.
    syntax: str
    #: With `explain`: symbols that it has in common with the conjecture of a problem.
    shared_symbols: Optional[List[str]] = None
    #: With `explain`: its symbols that the model does not know.
    unknown_symbols: Optional[List[str]] = None
    #: With `explain`: the score without the conjecture, if the model can tell.
    base_rate: Optional[float] = None
    #: How likely a proof uses it, if that was estimated.
    probability: Optional[float] = None

    def __str__(self) -> str:
        return f"{self.rank:>4}  {self.score:.2f}  {self.name}  {' '.join(self.statement.split())}"


class Ranking(List[Ranked]):
    """Statements from the most useful to the least: a list, and a table for programs that want one.

    >>> ranking = rank("!a. a + 1 = 1 + a", {"ADD_COMM": "!m n. m + n = n + m", "REFL": "!x. x = x"})
    >>> ranking.names
    ['ADD_COMM', 'REFL']
    >>> list(ranking.columns())[:4]
    ['rank', 'name', 'score', 'statement']
    """

    #: Statements that already say what the conjecture says, each with `same` or `instance`.
    existing: List[Tuple[str, str]]

    def __init__(self, rows: Iterable[Ranked] = (), existing: Iterable[Tuple[str, str]] = ()) -> None:
        super().__init__(rows)
        self.existing = list(existing)

    @property
    def names(self) -> List[str]:
        """The names, the most useful first."""
        return [row.name for row in self]

    def columns(self) -> Dict[str, List[Any]]:
        """The fields of all rows by their names. Those that no row has, such as what only `explain` fills, are left out."""
        optional = {"shared_symbols", "unknown_symbols", "base_rate", "probability"}
        columns = {field.name: [getattr(row, field.name) for row in self] for field in fields(Ranked)}
        is_empty = {name for name in optional if all(value is None for value in columns[name])}
        return {name: values for name, values in columns.items() if name not in is_empty}

    def to_arrow(self) -> "pyarrow.Table":
        """An Arrow table, which polars and DuckDB read without a copy. Needs pyarrow."""
        import pyarrow

        return pyarrow.table(self.columns())

    def to_pandas(self) -> "pandas.DataFrame":
        """A data frame. Needs pandas."""
        import pandas

        return pandas.DataFrame(self.columns())


@dataclass(frozen=True)
class Selection:
    """A TPTP problem that was cut down."""

    #: The problem, ready for a prover.
    text: str
    #: What is to be proved.
    conjectures: List[str]
    #: The selected axioms, the best first.
    rows: Ranking

    @property
    def names(self) -> List[str]:
        """The names of the selected axioms, the best first."""
        return self.rows.names

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Statement:
    """A statement of a file."""

    name: str
    statement: str
    #: `hol` or `tptp`.
    syntax: str
    #: What it is in its file, such as `axiom`; empty if the file does not say.
    role: str
    file: str
    line: int


def rank(
    conjecture: Optional[str] = None,
    premises: Union[Statements, Sequence[Path], None] = None,
    *,
    k: int = 32,
    library: Union["Library", Path, None] = None,
    local: Union[Statements, Sequence[Path], None] = None,
    name: Optional[str] = None,
    before: Optional[str] = None,
    module: Union[str, Iterable[str], None] = None,
    keep_duplicates: bool = False,
    order: str = "probability",
    syntax: Optional[str] = None,
    overload: Optional[str] = None,
    constants: Union[str, Iterable[str], None] = None,
    variables: Union[str, Iterable[str], None] = None,
    input_format: Optional[str] = None,
    min_score: float = 0.0,
    include: Union[str, Iterable[str], None] = None,
    exclude: Union[str, Iterable[str], None] = None,
    model: Union["Model", Path, None] = None,
    rerank: str = "auto",
    reranker: Union["Model", Path, None] = None,
    explain: bool = False,
) -> Ranking:
    """Ranks statements by how useful they are for a conjecture, as `formulanet rank` does, with the same scores.

    >>> known = {"ADD_COMM": "!m n. m + n = n + m", "REFL": "!x. x = x"}
    >>> best = rank("!a. a + 1 = 1 + a", known, k=1)
    >>> best[0].name
    'ADD_COMM'

    `premises` is the path of a file in any format that formulanet reads, a mapping from names to statements, or pairs of
    name and statement; several files are a list of paths. `library` is a library to rank as well or instead, and `local`
    has more statements, such as lemmas of your own. With a library, `name` ranks for one of its statements what comes
    before it, `before` keeps what comes before a statement, and `module` what is from these modules or files.

    Statements that say the same as the conjecture are left out unless you set `keep_duplicates`; the attribute `existing` of the
    result names them, and those that the conjecture is an instance of. With the order `lift`, what
    the conjecture makes likelier than usual comes first, with `probability` what is most likely to be used. `min_score` drops low
    scores, `include` and `exclude` take names or patterns such as `ADD_*`.

    `syntax` is `hol` or `tptp`; it is that of the statements if you leave it out. `overload`, `constants` and `variables`
    say how to read the conjecture in HOL Light's syntax. `model` is a `Model`, a built-in model's name or a file. `rerank`
    says whether the best are scored once more, together with the conjecture: `auto`, where it was measured to help, `on` or `off`;
    `reranker` is the model that does it.
    """
    from ._library import Library

    if (conjecture is None) == (name is None):
        raise Error("expected a conjecture, or the `name` of a statement of the library")
    if premises is None and library is None and local is None:
        raise Error("expected statements to rank: `premises`, `library` or both")
    for given, value in (("name", name), ("before", before), ("module", module)):
        if value is not None and library is None:
            raise Error(f"`{given}` needs a `library`")
    if library is not None and not isinstance(library, Library):
        library = Library(library)
    answer = _native.rank(
        {
            "conjecture": conjecture,
            "name": name,
            "parts": parts(premises) + parts(local),
            "input_format": input_format,
            "library": None if library is None else library._native,
            "before": before,
            "modules": names(module),
            "keep_duplicates": keep_duplicates,
            "order": order,
            "explain": explain,
            "taken": _taken(k, min_score, include, exclude),
            "choice": {"model": model_of(model), "rerank": rerank, "reranker": model_of(reranker)},
            "reading": reading(syntax, overload, constants, variables),
        }
    )
    warn(unmatched(answer["unmatched"]))
    rows = (
        Ranked(place, name, score, statement, syntax, None, unknown, alone, probability)
        for place, (name, score, statement, syntax, unknown, alone, probability) in enumerate(answer["rows"], 1)
    )
    return Ranking(rows, answer["existing"])


def select(
    problem: Path,
    *,
    k: int = 64,
    library: Union["Library", Path, None] = None,
    keep_roles: Union[str, Iterable[str], None] = None,
    symbols: str = "named",
    min_score: float = 0.0,
    include: Union[str, Iterable[str], None] = None,
    exclude: Union[str, Iterable[str], None] = None,
    model: Union["Model", Path, None] = None,
    rerank: str = "auto",
    reranker: Union["Model", Path, None] = None,
    explain: bool = False,
) -> Selection:
    """Keeps the best axioms of a TPTP problem, as `formulanet select` does.

    >>> problem = '''
    ... fof(union, axiom, ![X,A,B]: (in(X,union(A,B)) <=> (in(X,A) | in(X,B)))).
    ... fof(irreflexive, axiom, ![X]: ~less(X,X)).
    ... fof(goal, conjecture, ![X,A]: (in(X,union(A,A)) => in(X,A))).
    ... '''
    >>> selection = select(problem, k=1, symbols="anonymous")
    >>> selection.names
    ['union']
    >>> print(selection.text)
    % 1 of 2 axioms, selected by formulanet 0.1.0
    fof(union, axiom, ![X,A,B]: (in(X,union(A,B)) <=> (in(X,A) | in(X,B)))).
    fof(goal, conjecture, ![X,A]: (in(X,union(A,A)) => in(X,A))).
    <BLANKLINE>

    `problem` is a path, or the text of a problem: a string with a bracket that is not the name of a file. Includes of a
    file are read, those of a text are not. Statements with the roles `keep_roles` are always in; that is `hypothesis` and
    `assumption` unless you say otherwise. `symbols="anonymous"` looks at no symbol's name, for problems whose symbols
    no model knows, and `"both"` fuses both orders. `library` adds the best statements of a library in TPTP's language.
    """
    from ._library import Library

    if library is not None and not isinstance(library, Library):
        library = Library(library)
    is_text = isinstance(problem, str) and "(" in problem and not os.path.exists(problem)
    answer = _native.select(
        {
            "file": "problem" if is_text else os.fspath(problem),
            "text": problem if is_text else None,
            "library": None if library is None else library._native,
            "keep_roles": None if keep_roles is None else names(keep_roles),
            "symbols": symbols,
            "explain": explain,
            "taken": _taken(k, min_score, include, exclude),
            "choice": {"model": model_of(model), "rerank": rerank, "reranker": model_of(reranker)},
        }
    )
    warn(answer["warnings"] + unmatched(answer["unmatched"]))
    rows = Ranking(
        Ranked(place, name, score, statement, "tptp", shared, unknown, None, probability)
        for place, (name, score, statement, shared, unknown, probability) in enumerate(answer["rows"], 1)
    )
    return Selection(answer["text"], answer["conjectures"], rows)


def _taken(
    k: int,
    min_score: float,
    include: Union[str, Iterable[str], None],
    exclude: Union[str, Iterable[str], None],
) -> dict:
    return {"k": k, "min_score": min_score, "include": names(include), "exclude": names(exclude)}


def read(path: Path, *, input_format: Optional[str] = None) -> List[Statement]:
    """Reads the statements of a file, whatever its format, conjectures included.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "lemmas.hol")
    ...     _ = file.write_text("REFL: !x. x = x\\n")
    ...     [(lemma.name, lemma.statement, lemma.line) for lemma in read(file)]
    [('REFL', '!x. x = x', 1)]
    """
    return [Statement(*row) for row in _native.read(os.fspath(path), input_format)]
