"""Statements as vectors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Iterable, List, Optional, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._input import Part, Path, Statements, model as model_of, part

if TYPE_CHECKING:
    from ._model import Model


def embed(
    statements: Union[str, Statements, Iterable[str]],
    *,
    syntax: Optional[str] = None,
    input_format: Optional[str] = None,
    model: Union["Model", Path, None] = None,
) -> npt.NDArray[np.float32]:
    """The network's vector of each statement: an array of float32 with a row for each, which is not copied on its way.

    >>> vectors = embed(["!m n. m + n = n + m", "!x. x = x"])
    >>> vectors.shape, vectors.dtype
    ((2, 256), dtype('float32'))

    Statements that the network finds similar have close vectors. `statements` are formulas in a list, one formula as a
    string, a `pathlib.Path` of a file, a mapping from names to statements, or pairs of name and statement.
    """
    given: Part
    if isinstance(statements, str):
        given = [statements]
    elif isinstance(statements, os.PathLike):
        given = part(statements)
    else:
        items: List = list(statements.items()) if hasattr(statements, "items") else list(statements)
        given = items if items and isinstance(items[0], str) else part(items)
    return _native.embed([given], syntax, input_format, model_of(model))
