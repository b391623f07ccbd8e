"""Answers that are no draws: log Z, exact numbers, the best states."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus import _check, _core, _result
from saltus._model import Model, restricted
from saltus._sample import sample


@dataclass(frozen=True)
class LogZ:
    """log Z of a model, with what is known of its error."""

    value: float
    #: Standard error.
    se: float | None
    #: log Z lies between these, but for chance.
    lower: float | None
    upper: float | None
    #: Rung by rung: inverse temperatures, how often neighbours did not swap, the barrier, round trips.
    table: dict[str, Any] = field(repr=False)

    def __float__(self) -> float:
        return self.value


def log_z(
    model: Model,
    *,
    chains: int = 16,
    warmup: int = 1000,
    draws: int = 2000,
    sampler: str = "auto",
    beta: float = 1.0,
    rungs: int | None = None,
    seed: int | None = None,
    evidence: Any = None,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> LogZ:
    """The logarithm of Σ e^(log π) over all states, by a ladder of temperatures (non-reversible parallel tempering).

    ``chains`` ladders make ``warmup`` scans, in which temperatures and scales are found, and ``draws`` more that count.
    ``sampler="auto"`` is the likeliest for the model: sw, layers, gibbs or dlmc.

    >>> model = Model.ising(h=[0.0] * 4, J={(0, 1): 1.0, (1, 2): 1.0, (2, 3): 1.0, (3, 0): 1.0})
    >>> found = log_z(model, seed=0)
    >>> exactly = exact(model).log_z
    >>> abs(found.value - exactly) < 5 * found.se
    True
    """
    _model(model)
    if sampler == "auto":
        whole = restricted(model, options.get("one_hot"), options.get("fixed_sum"))
        sampler = whole._core.path_sampler(_check.evidence(evidence, model))
    result = sample(
        model,
        draws=draws,
        warmup=warmup,
        chains=chains,
        sampler=sampler,
        beta=beta,
        temper="auto" if rungs is None else _check.count("rungs", rungs, 2),
        seed=seed,
        evidence=evidence,
        threads=threads,
        keep="none",
        progress=progress,
        **options,
    )
    table = _result.summary(result).get("tempering")
    if table is None:
        raise RuntimeError(f"log Z was not found: {result.attrs['ended']}")
    return LogZ(table["log_z"], table["log_z_se"], table["log_z_lower"], table["log_z_upper"], table)


@dataclass(frozen=True)
class Exact:
    """Exact answers."""

    log_z: float
    #: A row of probabilities for every site.
    marginals: list[NDArray[np.float64]] = field(repr=False)
    #: The likeliest state, and its log π (not normalised).
    map: NDArray[np.uint8] = field(repr=False)
    map_log_prob: float
    #: "enumeration" or "elimination".
    method: str
    #: Independent draws, if any were asked for.
    draws: NDArray[np.uint8] = field(repr=False)


def exact(
    model: Model, *, evidence: Any = None, one_hot: Any = None, fixed_sum: Any = None, draws: int = 0, seed: int = 0
) -> Exact:
    """log Z, marginals, the likeliest state and independent draws, where enumeration or elimination can.

    >>> found = exact(Model.factors([2, 3], [([0, 1], [[1, 2, 3], [0, 4, 0]])]))
    >>> round(float(np.exp(found.log_z)), 9), found.map
    (10.0, array([1, 1], dtype=uint8))
    """
    _model(model)
    fixed = _check.evidence(evidence, model)
    model = restricted(model, one_hot, fixed_sum)
    count = _check.count("draws", draws, 0)
    _check.fits(f"{count} draws of {model.sites} sites", count, 4 * model.sites)
    found = json.loads(_core.exact(model._core, fixed, count, _check.count("seed", seed, 0)))
    return Exact(
        log_z=found["log_z"],
        marginals=[np.array(row) for row in found["marginals"]],
        map=np.array(found["map"]["state"], dtype=np.uint8),
        map_log_prob=found["map"]["log_prob"],
        method=found["method"],
        draws=np.array(found["draws"], dtype=np.uint8).reshape(count, model.sites),
    )


@dataclass(frozen=True)
class Minimum:
    """The best states that were found, the very best first."""

    #: (states, sites)
    states: NDArray[np.uint8] = field(repr=False)
    #: −log π of each.
    energies: NDArray[np.float64]
    #: How many coolings ended with each.
    hits: NDArray[np.int64]
    #: What was done: coolings, sweeps, betas, seconds, seconds_to_best, ended.
    trace: dict[str, Any] = field(repr=False)


def minimize(
    model: Model,
    *,
    method: str = "anneal",
    chains: int | None = None,
    sweeps: int = 1000,
    seconds: float | None = None,
    sampler: str = "auto",
    betas: tuple[float, float] | None = None,
    states: int = 10,
    seed: int | None = None,
    evidence: Any = None,
    one_hot: Any = None,
    fixed_sum: Any = None,
    threads: int | None = None,
    **options: Any,
) -> Minimum:
    """The states of largest log π, the smallest energies −log π, with any sampler.

    By ``method="anneal"`` one cooling of 32 chains in ``sweeps`` steps, or with ``seconds`` as many as the time allows, each twice as long as
    the one before; ``"reheat"`` goes on from the best states, as hot as where the specific heat peaks; ``"temper"`` keeps what the coldest rungs of 4
    ladders of temperatures come to.

    >>> found = minimize(Model.ising(h=[0, 0, 0], J={(0, 1): -1, (1, 2): -1, (0, 2): -1}), seed=0)
    >>> float(found.energies[0])
    -1.0
    """
    _model(model)
    fixed = _check.evidence(evidence, model)
    model = restricted(model, one_hot, fixed_sum)
    if sampler == "auto":
        sampler = model._core.path_sampler(fixed)
    for name in options:
        raise TypeError(_check.unknown("keyword", name, MINIMIZE))
    if method not in ("anneal", "reheat", "temper"):
        raise ValueError(f"method must be 'anneal', 'reheat' or 'temper', got {method!r}")
    if betas is not None and (not isinstance(betas, (tuple, list)) or len(betas) != 2):
        raise TypeError(f"betas must be the first and the last inverse temperature, got {betas!r}")
    number = _check.count("chains", chains if chains is not None else 4 if method == "temper" else 32)
    _check.fits(f"{number} chains of {model.sites} sites", number, model.sites + 500)
    found = json.loads(
        _core.minimize(
            model._core,
            json.dumps(_check.sampler(sampler)),
            evidence=fixed,
            chains=number,
            sweeps=_check.count("sweeps", sweeps),
            seconds=None if seconds is None else min(_check.number("seconds", seconds, 0), 1e9),
            seed=_check.seed(seed),
            threads=_check.threads(threads),
            betas=None if betas is None else (_check.number("betas[0]", betas[0]), _check.number("betas[1]", betas[1])),
            states=_check.count("states", states),
            method=method,
        )
    )
    best = found.pop("states")
    return Minimum(
        states=np.array([one["state"] for one in best], dtype=np.uint8),
        energies=np.array([one["energy"] for one in best]),
        hits=np.array([one["count"] for one in best], dtype=np.int64),
        trace=found,
    )


#: Keywords of `minimize`.
MINIMIZE = [one.name for one in inspect.signature(minimize).parameters.values() if one.kind is one.KEYWORD_ONLY]


def _model(model: Any) -> None:
    if not isinstance(model, Model):
        raise TypeError(f"model must be a saltus.Model, got {type(model).__name__}")
