"""What users may write for statements, files and models."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native

if TYPE_CHECKING:
    from ._model import Model

Path = Union[str, "os.PathLike[str]"]
#: Statements: the path of a file, pairs of name and statement, or a mapping from names to statements.
Statements = Union[Path, Mapping[str, str], Iterable[Tuple[str, str]]]

Part = Union[str, List[Tuple[str, str]], List[str]]


def part(statements: Statements) -> Part:
    """Statements as the extension takes them."""
    if isinstance(statements, (str, os.PathLike)):
        return os.fspath(statements)
    pairs = statements.items() if isinstance(statements, Mapping) else statements
    result = []
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2:
            raise TypeError(f"expected pairs of name and statement, found {pair!r}")
        result.append((pair[0], pair[1]))
    return result


def parts(statements: Union[Statements, Sequence[Path], None]) -> List[Part]:
    """The same for what may also be several files."""
    if statements is None:
        return []
    if isinstance(statements, (list, tuple)) and statements:
        if all(isinstance(path, (str, os.PathLike)) for path in statements):
            return [os.fspath(path) for path in statements]
    return [part(statements)]  # type: ignore[arg-type]


def names(value: Union[str, Iterable[str], None]) -> List[str]:
    """One name or several."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def model(given: Union["Model", Path, None]) -> Optional[_native.Model]:
    """A model, or the name or path of one."""
    from ._model import Model

    if given is None:
        return None
    if isinstance(given, Model):
        return given._native
    return Model(os.fspath(given))._native


def reading(
    syntax: Optional[str],
    overload: Optional[str] = None,
    constants: Union[str, Iterable[str], None] = None,
    variables: Union[str, Iterable[str], None] = None,
) -> Dict[str, object]:
    """How a formula is read."""
    return {
        "syntax": syntax,
        "overload": overload,
        "constants": names(constants),
        "variables": names(variables),
    }


def warn(messages: Iterable[str]) -> None:
    """Tells the caller of the caller."""
    for message in messages:
        warnings.warn(message, stacklevel=3)


def unmatched(patterns: Iterable[str]) -> List[str]:
    """What to say of patterns that fit nothing."""
    return [f"no statement is called `{pattern}`" for pattern in patterns]
