"""A library of statements in a file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from ._errors import Error
from ._input import Path, Statements, model as model_of, names, parts, warn
from ._model import Model
from ._rank import Ranking, rank


@dataclass(frozen=True)
class Added:
    """What an addition did."""

    #: Statements that were not there before.
    new: int
    #: Statements whose text changed.
    changed: int
    #: Statements that were there already.
    same: int
    #: Proofs that were not known before.
    proofs: int


@dataclass(frozen=True)
class Learned:
    """What learning did."""

    #: Proofs that were not known before.
    new: int
    #: Proofs that were known.
    same: int
    #: Proofs of statements that the library does not have.
    left_out: int


class Library:
    """Statements in one file, with their vectors and what their proofs used.

    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "lemmas.db")
    >>> library = Library.build(path, {"ADD_COMM": "!m n. m + n = n + m", "REFL": "!x. x = x"})
    >>> library.add({"ADD_0": "!n. n + 0 = n"})
    Added(new=1, changed=0, same=0, proofs=0)
    >>> library.names
    ['ADD_COMM', 'REFL', 'ADD_0']
    >>> library.learn({"ADD_0": ["ADD_COMM"]})
    Learned(new=1, same=0, left_out=0)
    >>> [ranked.name for ranked in library.rank("!a. a + 1 = 1 + a", k=1)]
    ['ADD_COMM']

    It is the same file that `formulanet library` makes and changes. Others may change it at the same time: every question
    sees the library as it is. What has not changed since the last question is not read again, so keep the object.
    """

    def __init__(self, path: Path) -> None:
        self._native = _native.Library(os.fspath(path))

    @classmethod
    def build(
        cls,
        path: Path,
        statements: Union[Statements, Sequence[Path]],
        *,
        model: Union[Model, Path, None] = None,
        syntax: Optional[str] = None,
        input_format: Optional[str] = None,
        strict: bool = False,
    ) -> "Library":
        """Makes a library from a file, several files, a mapping from names to statements, or pairs of both.

        It is there as a whole or not at all. With `strict`, a proof that uses what it proves, or what comes after it, is an
        error.
        """
        given = _statements(statements, syntax, input_format, strict)
        made, added = _native.Library.build(os.fspath(path), given, model_of(model))
        warn(added["warnings"])
        library = cls.__new__(cls)
        library._native = made
        return library

    def add(
        self,
        statements: Union[Statements, Sequence[Path]],
        *,
        syntax: Optional[str] = None,
        input_format: Optional[str] = None,
        strict: bool = False,
    ) -> Added:
        """Adds statements, all or none. One whose name is there replaces it if the text differs."""
        added = self._native.add(_statements(statements, syntax, input_format, strict))
        warn(added.pop("warnings"))
        return Added(**added)

    def remove(self, patterns: Union[str, Iterable[str]]) -> int:
        """Removes statements and their proofs by names or patterns such as `OLD_*`, and says how many."""
        return self._native.remove(names(patterns))

    def learn(
        self,
        proofs: Union[Path, Mapping[str, Iterable[str]], Iterable[Tuple[str, Iterable[str]]]],
        *,
        strict: bool = False,
    ) -> Learned:
        """Learns what proofs of its statements used: from the next question on, it ranks by that.

        `proofs` maps the name of each statement to the names that its proof used, or has such pairs (a statement may have
        several proofs), or is the path of a file, as `formulanet library learn` reads it.
        """
        given: Any
        if isinstance(proofs, (str, os.PathLike)):
            given = os.fspath(proofs)
        else:
            pairs = proofs.items() if isinstance(proofs, Mapping) else proofs
            given = []
            for name, used in pairs:
                if isinstance(used, str):
                    raise TypeError(f"expected the names that the proof of {name!r} used, found the string {used!r}")
                given.append((name, list(used)))
        learned = self._native.learn([given], strict)
        warn(learned.pop("warnings"))
        return Learned(**learned)

    def forget(self, name: Union[str, Iterable[str]], *, last: bool = False) -> int:
        """Forgets the proofs of statements, or the last one of each, and says how many."""
        return self._native.forget(names(name), last)

    def rank(self, conjecture: Optional[str] = None, **options: Any) -> Ranking:
        """Ranks its statements for a conjecture; the options are those of `formulanet.rank`."""
        if "library" in options:
            raise TypeError("expected the options of `formulanet.rank` but `library`")
        return rank(conjecture, library=self, **options)

    def proofs(self, name: str) -> List[List[str]]:
        """What each proof of a statement used."""
        return self._native.proofs(name)

    def verify(self) -> int:
        """Checks the file, compares every vector with a new one, and says how many there are."""
        return self._native.verify()

    @property
    def path(self) -> str:
        """Where it is."""
        return os.fspath(self._native.path)

    @property
    def model(self) -> Model:
        """The model that made its vectors."""
        return Model(self._native.model_name())

    @property
    def names(self) -> List[str]:
        """The names of all statements, in order."""
        return [name for name, _, _ in self._native.statements()]

    def items(self) -> List[Tuple[str, str]]:
        """All names with their statements, in order."""
        return [(name, statement) for name, statement, _ in self._native.statements()]

    @property
    def proof_count(self) -> int:
        """How many proofs it knows."""
        return self._native.proof_count()

    def __len__(self) -> int:
        return len(self._native)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> str:
        for known, statement in self.items():
            if known == name:
                return statement
        raise KeyError(name)

    def __repr__(self) -> str:
        try:
            return f"<Library {self.path!r}: {len(self)} statements, {self.proof_count} proofs>"
        except (Error, OSError):
            return f"<Library {self.path!r}>"


def _statements(
    statements: Union[Statements, Sequence[Path]],
    syntax: Optional[str],
    input_format: Optional[str],
    strict: bool,
) -> dict:
    return {"parts": parts(statements), "syntax": syntax, "input_format": input_format, "strict": strict}
