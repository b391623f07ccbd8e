"""A door for D-Wave's tools: `SaltusSampler` is a `dimod.Sampler`."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Literal

import dimod
import numpy as np
from numpy.typing import NDArray

from saltus import _check, _core


class SaltusSampler(dimod.Sampler, dimod.Initialized):  # type: ignore[name-defined, misc, unused-ignore]
    """Gibbs sweeps through a schedule of inverse temperatures, with the keywords of other annealers.

    Every read is a chain; with ``beta_range=[b, b]`` its last state is a draw from exp(−b E).

    >>> import dimod
    >>> bqm = dimod.BinaryQuadraticModel({"a": 1.0}, {("a", "b"): -2.0}, 0.0, "SPIN")
    >>> result = SaltusSampler().sample(bqm, num_reads=10, seed=1)
    >>> float(result.first.energy)
    -3.0
    """

    def __init__(self) -> None:
        self._parameters: dict[str, list[str]] = {
            name: []
            for name in (
                "num_reads", "num_sweeps", "beta_range", "beta_schedule", "beta_schedule_type", "seed",
                "initial_states", "initial_states_generator", "interrupt_function",
            )
        }  # fmt: skip

    @property
    def parameters(self) -> dict[str, Any]:
        """Keywords of `sample`."""
        return dict(self._parameters)

    @property
    def properties(self) -> dict[str, Any]:
        """Schedules by name."""
        return {"beta_schedule_options": ("geometric", "linear", "custom")}

    def sample(
        self,
        bqm: Any,
        *,
        num_reads: int | None = None,
        num_sweeps: int | None = None,
        beta_range: Sequence[float] | None = None,
        beta_schedule: Sequence[float] | None = None,
        beta_schedule_type: str = "geometric",
        seed: int | None = None,
        initial_states: Any = None,
        initial_states_generator: Literal["none", "tile", "random"] = "random",
        interrupt_function: Callable[[], bool] | None = None,
        **unknown: Any,
    ) -> Any:
        """Samples a binary quadratic model; the result has the caller's vartype and labels.

        Args:
            bqm: the model.
            num_reads: number of samples [1, or as many as initial states].
            num_sweeps: sweeps of each [1000].
            beta_range: first and last inverse temperature; by default from where every flip is easy to where none is.
            beta_schedule: inverse temperatures, one per sweep, with ``beta_schedule_type="custom"``.
            beta_schedule_type: "geometric", "linear" or "custom".
            seed: seed of the random streams.
            initial_states: states to start from, as dimod takes them.
            initial_states_generator: "random", "tile" or "none", for reads without an initial state.
            interrupt_function: called between sweeps; True stops with the states as they are.
            unknown: other keywords, which are warned about and not used.
        """
        began = perf_counter()
        for name in unknown:
            warnings.warn(f"{name} is not a keyword of SaltusSampler and is not used", stacklevel=2)
        seed = secrets.randbits(32) if seed is None else _check.count("seed", seed, 0)
        spin = bqm.spin
        parsed = self.parse_initial_states(
            bqm,
            initial_states=initial_states,
            initial_states_generator=initial_states_generator,
            num_reads=None if num_reads is None else _check.count("num_reads", num_reads),
            seed=seed % (1 << 32),
        )
        if not bqm.num_variables:
            return dimod.SampleSet.from_samples_bqm([{}] * parsed.num_reads, bqm)
        labels = list(bqm.variables)
        h, (rows, columns, quadratic), _ = _vectors(spin, labels)
        betas = _schedule(h, rows, columns, quadratic, num_sweeps, beta_range, beta_schedule, beta_schedule_type)
        order = [list(parsed.initial_states.variables).index(label) for label in labels]
        starts = np.asarray(parsed.initial_states.record.sample)[:, order]
        states = _anneal((h, rows, columns, quadratic), betas, (starts > 0).astype(np.uint8), seed, interrupt_function)
        samples = states.astype(np.int8) if bqm.vartype is dimod.BINARY else (2 * states.astype(np.int8) - 1)
        info = {
            "beta_range": [float(betas[0]), float(betas[-1])],
            "beta_schedule_type": beta_schedule_type,
            "seed": seed,
            "timing": {"seconds": perf_counter() - began},
        }
        return dimod.SampleSet.from_samples_bqm((samples, labels), bqm, info=info)


def _vectors(spin: Any, labels: list[Any]) -> Any:
    """Fields, couplings and offset in the order of the labels."""
    place = {label: number for number, label in enumerate(labels)}
    h = np.array([spin.get_linear(label) for label in labels], dtype=float)
    pairs = [(place[u], place[v], float(bias)) for u, v, bias in spin.iter_quadratic()]
    table = np.array(pairs, dtype=float).reshape(-1, 3)
    return h, (table[:, 0].astype(np.uint32), table[:, 1].astype(np.uint32), table[:, 2]), float(spin.offset)


def _schedule(
    h: NDArray[np.float64],
    rows: NDArray[np.uint32],
    columns: NDArray[np.uint32],
    quadratic: NDArray[np.float64],
    num_sweeps: int | None,
    beta_range: Sequence[float] | None,
    beta_schedule: Sequence[float] | None,
    kind: str,
) -> NDArray[np.float64]:
    if kind not in ("geometric", "linear", "custom"):
        raise ValueError(_check.unknown("beta_schedule_type", str(kind), ["geometric", "linear", "custom"]))
    if kind == "custom":
        if beta_schedule is None:
            raise ValueError('beta_schedule_type="custom" needs a beta_schedule')
        betas = np.asarray(beta_schedule, dtype=float)
        if betas.ndim != 1 or not len(betas) or not np.isfinite(betas).all() or (betas < 0).any():
            raise ValueError("beta_schedule must be a list of inverse temperatures that are not negative")
        return betas
    sweeps = 1000 if num_sweeps is None else _check.count("num_sweeps", num_sweeps)
    if beta_range is None:
        # At the first every flip is accepted at least half of the time, at the last hardly any is left to make.
        each = np.abs(h)
        np.add.at(each, rows, np.abs(quadratic))
        np.add.at(each, columns, np.abs(quadratic))
        largest = 2 * each.max() or 1.0
        biases = np.abs(np.concatenate([h, quadratic]))
        smallest = 2 * biases[biases > 0].min() if (biases > 0).any() else 1.0
        beta_range = [np.log(2) / largest, np.log(100) / smallest]
    first, last = (float(beta) for beta in beta_range)
    if not (np.isfinite([first, last]).all() and first >= 0 and last >= 0):
        raise ValueError(f"beta_range must be two inverse temperatures that are not negative, got {list(beta_range)}")
    if kind == "geometric":
        if first == 0 or last == 0:
            raise ValueError('a geometric schedule cannot contain 0: use beta_schedule_type="linear"')
        return np.geomspace(first, last, sweeps)
    return np.linspace(first, last, sweeps)


def _anneal(
    parameters: Any,
    betas: NDArray[np.float64],
    starts: NDArray[np.uint8],
    seed: int,
    interrupt: Callable[[], bool] | None,
) -> NDArray[np.uint8]:
    """Sweeps of every chain through the schedule, whose equal neighbours are made together."""
    h, rows, columns, quadratic = parameters

    def model(beta: float) -> _core.Model:
        # log π = −β E.
        field, weight = -beta * h, -beta * quadratic
        return _core.Model.ising(field.astype(np.float32), rows, columns, weight.astype(np.float32))

    chains = _core.Chains(model(betas[0]), '{"sampler": "gibbs"}', len(starts), seed, init=starts)
    ends = np.flatnonzero(np.diff(betas, append=np.nan) != 0)
    states, done = starts, 0
    for end in ends:
        if interrupt is not None and interrupt():
            break
        states = chains.step(model(betas[end]), int(end) + 1 - done)
        done = int(end) + 1
    return states
