"""Trained models."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Dict, List, Optional, Union

from . import _native
from ._data import Prepared, prepare
from ._input import Path


def models() -> List[str]:
    """The names of the built-in models.

    >>> models()
    ['hol-premises', 'mizar-premises', 'reader']
    """
    return _native.models()


class Model:
    """A trained model: a built-in one by its name, or a file.

    >>> model = Model("hol-premises")
    >>> model
    <Model 'hol-premises': rank, view 'dag'>
    >>> model.width
    256

    Wherever a function takes a `model`, it takes such an object, a name or a path. A built-in model is loaded once; of a
    file, keep the object. `threads` are those that it computes with, all cores if you leave it out; `precision` is `auto`,
    `f32` or `bf16`.
    """

    def __init__(self, model: Path, *, precision: str = "auto", threads: Optional[int] = None) -> None:
        self._native = _native.Model(os.fspath(model), precision, threads)

    @property
    def name(self) -> str:
        """Its name or file."""
        return self._native.name

    @property
    def kind(self) -> str:
        """What it does: `classify` pairs, `rank` libraries, or `read together` a conjecture and its candidates."""
        return self._native.kind

    @property
    def view(self) -> Optional[str]:
        """Which graph it reads, if it reads statements one by one."""
        return self._native.view

    @property
    def width(self) -> Optional[int]:
        """The length of its vectors, if it makes any."""
        return self._native.width

    @property
    def vocabulary(self) -> List[str]:
        """The labels that it knows, in the order of its tokens."""
        return self._native.vocabulary

    @property
    def origin(self) -> Dict[str, Any]:
        """How it was trained, and on what."""
        return json.loads(self._native.origin)

    def eval(
        self,
        data: Union[Prepared, Path],
        *,
        split: Optional[str] = None,
        limit_pairs: Optional[int] = None,
    ) -> Dict[str, Any]:
        """Measures it, as `formulanet eval --format json` does: `accuracy`, `auc` and more for a model that classifies
        pairs, `recall_at`, `mean_average_precision` and more for one that ranks.

        `data` is a prepared folder; or a HolStep, DeepMath or JSON Lines directory, archive or file. `split` is `train`,
        `validation`, `test` or `all`; if you leave it out, `validation` for a prepared folder and `all` otherwise.
        """
        path = data.path if isinstance(data, Prepared) else os.fspath(data)
        is_prepared = os.path.isfile(os.path.join(path, "meta.json"))
        split = split or ("validation" if is_prepared or os.path.isfile(_pools(path)) else "all")
        if is_prepared or self.view is None:
            return json.loads(_native.eval(self._native, path, split, limit_pairs))
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "prepared")
            prepare(path, out, view=self.view, validation=0, _all_labels=True)
            return json.loads(_native.eval(self._native, out, split, limit_pairs))

    def __repr__(self) -> str:
        view = f", view {self.view!r}" if self.view else ""
        return f"<Model {self.name!r}: {self.kind}{view}>"


def _pools(path: str) -> str:
    return os.path.join(path, "pools.json")
