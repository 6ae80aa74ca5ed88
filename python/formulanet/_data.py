"""Prepared data sets."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._graph import Graph
from ._input import Path

#: The numbers that stand for splits in the array `conjecture_split`.
SPLITS = ("train", "validation", "test")


class Prepared:
    """A folder of `formulanet.prepare` or `formulanet prepare`. Its arrays are mapped into memory, not read or copied.

    `arrays` has them by name: `node_offsets`, `edge_offsets`, `tokens`, `degrees` and `targets` are the graphs; the pairs
    are `pair_conjecture`, `pair_statement` and `pair_useful`; and there are `conjecture_graph`, `conjecture_split`,
    `conjecture_pairs`, `premise_graph`, `dependency_premise` and `dependency_offsets`. The entries of an array `offsets`
    say where parts of another begin and end.
    """

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        found = _native.arrays(self.path)
        #: What the folder was made of, how, and how much there is.
        self.meta: Dict[str, Any] = json.loads(found["meta"])
        #: The label of every token.
        self.vocabulary: List[str] = found["vocabulary"]
        mapped = np.memmap(found["file"], dtype=np.uint8, mode="r")
        #: All arrays by name, as views of one mapped file; they can only be read.
        self.arrays: Dict[str, npt.NDArray[Any]] = {}
        for name, kind, start, count in found["places"]:
            dtype = np.dtype(kind)
            self.arrays[name] = mapped[start : start + count * dtype.itemsize].view(dtype)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.arrays[name]

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.arrays["pair_useful"])

    def __repr__(self) -> str:
        counts = self.meta["counts"]
        return f"<Prepared {self.path!r}: {counts['conjectures']} conjectures, {len(self)} pairs, {counts['graphs']} graphs>"

    def graph(self, number: int) -> Graph:
        """A graph by its number."""
        arrays = self.arrays
        count = len(arrays["node_offsets"]) - 1
        if not 0 <= number < count:
            raise IndexError(f"expected a graph from 0 to {count - 1}, found {number}")
        first, last = arrays["node_offsets"][number : number + 2].tolist()
        begin, end = arrays["edge_offsets"][number : number + 2].tolist()
        labels = [self.vocabulary[token] for token in arrays["tokens"][first:last].tolist()]
        sources = np.repeat(np.arange(last - first), arrays["degrees"][first:last])
        targets = arrays["targets"][begin:end]
        return Graph(labels, np.stack([sources, targets]).astype(np.int64, copy=False))

    def pairs(self, split: Optional[str] = None) -> npt.NDArray[np.int64]:
        """The numbers of the pairs of a split, or of all."""
        if split is None:
            return np.arange(len(self))
        if split not in SPLITS:
            raise ValueError(f"expected one of {', '.join(SPLITS)}, found {split!r}")
        of_pair = self.arrays["conjecture_split"][self.arrays["pair_conjecture"]]
        return np.flatnonzero(of_pair == SPLITS.index(split))

    def conjecture_name(self, number: int) -> str:
        """The name of a conjecture."""
        return self._text("conjecture_names", number)

    def premise_name(self, number: int) -> str:
        """The name of a named premise."""
        return self._text("premise_names", number)

    def _text(self, name: str, number: int) -> str:
        offsets = self.arrays[f"{name}_offsets"]
        if not 0 <= number < len(offsets) - 1:
            raise IndexError(f"expected a number from 0 to {len(offsets) - 2}, found {number}")
        begin, end = offsets[number : number + 2].tolist()
        return self.arrays[name][begin:end].tobytes().decode()


def prepare(
    input: Path,
    out: Path,
    *,
    input_format: Optional[str] = None,
    view: str = "graph",
    validation: Union[int, float, Sequence[str]] = 700,
    seed: int = 0,
    min_count: int = 1,
    rename_variables: Optional[int] = None,
    together: bool = False,
    keep_going: bool = False,
    threads: Optional[int] = None,
    _all_labels: bool = False,
) -> Prepared:
    """Turns a HolStep, DeepMath or JSON Lines directory, archive or file into a folder for training, as
    `formulanet prepare` does.

    `validation` holds conjectures out: an int is their number, a float their share, a list their names. `view` is the graph that
    formulas become; the recipes `default` and `premises` want `dag`. `together` adds what networks read that read
    statements together. With `keep_going`, statements that cannot be read are left out with a warning.
    """
    skipped, reasons = _native.prepare(
        {
            "input": os.fspath(input),
            "out": os.fspath(out),
            "input_format": input_format,
            "view": view,
            "validation": validation,
            "seed": seed,
            "min_count": min_count,
            "rename_variables": rename_variables,
            "together": together,
            "keep_going": keep_going,
            "all_labels": _all_labels,
            "threads": threads,
        }
    )
    if skipped:
        warnings.warn(f"skipped {skipped} statements, such as {reasons[0]}", stacklevel=2)
    return Prepared(out)
