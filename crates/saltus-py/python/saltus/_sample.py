"""Runs: warm up, tune, draw, judge."""

from __future__ import annotations

import atexit
import inspect
import json
import os
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from saltus import _check, _core, _executor, _progress, _result
from saltus._chains import rows
from saltus._model import Model, restricted

#: Bytes of states that are kept in memory without being asked.
MOST_KEPT = 1 << 30
#: Ladders of temperatures, if nobody says how many.
LADDERS = 16
#: Seconds between two looks at a run, at signals and at the progress.
HEARTBEAT = 0.1

# Nobody can ask for a run any more when the interpreter ends, and it must not call functions of Python then.
atexit.register(_core.stop_all, 10.0)

Callback = Callable[[dict[str, Any]], Any]


class Run:
    """A run that goes on in a thread of its own, as ``sample(..., blocking=False)`` returns it."""

    def __init__(self, core: _core.Run, callback: Callback | None = None) -> None:
        self._core = core
        self._callback = callback
        self._broken: BaseException | None = None
        self._kept: Any = None

    @property
    def is_finished(self) -> bool:
        """Whether it has ended."""
        return self._core.is_finished

    @property
    def progress(self) -> dict[str, Any] | None:
        """Phase, steps, total_steps, acceptance, scale and ESS so far; None before the first look."""
        return self._core.progress()

    def wait(self, timeout: float | None = None) -> Any:
        """Waits for the end and returns the result; a `TimeoutError` after ``timeout`` seconds leaves the run going.

        Ctrl-C stops the run and returns what there is.
        """
        return self._wait(timeout, None)

    def _wait(self, timeout: float | None, view: _progress.View | None) -> Any:
        left = float("inf") if timeout is None else max(_check.number("timeout", timeout), 0.0)
        try:
            while not self._core.wait(min(HEARTBEAT, left)):
                left -= HEARTBEAT
                if left <= 0:
                    raise TimeoutError(f"the run has not ended within {timeout} s, and goes on")
                self._tell(view)
        except KeyboardInterrupt:
            return self.abort()
        finally:
            if view is not None:
                view.close()
        return self._result()

    def _tell(self, view: _progress.View | None) -> None:
        progress = self._core.progress()
        if progress is None:
            return
        if view is not None:
            view.show(progress)
        if self._callback is not None:
            try:
                self._callback(progress)
            except BaseException:
                self.cancel()
                raise

    def inspect(self) -> Any:
        """A copy of what was drawn so far; None of a run that goes into a store, which can be read there."""
        raw = self._core.inspect()
        return None if raw is None else _result.build(raw, {"inference_library": "saltus"})

    def pause(self) -> None:
        """Holds the chains after the steps in progress."""
        self._core.pause()

    def resume(self) -> None:
        """Goes on after a pause."""
        self._core.resume()

    def abort(self) -> Any:
        """Stops after the steps in progress and returns what there is."""
        self._core.stop()
        self._core.wait()
        return self._result()

    def cancel(self) -> None:
        """Stops, and returns nothing."""
        self._core.stop()
        self._core.wait()

    def _result(self) -> Any:
        if self._broken is not None:
            raise self._broken
        if self._kept is None:
            raw = self._core.result()
            if raw["failed"]:
                warnings.warn(raw["ended"], RuntimeWarning, stacklevel=4)
            self._kept = _result.build(raw, _result.attributes(raw))
        return self._kept

    def _watch(self) -> None:
        """Calls the callback while nobody waits."""

        def look() -> None:
            try:
                while not self._core.wait(HEARTBEAT):
                    self._tell(None)
            except BaseException as error:  # handed to whoever asks for the result
                self._broken = error

        threading.Thread(target=look, name="saltus callback", daemon=True).start()

    def __repr__(self) -> str:
        progress = self._core.progress()
        if self.is_finished:
            state = "finished"
        elif progress is None:
            state = "starting"
        else:
            state = f"{progress['phase']}, {progress['steps']}/{progress['total_steps']} steps"
        return f"<saltus.Run {'paused, ' if self._core.is_paused else ''}{state}>"

    def _repr_html_(self) -> str:
        progress = self._core.progress() or {"steps": 0, "total_steps": 1}
        bar = f'<progress value="{progress["steps"]}" max="{progress["total_steps"]}"></progress>'
        return f"{bar} {repr(self)[1:-1]}"


def sample(
    model: Model | None,
    *,
    draws: int | None = None,
    warmup: int | None = None,
    chains: int | None = None,
    sampler: str = "auto",
    seed: int | None = None,
    init: ArrayLike | Mapping[str, Any] | None = None,
    evidence: Any = None,
    one_hot: Sequence[Sequence[int]] | None = None,
    fixed_sum: int | Mapping[Sequence[int], int] | None = None,
    thin: int | None = None,
    beta: float = 1.0,
    temper: str | int | bool | None = None,
    stop: Mapping[str, float] | None = None,
    threads: int | None = None,
    keep: str | None = None,
    scouts: bool = True,
    store: str | os.PathLike[str] | None = None,
    replace: bool = False,
    resume: bool = False,
    checkpoint_every: float | None = None,
    progress: bool | None = None,
    callback: Callback | None = None,
    blocking: bool = True,
    executor: Any = None,
    **options: Any,
) -> Any:
    """Draws from a model: an `xarray.DataTree` in ArviZ's groups (a dict of arrays without xarray), with a verdict.

    The same seed gives the same draws as the command line, for any number of threads.

    Args:
        model: a `Model`; None with ``resume=True`` takes the one of the store.
        draws: kept draws of each chain [1000].
        warmup: steps before them, during which the scale is tuned [3000 where one is, else a tenth of the draws].
        chains: number of chains [100].
        sampler: a name of ``saltus.samplers()``, or "auto": the one that suits the model best by a short trial, which
            takes at most a twentieth of the warm-up, with a ladder of temperatures where chains disagree without; of a
            function, "dlmc". ``saltus.summary(result)["choice"]`` tells what was tried.
        seed: seed of all random streams; a fresh one by default, which the result names.
        init: states to start from, (chains, sites) or one for all, or an earlier result, which is gone on from.
        evidence: ``{site: value}``, or an array in which −1 and NaN are free.
        one_hot: groups of bits of which exactly one is 1, ``[[0, 1, 2], [3, 4]]``.
        fixed_sum: what all values add up to, or a dict of some, ``{(0, 1, 2): 1}``.
        thin: steps per kept draw [1, or as many as try every site once, 100 at most].
        beta: samples π^beta instead of π.
        temper: "auto" or a number of rungs makes every chain the highest rung of a ladder of temperatures, which gets
            from mode to mode; ``saltus.summary(result)["tempering"]`` tells how it went, and log Z. 16 chains by default.
        stop: rules to stop by before all draws are made: ``{"ess": 400, "rhat": 1.01, "seconds": 60}``.
        threads: threads to use; the draws do not depend on it.
        keep: "states", "bits" (in stores of two values) or "none"; by default states, if they take less than 1 GiB.
        scouts: whether short chains from far starts are sent after the run, to look for places that no chain came to.
        store: a folder to store the run in, for ArviZ, the command line and ``resume``.
        replace: whether a run that is there goes away.
        resume: goes on with the run in the store, with its own settings; more ``draws`` than it has extend it.
        checkpoint_every: seconds between two checkpoints of a store [30].
        progress: True or False shows or hides a bar; None shows one where someone watches.
        callback: called with a dict several times a second; an exception stops the run and is raised.
        blocking: False returns a `Run` at once.
        executor: anything with ``submit(fn, task).result()``: the chains are made by its workers, and the draws do not
            depend on which and how many these are. The scale is tuned on the first 100 chains, temperatures on the first
            16 ladders.
        options: weight, solver, differences, ordinal, scale, target_acceptance, as on the command line.

    >>> model = Model.ising(h=[0.2, -0.1, 0.0], J={(0, 1): 0.5, (1, 2): 0.5})
    >>> result = sample(model, draws=1000, chains=20, seed=0)
    >>> result["posterior"]["state"].shape
    (20, 1000, 3)
    """
    run = start(
        model,
        draws=draws,
        warmup=warmup,
        chains=chains,
        sampler=sampler,
        seed=seed,
        init=init,
        evidence=evidence,
        one_hot=one_hot,
        fixed_sum=fixed_sum,
        thin=thin,
        beta=beta,
        temper=temper,
        stop=stop,
        threads=threads,
        keep=keep,
        scouts=scouts,
        store=store,
        replace=replace,
        resume=resume,
        checkpoint_every=checkpoint_every,
        callback=callback,
        blocking=blocking,
        executor=executor,
        options=options,
    )
    if executor is not None:
        return run
    if blocking:
        return run._wait(None, _progress.view(progress))
    if callback is not None:
        run._watch()
    return run


#: Keywords of `sample`.
KEYWORDS = [one.name for one in inspect.signature(sample).parameters.values() if one.kind is one.KEYWORD_ONLY]


def start(
    model: Model | None,
    *,
    draws: int | None,
    warmup: int | None,
    chains: int | None,
    sampler: str,
    seed: int | None,
    init: Any,
    evidence: Any,
    one_hot: Any,
    fixed_sum: Any,
    thin: int | None,
    beta: float,
    temper: Any,
    stop: Mapping[str, float] | None,
    threads: int | None,
    keep: str | None,
    scouts: bool,
    store: str | os.PathLike[str] | None,
    replace: bool,
    resume: bool,
    checkpoint_every: float | None,
    callback: Callback | None,
    blocking: bool,
    executor: Any,
    options: dict[str, Any],
) -> Any:
    """Checks everything and starts a run; with an executor, the result."""
    for name in options:
        if name not in _check.OPTIONS:
            raise TypeError(_check.unknown("keyword", name, [*KEYWORDS, *_check.OPTIONS]))
    options = {name: value for name, value in options.items() if value is not None}
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function, got {callback!r}")
    if executor is not None:
        if not callable(getattr(executor, "submit", None)):
            raise TypeError(f"executor must have a method submit, got {type(executor).__name__}")
        for name, given in (("resume", resume), ("stop", bool(stop)), ("callback", callback is not None)):
            if given:
                raise ValueError(f"executors know no {name}: workers do not see each other's chains")
        if not blocking:
            raise ValueError("executors know no blocking=False: submit the call itself to a thread")
    if store is None:
        for name, given in (("resume", resume), ("replace", replace), ("checkpoint_every", checkpoint_every is not None)):
            if given:
                raise ValueError(f"{name} is about runs that are stored: name a folder by store=")
    if resume:
        assert store is not None
        settled = {"warmup": warmup, "chains": chains, "seed": seed, "init": init, "thin": thin, "keep": keep}
        settled.update(one_hot=one_hot, fixed_sum=fixed_sum)
        for name, value in settled.items():
            if value is not None:
                raise ValueError(f"resume=True goes on with the run's own settings: leave out {name}")
        if options or sampler != "auto" or temper is not None or beta != 1.0:
            raise ValueError("resume=True goes on with the run's own settings: leave out the sampler")
        model, settings, keep, settled_sites = _resumed(model, store, draws)
        evidence = settled_sites if evidence is None else evidence
    else:
        settings = _check.sampler(sampler, **options)
        settings["seed"] = _check.seed(seed)
        ladder, inverse = _check.ladder(temper), _check.inverse_temperature(beta)
        settings.update({"temper": ladder} if ladder else {}, **({"beta": inverse} if inverse else {}))
        few = LADDERS if ladder else 100
        settings["draws"] = 1000 if draws is None else _check.count("draws", draws)
        settings["chains"] = few if chains is None else _check.count("chains", chains)
        warmup = None if warmup is None else _check.count("warmup", warmup, 0)
        thin = None if thin is None else _check.count("thin", thin)
        settings.update(_rules(stop))
    if not isinstance(model, Model):
        kind = type(model).__name__
        raise TypeError(f"model must be a saltus.Model, got {kind}: Model.from_log_prob makes one of a function")
    fixed = _check.evidence(evidence, model)
    model = restricted(model, one_hot, fixed_sum)
    choice = None
    if not resume:
        # What nobody chose suits the sampler and the model.
        if sampler == "auto" and not options and not model._is_of_functions():
            settings["warmup"] = 3000 if warmup is None else warmup
            chosen, choice = _core.choose(model._core, json.dumps(settings), fixed)
            settings = json.loads(chosen)
            if chains is None and settings.get("temper"):
                settings["chains"] = LADDERS
        settings["warmup"], settings["thin"] = model._core.steps(json.dumps(settings), fixed, warmup, thin)
    settings["threads"] = _check.threads(threads)
    if checkpoint_every is not None:
        checkpoint_every = _check.number("checkpoint_every", checkpoint_every, 0)
    if keep is not None and keep not in ("none", "states", "bits"):
        raise ValueError(_check.unknown("keep", str(keep), ["none", "states", "bits"]))
    made = settings["chains"] * settings["draws"]
    _check.fits(f"{settings['chains']} chains of {model.sites} sites", settings["chains"], model.sites + 500)
    if store is None and not stop:
        _check.fits(f"{made} draws without a store", made, 64 + (model.sites if keep in ("states", "bits") else 0))
    if keep is None:
        size = settings["chains"] * settings["draws"] * model.sites
        keep = "states" if size <= MOST_KEPT and store is None else "none"
    starts = None
    if init is not None:
        if hasattr(init, "attrs"):
            init = np.asarray(init["last"]["state"])
        if one_hot is not None:
            raise ValueError("init cannot be given beside one_hot: chains start from states that keep the groups")
        starts = rows(_check.values("init", init, model.cards), settings["chains"])
    if executor is not None:
        return _executor.sample(
            executor,
            model,
            settings,
            evidence=fixed,
            init=starts,
            keep=keep,
            store=store,
            replace=replace,
            choice=choice,
            scouts=bool(scouts),
        )
    core = _core.Run(
        model._core,
        json.dumps(settings),
        evidence=fixed,
        init=starts,
        keep=keep,
        store=store,
        replace=replace,
        resume=resume,
        checkpoint_every=checkpoint_every,
        choice=choice,
        scouts=bool(scouts),
    )
    return Run(core, callback)


def load(path: str | os.PathLike[str]) -> Any:
    """The result of a stored run, judged anew.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = sample(Model("bernoulli", sites=5), draws=20, chains=3, seed=1, store=folder)
    ...     float(load(folder)["sample_stats"]["lp"].mean()) == float(result["sample_stats"]["lp"].mean())
    True
    """
    raw = _core.read_store(path)
    return _result.build(raw, _result.attributes(raw))


def _resumed(
    model: Model | None, store: str | os.PathLike[str], draws: int | None
) -> tuple[Model, dict[str, Any], str, dict[int, int]]:
    description = json.loads(_core.describe_store(store))
    config = description["config"] or {}
    if any(config.get(more) for more in ("observe", "marginals", "best", "part")):
        where = os.fspath(store)
        raise ValueError(f"{where} observes more than Python knows: `saltus sample --resume {where}` goes on with it")
    settings: dict[str, Any] = description["settings"]
    if draws is not None and _check.count("draws", draws) > description["draws"]:
        settings.update(draws=draws, until_ess=None, until_rhat=None)
    if model is None:
        model = Model.from_store(store)
    else:
        sums = [(sum["total"], sum["sites"]) for sum in config.get("sums", [])]
        model = Model._restricted(model, config.get("one_hot", []), sums)
    return model, settings, description["keep"], dict(config.get("evidence", []))


def _rules(stop: Mapping[str, float] | None) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    if stop is not None and not isinstance(stop, Mapping):
        raise TypeError(f"stop must be a dict of rules, as {{'ess': 400}}, got {stop!r}")
    for name, value in (stop or {}).items():
        number = _check.number(f"stop[{name!r}]", value)
        if name == "seconds":
            if not 0 <= number < 1e12:
                raise ValueError(f"seconds must be positive, got {value}")
            rules["time_limit"] = {"secs": int(number), "nanos": int((number % 1) * 1e9)}
        elif name in ("ess", "rhat"):
            rules[f"until_{name}"] = number
        else:
            raise ValueError(_check.unknown("rule to stop by", str(name), ["ess", "rhat", "seconds"]))
    return rules


def compare(
    model: Model,
    samplers: Sequence[str] = ("rwm", "gwg", "pas", "dmala", "dlmc"),
    **settings: Any,
) -> list[dict[str, Any]]:
    """Runs several samplers on one model: a row for each with its effective draws per second and per evaluation.

    >>> rows = compare(Model("bernoulli", sites=50), ["rwm", "dlmc"], draws=4000, warmup=300, chains=5, seed=0)
    >>> rows[0]["sampler"], rows[1]["ess_per_evaluation"] > rows[0]["ess_per_evaluation"]
    ('rwm', True)
    """
    if isinstance(samplers, str) or not hasattr(samplers, "__iter__"):
        raise TypeError(f"samplers must be a list of names, got {samplers!r}")
    columns = ["sampler", "acceptance", "scale", "rhat", "ess_per_second", "ess_per_evaluation", "converged"]
    settings = {"keep": "none", "seed": 0, **settings}
    numbers = [_result.summary(sample(model, sampler=name, **settings)) for name in samplers]
    return [{column: one[column] for column in columns} for one in numbers]
