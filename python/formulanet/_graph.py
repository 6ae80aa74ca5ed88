"""The graph of a formula."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _native
from ._errors import Error
from ._input import reading

if TYPE_CHECKING:
    import networkx


class Graph:
    """A directed graph with labelled nodes. The edges of a node are in order: first argument first."""

    #: The label of every node.
    labels: List[str]
    #: Sources and targets of all edges, ordered by source and rank: shape (2, edges).
    edge_index: npt.NDArray[np.int64]

    def __init__(
        self,
        labels: Sequence[str],
        edge_index: npt.NDArray[np.int64],
        _drawn: Optional[_native.Graph] = None,
    ) -> None:
        self.labels = list(labels)
        self.edge_index = edge_index
        self._drawn = _drawn

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<Graph of {len(self)} nodes, {self.edge_index.shape[1]} edges>"

    @cached_property
    def edge_rank(self) -> npt.NDArray[np.int64]:
        """For every edge, its place among the edges of its source, counted from 0."""
        sources = self.edge_index[0]
        return np.arange(len(sources)) - np.searchsorted(sources, sources)

    @cached_property
    def treelets(self) -> npt.NDArray[np.int64]:
        """Left, head and right of all treelets, which are two edges of one node: shape (3, treelets)."""
        if self._drawn is not None:
            return self._drawn.treelets()
        sources, targets = self.edge_index
        rows = [
            (targets[left], sources[left], targets[right])
            for left in range(len(sources))
            for right in range(left + 1, int(np.searchsorted(sources, sources[left], "right")))
        ]
        return np.array(rows, dtype=np.int64).reshape(-1, 3).T

    @property
    def kinds(self) -> List[str]:
        """What every node stands for: `turnstile`, `binder`, `function`, `constant`, `variable`, `function variable`."""
        return self._of_formula().kinds

    def to_networkx(self) -> "networkx.MultiDiGraph":
        """As a graph of networkx, which has to be installed. Nodes have a `label`, edges a `rank`."""
        import networkx

        result = networkx.MultiDiGraph()
        result.add_nodes_from((node, {"label": label}) for node, label in enumerate(self.labels))
        ranks = self.edge_rank.tolist()
        result.add_edges_from(
            (source, target, {"rank": rank}) for (source, target), rank in zip(self.edge_index.T.tolist(), ranks)
        )
        return result

    def to_pyg(self, vocabulary: Optional[Sequence[str]] = None) -> Any:
        """As PyTorch Geometric has graphs: a `torch_geometric.data.Data` if that is installed, and otherwise a dictionary
        with the same arrays, which `to_arrays` gives always.
        """
        arrays = self.to_arrays(vocabulary)
        try:
            import torch
            from torch_geometric.data import Data
        except ImportError:
            return arrays
        tensors = {name: torch.from_numpy(value) for name, value in arrays.items() if name != "num_nodes"}
        return Data(num_nodes=arrays["num_nodes"], **tensors)

    def to_arrays(self, vocabulary: Optional[Sequence[str]] = None) -> Dict[str, Any]:
        """The graph as arrays by the names that PyTorch Geometric uses.

        `x` has the number of every node's label in `vocabulary`, and -1 for others; without a vocabulary, labels are
        numbered in the order in which they first occur. `edge_attr` has the rank of every edge.

        >>> arrays = graph("!x. x = x").to_arrays()
        >>> arrays["edge_index"].shape, arrays["x"].shape, arrays["num_nodes"]
        ((2, 5), (4, 1), 4)
        """
        numbers: Dict[str, int] = {}
        for label in self.labels if vocabulary is None else vocabulary:
            numbers.setdefault(label, len(numbers))
        tokens = np.array([numbers.get(label, -1) for label in self.labels], dtype=np.int64)
        return {
            "x": tokens.reshape(-1, 1),
            "edge_index": self.edge_index,
            "edge_attr": self.edge_rank.reshape(-1, 1),
            "treelet_index": self.treelets,
            "num_nodes": len(self),
        }

    def svg(self, *, title: Optional[str] = None, legend: bool = True, theme: str = "auto") -> str:
        """A drawing; `theme` is `auto`, `light` or `dark`."""
        return self._of_formula().svg(title, legend, theme)

    def dot(self) -> str:
        """The graph for Graphviz."""
        return self._of_formula().dot()

    def _repr_svg_(self) -> Optional[str]:
        try:
            return None if self._drawn is None else self.svg()
        except Error:
            # Too large to be drawn: a notebook shows its text instead.
            return None

    def _of_formula(self) -> _native.Graph:
        if self._drawn is None:
            raise Error("expected the graph of a formula, found one of a prepared folder, which has no drawing")
        return self._drawn


def graph(
    formula: str,
    *,
    view: str = "graph",
    syntax: Optional[str] = None,
    overload: Optional[str] = None,
    constants: Union[str, Iterable[str], None] = None,
    variables: Union[str, Iterable[str], None] = None,
) -> Graph:
    """The graph that a network reads of a formula, as `formulanet graph` shows it.

    >>> found = graph("!x. x = x")
    >>> found
    <Graph of 4 nodes, 5 edges>
    >>> found.labels
    ['|-', '!', '=', 'VAR']
    >>> found.edge_index.tolist()
    [[0, 1, 1, 2, 2], [1, 2, 3, 3, 3]]

    It does not depend on the names of variables, unless the `view` is one that keeps them: `graph`, `graph-names`,
    `tree`, `tree-names`, `dag`. In a notebook, it is a drawing.
    """
    made = _native.Graph(formula, view, reading(syntax, overload, constants, variables))
    return Graph(made.labels, made.edge_index(), made)
