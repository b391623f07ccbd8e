"""Chains that persist while their model changes: for training loops."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus import _check, _core
from saltus._model import Model


class Chains:
    """Persistent chains of a model: `step` moves them under the model as it is by then.

    >>> model = Model.ising(h=np.zeros(10), J={})
    >>> chains = Chains(model, 100, seed=1)
    >>> for field in (0.5, 1.0, 1.5):
    ...     model.update(h=np.full(10, field))
    ...     states = chains.step(20)
    <saltus.Model ising: Ising model of 10 spins, 0 couplings; 10 sites of 2 values>
    <saltus.Model ising: Ising model of 10 spins, 0 couplings; 10 sites of 2 values>
    <saltus.Model ising: Ising model of 10 spins, 0 couplings; 10 sites of 2 values>
    >>> bool(states.mean() > 0.9)
    True
    """

    def __init__(
        self,
        model: Model,
        chains: int = 100,
        *,
        sampler: str = "auto",
        seed: int | None = None,
        init: ArrayLike | None = None,
        evidence: Any = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"model must be a saltus.Model, got {type(model).__name__}")
        for name in options:
            if name not in _check.OPTIONS:
                known = ["chains", "sampler", "seed", "init", "evidence", "threads", *_check.OPTIONS]
                raise TypeError(_check.unknown("keyword", name, known))
        self.model = model
        self.seed = _check.seed(seed)
        chosen = json.dumps(_check.sampler(sampler, **options))
        count = _check.count("chains", chains)
        _check.fits(f"{count} chains of {model.sites} sites", count, model.sites + 500)
        starts = None if init is None else rows(_check.values("init", init, model.cards), count)
        self._core = _core.Chains(
            model._core,
            chosen,
            count,
            self.seed,
            evidence=_check.evidence(evidence, model),
            init=starts,
            threads=_check.threads(threads),
        )

    def step(self, steps: int = 1) -> NDArray[np.uint8]:
        """Makes steps of every chain and returns their states (chains, sites). The scale follows the acceptance."""
        return self._core.step(self.model._core, _check.count("steps", steps, 0))

    @property
    def acceptance(self) -> float:
        """Mean acceptance of the latest steps."""
        return self._core.acceptance

    @property
    def scale(self) -> float | None:
        """The scale of the next steps, if the sampler has one."""
        return self._core.scale


def rows(states: NDArray[np.uint8], chains: int) -> NDArray[np.uint8]:
    """One state for every chain: a single one serves all."""
    if len(states) == 1:
        return np.repeat(states, chains, axis=0)
    if len(states) != chains:
        raise ValueError(f"init must have a row for each of {chains} chains, or one for all, got {len(states)}")
    return states
