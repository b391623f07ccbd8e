"""Runs over any executor: processes, Dask, MPI, SLURM, Ray. Only ``submit(fn, task)`` and ``result()`` are needed.

All tasks must agree on the scale, or on the ladder of temperatures. So a pilot of the run's first chains finds it, and then all
chains are warmed up and drawn with what it came to. How chains are cut into tasks depends on their number alone, so that the draws are the same
bytes on any engine with any number of workers.
"""

from __future__ import annotations

import json
import math
import os
import time
from typing import Any

from saltus import _core, _result, _worker
from saltus._model import Model

#: Chains, or ladders of temperatures, of a task at least; and about as many chains has a ladder.
FEWEST, FEWEST_LADDERS, RUNGS = 25, 2, 8
#: Bytes of all tasks together, about: each has the model.
MOST_BYTES = 1 << 30


def cut(chains: int, is_tempered: bool = False, bytes_of_task: int = 0) -> list[range]:
    """The chains of every task: more tasks, and longer ones, the more chains there are. 10⁴ chains keep 200 workers busy."""
    fewest, work = (FEWEST_LADDERS, RUNGS * chains) if is_tempered else (FEWEST, chains)
    tasks = min(chains // fewest, math.isqrt(4 * work), MOST_BYTES // max(bytes_of_task, 1))
    tasks = max(1, tasks)
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
    scouts: bool,
) -> Any:
    """The result of a run whose chains were made by an executor."""
    chains = settings["chains"]
    # Workers run side by side: one thread each, unless more are asked for.
    settings = {**settings, "threads": settings["threads"] or 1}
    if store is not None and os.path.exists(store) and not replace and os.listdir(store):
        raise FileExistsError(f"{os.fspath(store)} holds a run already: replace=True replaces it")
    packed = _worker.pack(model)

    def task(first: int, count: int, part: tuple[int, int] | None) -> bytes:
        what = {"model": packed, "evidence": evidence, "keeps_states": keep != "none", "part": part}
        what["settings"] = json.dumps({**settings, "chains": count})
        what["init"] = None if init is None else init[first : first + count]
        return _worker.pack(what)

    began = time.monotonic()
    if _core.needs_pilot(model._core, json.dumps(settings), evidence):
        # Made by a worker, too: the driver may be a small machine.
        settings = json.loads(executor.submit(_worker.run, task(0, chains, None)).result())
    cuts = cut(chains, bool(settings.get("temper")), len(packed))
    futures = [executor.submit(_worker.run, task(cut.start, len(cut), (cut.start, chains))) for cut in cuts]
    parts = _core.Parts()
    try:
        # Each is taken in, and given up by the executor, while others are still being made.
        while futures:
            parts.add(futures.pop(0).result())
    except BaseException:
        for future in futures:
            getattr(future, "cancel", bool)()
        raise
    seconds = time.monotonic() - began
    raw = parts.join(model._core, json.dumps(settings), evidence, seconds, keep, store, replace, choice, scouts)
    return _result.build(raw, _result.attributes(raw))
