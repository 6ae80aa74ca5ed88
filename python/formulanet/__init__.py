"""Premise selection for theorem provers by deep graph embedding.

>>> import formulanet
>>> known = {"ADD_COMM": "!m n. m + n = n + m", "REFL": "!x. x = x"}
>>> [best.name for best in formulanet.rank("!a. a + 1 = 1 + a", known, k=1)]
['ADD_COMM']

- `rank` ranks premises for a conjecture, `select` selects the axioms of a TPTP problem, `Library` keeps statements and the
  dependencies of their proofs.
- `embed` computes embeddings, `graph` builds the graph of a formula, `read` reads the statements of a file.
- `prepare` and `Prepared` are data for training, `train` trains a `Model`, and `Model.eval` evaluates one.

Everything that takes long releases the interpreter's lock, and ends on Ctrl-C.
"""

from ._data import Prepared, prepare
from ._embed import embed
from ._errors import Error, ParseError
from ._graph import Graph, graph
from ._library import Added, Learned, Library
from ._model import Model, models
from ._native import __version__
from ._rank import Ranked, Ranking, Selection, Statement, rank, read, select
from ._train import Trained, train

__all__ = [
    "Added",
    "Error",
    "Graph",
    "Learned",
    "Library",
    "Model",
    "ParseError",
    "Prepared",
    "Ranked",
    "Ranking",
    "Selection",
    "Statement",
    "Trained",
    "__version__",
    "embed",
    "graph",
    "models",
    "prepare",
    "rank",
    "read",
    "select",
    "train",
]
