"""A door for PyMC: `Step` samples the discrete variables of a model, many coordinates with one evaluation.

PyMC's own samplers of discrete variables evaluate the model once for every coordinate that they try. `Step` first looks around,
at all states that differ in one coordinate, by a sampler of saltus; from what it sees it learns how likely each value is, and
then proposes values of many coordinates at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pymc
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.blocking import RaveledVars
from pymc.step_methods.arraystep import ArrayStepShared
from pymc.step_methods.compound import Competence, StepMethodState
from pytensor.graph.replace import vectorize_graph

from saltus import _check
from saltus._chains import Chains
from saltus._model import Model

#: Looks around, which cost an evaluation per coordinate and value: so many at first, and then one in so many calls.
LOOKS, EVERY = 20, 20
#: The least probability that a value is proposed with, as a share of 1/values.
FLOOR = 0.02
#: How often proposals should be accepted; fewer coordinates are tried at once until they are.
ACCEPTANCE = 0.3
#: A draw makes as many proposals as try every coordinate so many times, and have one of them accepted.
SWEEPS = 4.0


class Marginals:
    """Proposals from what each coordinate is likely to be by itself: random coordinates are drawn anew from a table.

    The table is the mean, over states that were looked at, of the probabilities of a coordinate's values given all others. Which
    coordinates are drawn does not depend on the state, so that π(y) q(x) / (π(x) q(y)) is the ratio of Metropolis and
    Hastings. Both the table and the share of coordinates are fixed once tuning is over.
    """

    def __init__(self, cards: NDArray[np.int64]) -> None:
        self.cards, self.sites, self.values = cards, len(cards), int(cards.max())
        self.exists = np.arange(self.values) < cards[:, None]
        self.seen, self.steps, self.share, self.acceptance = 0, 0, 1.0, ACCEPTANCE
        self.table = self.exists / cards[:, None]
        self._prepare()

    def look(self, changes: NDArray[Any]) -> None:
        """Takes in by how much log π changes with every value of every coordinate."""
        with np.errstate(under="ignore"):
            chances = np.where(self.exists, np.exp(changes - changes.max(axis=1, keepdims=True)), 0.0)
        chances /= chances.sum(axis=1, keepdims=True)
        # Later looks count more: the first ones are on the way.
        self.seen += 1
        self.table = self.table + (chances - self.table) * 2 / (self.seen + 1)
        self._prepare()

    def _prepare(self) -> None:
        least = FLOOR / self.cards[:, None]
        table = np.where(self.exists, (1 - FLOOR) * self.table + least, 0.0)
        table /= table.sum(axis=1, keepdims=True)
        self.edges = np.cumsum(table, axis=1)[:, :-1]
        self.log = np.log(np.where(self.exists, table, 1.0))

    def step(self, state: NDArray[Any], log_prob: float, of_row: Any, rng: Any, tune: bool) -> tuple[NDArray[Any], float]:
        """One proposal, accepted or not."""
        chosen = np.flatnonzero(rng.random(self.sites) < self.share)
        proposed = (rng.random(len(chosen))[:, None] >= self.edges[chosen]).sum(axis=1)
        proposed = np.minimum(proposed, self.cards[chosen] - 1)
        differs = proposed != state[chosen]
        sites, to = chosen[differs], proposed[differs]
        accepted = 1.0
        if len(sites):
            there = state.copy()
            there[sites] = to
            log_there = of_row(there)
            ratio = log_there - log_prob + (self.log[sites, state[sites]] - self.log[sites, to]).sum()
            # What is not a number is not accepted.
            accepted = float(np.exp(min(ratio, 0.0))) if ratio > -700 else 0.0
            if rng.random() < accepted:
                state, log_prob = there, log_there
        if tune and len(sites):
            self.steps += 1
            gain = self.steps**-0.6
            self.share = float(np.clip(self.share * np.exp(gain * (accepted - ACCEPTANCE)), 1 / self.sites, 1.0))
            self.acceptance += 0.02 * (accepted - self.acceptance)
        self.last = accepted
        return state, log_prob

    @property
    def proposals(self) -> int:
        """How many a draw makes."""
        return int(np.clip(np.ceil(SWEEPS / (self.share * max(self.acceptance, 1e-3))), 1, self.sites))


class Step(ArrayStepShared):  # type: ignore[misc, unused-ignore]
    """A step method for Bernoulli and Categorical variables: ``pm.sample(step=[saltus.pymc.Step([z])])``.

    Args:
        vars: the variables.
        sampler: a name of ``saltus.samplers()``, which then makes every step; with "auto" one of them looks around, and proposals
            from what it saw make most steps.
        steps: steps of the sampler, or proposals, per draw; by default as many as make draws worth about one each.
        cards: number of values of every coordinate, where they cannot be read from the distributions.
        model: the PyMC model, if not that of the context.
    """

    name = "saltus"
    stats_dtypes_shapes: Any = {"acceptance": (np.float64, []), "scale": (np.float64, [])}
    _state_class = StepMethodState
    _chains: Chains | None
    _last: Any
    #: States that were looked at last, and by how much log π changes around them.
    _seen: list[tuple[NDArray[Any], NDArray[np.float64]]]
    _marginals: Marginals

    def __init__(
        self,
        vars: Any,
        *,
        sampler: str = "auto",
        steps: int | None = None,
        cards: Any = None,
        model: Any = None,
        rng: Any = None,
        initial_point: Any = None,
        compile_kwargs: dict[str, Any] | None = None,
        blocked: bool = True,
        **options: Any,
    ) -> None:
        model = pymc.modelcontext(model)
        given = list(vars) if isinstance(vars, (list, tuple)) else [vars]
        values = pymc.util.get_value_vars_from_user_vars(given, model)
        point = model.initial_point() if initial_point is None else initial_point
        # What is wrong shall be told now, not while PyMC samples.
        _check.sampler(sampler, **options)
        self.steps = None if steps is None else _check.count("steps", steps)
        self.sampler, self.options = sampler, options
        self.cards = _cards(model, values, point) if cards is None else [_check.count("cards", card) for card in cards]
        shared = pymc.pytensorf.make_shared_replacements(point, values, model)
        [log_prob], raveled = pymc.pytensorf.join_nonshared_inputs(
            point=point, outputs=[model.logp()], inputs=values, shared_inputs=shared
        )
        rows = pt.matrix("rows", dtype=raveled.dtype)
        compiled = pymc.pytensorf.compile([rows], vectorize_graph(log_prob, {raveled: rows}), **(compile_kwargs or {}))
        compiled.trust_input = True
        self._rows, self._dtype = compiled, raveled.dtype
        # Where nothing else moves, what was found of a state stays true.
        self._alone = not shared
        self.reset_tuning()
        super().__init__(values, shared, blocked=blocked, rng=rng)

    def _log_prob(self, rows: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._rows(rows.astype(self._dtype)))

    def _of_row(self, state: NDArray[Any]) -> float:
        return float(self._log_prob(state[None])[0])

    def _changes(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        """By how much log π changes with every value of every coordinate, of the only row there is; the latest are remembered."""
        [row] = rows
        for at, (seen, table) in enumerate(self._seen):
            if self._alone and np.array_equal(seen, row):
                self._seen.append(self._seen.pop(at))
                return table[None]
        places = np.arange(max(self.cards))
        sites, values = np.nonzero((places < np.array(self.cards)[:, None]) & (places != row[:, None]))
        others = np.repeat(rows, len(sites), axis=0)
        others[np.arange(len(sites)), sites] = values
        log_prob = self._log_prob(np.concatenate([rows, others]))
        table = np.full((len(row), len(places)), -np.inf)
        table[np.arange(len(row)), row] = 0.0
        table[sites, values] = log_prob[1:] - log_prob[0]
        self._seen = [*self._seen[-1:], (row.copy(), table)]
        return table[None]

    def _start(self, state: NDArray[Any], scale: float | None) -> Chains:
        model = Model.from_log_prob(self._log_prob, self.cards, delta=self._changes, name="pymc")
        options = dict(self.options) if scale is None else {**self.options, "scale": scale}
        seed = int(self.rng.integers(1 << 62))
        return Chains(model, 1, sampler=self.sampler, seed=seed, init=state, threads=1, **options)

    def astep(self, q0: RaveledVars) -> tuple[RaveledVars, list[dict[str, float]]]:
        """A step from a state; the model's other variables are what they are by now."""
        state = q0.data
        looks = self.sampler != "auto" or self._calls % EVERY == 0 or (self.tune and self._calls < LOOKS)
        # Tables of few looks say nothing: a short tuning leaves all steps to the sampler.
        looks = looks or self._marginals.seen < LOOKS // 5
        self._calls += 1
        if looks:
            state, acceptance, scale = self._look(state)
        else:
            marginals, log_prob, accepted = self._marginals, self._of_row(state), 0.0
            count = marginals.proposals if self.steps is None else self.steps
            for _ in range(count):
                state, log_prob = marginals.step(state, log_prob, self._of_row, self.rng, self.tune)
                accepted += marginals.last
            acceptance, scale = accepted / count, marginals.share
        stats = {"acceptance": acceptance, "scale": scale}
        return RaveledVars(state.copy(), q0.point_map_info), [stats]

    def _look(self, state: NDArray[Any]) -> tuple[NDArray[Any], float, float]:
        """A step of the sampler, which sees what every change would do."""
        if self._chains is None or not np.array_equal(self._last, state):
            scale = None if self._chains is None else self._chains.scale
            self._chains = self._start(state, scale)
        moved = self._chains.step(self.steps if self.sampler != "auto" and self.steps else 1)[0].astype(state.dtype)
        self._last = moved
        for seen, table in self._seen:
            if self.tune and np.array_equal(seen, moved):
                self._marginals.look(table)
        scale = self._chains.scale
        return moved, self._chains.acceptance, np.nan if scale is None else scale

    def stop_tuning(self) -> None:
        """From here on nothing adapts."""
        if self.tune and self._chains is not None:
            self._chains = self._start(self._last, self._chains.scale)
        super().stop_tuning()

    def reset_tuning(self) -> None:
        """Begins anew."""
        self.tune, self._calls = True, 0
        self._chains, self._last, self._seen = None, None, []
        self._marginals = Marginals(np.array(self.cards))

    def setup_chain(self, rng: Any, tune: int, draws: int) -> None:
        """Prepares for one chain of PyMC."""
        super().setup_chain(rng, tune, draws)
        self.reset_tuning()

    def set_rng(self, rng: Any) -> None:
        """The same before PyMC 6.3."""
        self.rng = pymc.util.get_random_generator(rng, copy=False)
        self.reset_tuning()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_chains": None, "_last": None, "_seen": []}

    @staticmethod
    def competence(var: Any, has_grad: bool = False) -> Competence:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Not chosen unless asked for."""
        return Competence.COMPATIBLE if _values_of(var) else Competence.INCOMPATIBLE


def _values_of(var: Any) -> Any:
    """The number of values of a random variable, as a graph or a number; None if it has none."""
    kind = type(getattr(var.owner, "op", None)).__name__
    if kind == "BernoulliRV":
        return 2
    return var.owner.inputs[-1].shape[-1] if kind == "CategoricalRV" else None


def _cards(model: Any, values: Any, point: Any) -> list[int]:
    cards: list[int] = []
    for value in values:
        number = _values_of(model.values_to_rvs[value])
        if number is None:
            raise ValueError(f"{value.name} is neither Bernoulli nor Categorical: pass cards=")
        if not isinstance(number, int):
            number = int(model.compile_fn(number, inputs=[], point_fn=False)())
        cards += [number] * int(np.size(point[value.name]))
    return cards
