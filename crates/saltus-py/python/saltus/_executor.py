"""Runs over any executor: processes, Dask, MPI, SLURM, Ray. Only ``submit(fn, task)`` and ``result()`` are called.

All tasks must agree on the scale, or on the ladder of temperatures. So a pilot of the run's first chains finds it, and then all
chains are warmed up and drawn with what it came to. How chains are cut into tasks depends on their number alone, so that the draws are the same
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

#: Chains, or ladders of temperatures, of a task at least.
FEWEST, FEWEST_LADDERS = 25, 2
#: Tasks at most: as many workers can be busy.
MOST = 64


def cut(chains: int, is_tempered: bool = False) -> list[range]:
    """The chains of every task."""
    tasks = max(1, min(MOST, chains // (FEWEST_LADDERS if is_tempered else FEWEST)))
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
    choice: str | None,
) -> Any:
    """The result of a run whose chains were made by an executor."""
    chains = settings["chains"]
    # Workers run side by side: one thread each, unless more are asked for.
    settings = {**settings, "threads": settings["threads"] or 1}
    if store is not None and os.path.exists(store) and not replace and os.listdir(store):
        raise FileExistsError(f"{os.fspath(store)} holds a run already: replace=True replaces it")

    def task(first: int, count: int, pilot: bool = False) -> bytes:
        what = {"model": model, "evidence": evidence, "keep": keep, "part": first, "pilot": pilot}
        what["settings"] = json.dumps({**settings, "chains": count})
        what["init"] = None if init is None else init[first : first + count]
        what["choice"] = choice
        return _worker.pack(what)

    # Made by a worker, too: the driver may be a small machine.
    pilot = executor.submit(_worker.run, task(0, chains, pilot=True)).result()
    settings = json.loads(pickle.loads(pilot))
    parts = cut(chains, is_tempered=bool(settings.get("temper")))
    futures = [executor.submit(_worker.run, task(part.start, len(part))) for part in parts]
    folder = tempfile.mkdtemp(prefix="saltus-")
    try:
        stores = []
        for number, future in enumerate(futures):
            stores.append(os.path.join(folder, f"{number:04}"))
            _worker.unpack(future.result(), stores[-1])
        if store is not None:
            _core.merge_stores(stores, store, replace)
        raw = _core.read_stores(stores)
        return _result.build(raw, _result.attributes(raw))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
