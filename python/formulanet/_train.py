"""Training."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional, Sequence, Union

from . import _native
from ._data import Prepared
from ._errors import Error
from ._input import Path

PRESETS = ("default", "paper", "premises", "together")


@dataclass(frozen=True)
class Trained:
    """How a run ended."""

    #: The run folder.
    path: str
    #: Whether it came to its end; otherwise go on with `resume=True`.
    finished: bool
    #: What validation of all held-out pairs said at the end, if there are any.
    validation: Optional[Dict[str, Any]]

    @property
    def model(self) -> str:
        """The model file, which is there once the run is finished."""
        return os.path.join(self.path, "model.safetensors")


def train(
    data: Union[Prepared, Path],
    out: Path,
    *,
    preset: str = "default",
    callback: Optional[Callable[[Dict[str, Any]], object]] = None,
    resume: bool = False,
    init: Optional[Path] = None,
    validation: Union[int, float, Sequence[str], None] = None,
    threads: Optional[int] = None,
    max_minutes: Optional[float] = None,
    checkpoint_every: float = 120,
    log_every: int = 20,
    **recipe: Any,
) -> Trained:
    """Trains a network on a prepared folder and writes a run folder, as `formulanet train` does.

    The `preset` is `default`, `paper`, `premises` or `together`; keywords change its recipe, such as `dimension=64`,
    `epochs=1`, `rate=1e-3`, `limit_pairs=100_000` or `seed=7`. `init` begins with the weights of a model file.

    The callback gets a dictionary when the run begins (`event` is `begins`) and for every line of the log (`logged`: `step`,
    `pairs`, `epoch`, `loss`, `accuracy`, `rate`, `speed`, `validation`), every `log_every` batches. It runs on the thread that
    called. If it raises something, or you press Ctrl-C, the run stops after a checkpoint and the exception comes out of
    here; the same call with `resume=True`, or `formulanet train --resume`, goes on and comes to the same weights, bit for bit.

    With the preset `together`, raw data will do, of which `validation` holds conjectures out.
    """
    if preset not in PRESETS:
        raise Error(f"expected a preset of {', '.join(PRESETS)}, found {preset!r}")
    if resume and (recipe or init is not None):
        raise Error("a run that goes on keeps its recipe and its weights: leave the recipe's choices and `init` out")
    if validation is not None and preset != "together" and not resume:
        raise Error("`validation` has no effect on a prepared folder, which is split already")
    if "dim" in recipe:
        # What the command line calls it.
        recipe["dimension"] = recipe.pop("dim")
    end = _native.train(
        {
            "data": data.path if isinstance(data, Prepared) else os.fspath(data),
            "out": os.fspath(out),
            "resume": resume,
            "preset": preset,
            "changes": json.dumps(recipe),
            "init": None if init is None else os.fspath(init),
            "validation": validation,
            "threads": threads,
            "max_minutes": max_minutes,
            "checkpoint_every": checkpoint_every,
            "log_every": log_every,
        },
        callback,
    )
    found = json.loads(end)
    return Trained(os.fspath(out), found["finished"], found.get("validation"))
