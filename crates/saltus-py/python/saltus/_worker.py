"""A part of a run's chains in a process of its own: what an executor is given to do."""

from __future__ import annotations

import io
import os
import pickle
import tarfile
import tempfile
from typing import Any


def pack(task: dict[str, Any]) -> bytes:
    """A task as bytes: functions of users that have no importable name by cloudpickle, where it is installed."""
    try:
        return pickle.dumps(task)
    except (pickle.PicklingError, AttributeError, TypeError):
        try:
            import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]
        except ImportError:
            raise TypeError(
                "the model's function cannot be sent to other processes: define it in a module, or install cloudpickle"
            ) from None
        packed: bytes = cloudpickle.dumps(task)
        return packed


def run(task: bytes) -> bytes:
    """Runs a part of the chains and returns its store, or the settings of all by a pilot. The same task gives the same bytes."""
    from saltus import _core

    what = pickle.loads(task)
    if what["pilot"]:
        return pickle.dumps(_core.pilot(what["model"]._core, what["settings"], what["evidence"], what["init"]))
    arguments = {name: what[name] for name in ("evidence", "init", "keep", "part", "choice")}
    with tempfile.TemporaryDirectory(prefix="saltus-") as folder:
        store = os.path.join(folder, "part")
        part = _core.Run(what["model"]._core, what["settings"], store=store, **arguments)
        part.wait()
        part.check_part()
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as tar:
            tar.add(store, arcname=".")
        return packed.getvalue()


def unpack(packed: bytes, folder: str) -> None:
    """Puts a store where it can be read."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:
            tar.extractall(folder)
