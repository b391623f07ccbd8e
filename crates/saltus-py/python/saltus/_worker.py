"""A part of a run's chains in a process of its own: what an executor is given to do."""

from __future__ import annotations

import functools
import pickle
from typing import Any


def pack(what: Any) -> bytes:
    """As bytes: functions of users that have no importable name by cloudpickle, where it is installed."""
    try:
        return pickle.dumps(what, pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError):
        try:
            import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            raise TypeError(
                "the model's function cannot be sent to other processes: define it in a module, or install cloudpickle"
            ) from None
        packed: bytes = cloudpickle.dumps(what)
        return packed


@functools.lru_cache(maxsize=1)
def _model(packed: bytes) -> Any:
    """The model of a run, which a worker builds once for all its tasks."""
    return pickle.loads(packed)


def run(task: bytes) -> bytes:
    """Makes a part of the chains, or the settings that all have in common by a pilot. The same task gives the same bytes."""
    from saltus import _core

    what = pickle.loads(task)
    model = _model(what["model"])._core
    if what["part"] is None:
        return _core.pilot(model, what["settings"], what["evidence"], what["init"]).encode()
    first, of = what["part"]
    return _core.part(model, what["settings"], what["evidence"], what["init"], what["keeps_states"], first, of)
