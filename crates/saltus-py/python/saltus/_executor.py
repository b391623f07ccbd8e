"""Runs over any executor: processes, Dask, MPI, SLURM, Ray. Only ``submit(fn, task)`` and ``result()`` are called.

All tasks must agree on the scale. So a pilot of the run's first chains tunes it, and then all chains are warmed up and drawn
with what it came to. How chains are cut into tasks depends on their number alone, so that the draws are the same
bytes on any engine with any number of workers.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import tempfile
from typing import Any

from saltus import _core, _result, _worker
from saltus._model import Model

#: Chains of the pilot, and chains of a task at least.
PILOT, FEWEST = 100, 25
#: Tasks at most: as many workers can be busy.
MOST = 64


def cut(chains: int) -> list[range]:
    """The chains of every task."""
    tasks = max(1, min(MOST, chains // FEWEST))
    return [range(number * chains // tasks, (number + 1) * chains // tasks) for number in range(tasks)]


def sample(
    executor: Any,
    model: Model,
    settings: dict[str, Any],
    *,
    evidence: list[tuple[int, int]],
    init: Any,
    keep: str,
    store: str | os.PathLike[str] | None,
    replace: bool,
) -> Any:
    """The result of a run whose chains were made by an executor."""
    chains = settings["chains"]
    # Workers run side by side: one thread each, unless more are asked for.
    settings = {**settings, "threads": settings["threads"] or 1}
    if store is not None and os.path.exists(store) and not replace and os.listdir(store):
        raise FileExistsError(f"{os.fspath(store)} holds a run already: replace=True replaces it")

    def task(first: int, count: int, pilot: bool = False, **changed: Any) -> bytes:
        what = {"model": model, "evidence": evidence, "keep": keep, "first_chain": first, "pilot": pilot}
        what["settings"] = json.dumps({**settings, "chains": count, **changed})
        what["init"] = None if init is None else init[first : first + count]
        return _worker.pack(what)

    if settings.get("scale") is None:
        pilot = executor.submit(_worker.run, task(0, min(PILOT, chains), pilot=True, draws=1, thin=1)).result()
        scale = json.loads(pickle.loads(pilot))["scale"]
        if scale is not None:
            settings["scale"] = scale
            settings.pop("target_acceptance", None)
    futures = [executor.submit(_worker.run, task(part.start, len(part))) for part in cut(chains)]
    folder = tempfile.mkdtemp(prefix="saltus-")
    try:
        parts = []
        for number, future in enumerate(futures):
            parts.append(os.path.join(folder, f"{number:04}"))
            _worker.unpack(future.result(), parts[-1])
        whole = os.path.join(folder, "whole") if store is None else store
        _core.merge_stores(parts, whole, replace)
        raw = _core.read_store(whole)
        return _result.build(raw, _result.attributes(raw))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
