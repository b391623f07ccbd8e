"""A door for PyMC: `Step` samples the discrete variables of a model, all neighbours of a state in one call.

PyMC's own samplers of discrete variables evaluate the model once for every coordinate that they try. `Step` evaluates
all states that differ in one coordinate together, by a vectorised graph, and moves many coordinates at once.
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

from saltus._chains import Chains
from saltus._model import Model


class Step(ArrayStepShared):  # type: ignore[misc, unused-ignore]
    """A step method for Bernoulli and Categorical variables: ``pm.sample(step=[saltus.pymc.Step([z])])``.

    Args:
        vars: the variables.
        sampler: a name of ``saltus.samplers()``, or "auto".
        steps: steps of the sampler per draw.
        cards: number of values of every coordinate, where they cannot be read from the distributions.
        model: the PyMC model, if not that of the context.
    """

    name = "saltus"
    stats_dtypes_shapes: Any = {"acceptance": (np.float64, []), "scale": (np.float64, [])}
    _state_class = StepMethodState

    def __init__(
        self,
        vars: Any,
        *,
        sampler: str = "auto",
        steps: int = 1,
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
        self.steps, self.sampler, self.options = steps, sampler, options
        self.cards = _cards(model, values, point) if cards is None else [int(card) for card in cards]
        shared = pymc.pytensorf.make_shared_replacements(point, values, model)
        [log_prob], raveled = pymc.pytensorf.join_nonshared_inputs(
            point=point, outputs=[model.logp()], inputs=values, shared_inputs=shared
        )
        rows = pt.matrix("rows", dtype=raveled.dtype)
        compiled = pymc.pytensorf.compile([rows], vectorize_graph(log_prob, {raveled: rows}), **(compile_kwargs or {}))
        compiled.trust_input = True
        self._rows, self._dtype = compiled, raveled.dtype
        self.tune = True
        self._chains: Chains | None = None
        self._last: NDArray[Any] | None = None
        super().__init__(values, shared, blocked=blocked, rng=rng)

    def _log_prob(self, rows: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._rows(rows.astype(self._dtype)))

    def _start(self, state: NDArray[Any], scale: float | None) -> Chains:
        model = Model.from_log_prob(self._log_prob, self.cards, name="pymc")
        options = dict(self.options) if scale is None else {**self.options, "scale": scale}
        seed = int(self.rng.integers(1 << 62))
        return Chains(model, 1, sampler=self.sampler, seed=seed, init=state, threads=1, **options)

    def astep(self, q0: RaveledVars) -> tuple[RaveledVars, list[dict[str, float]]]:
        """A step from a state; the model's other variables are what they are by now."""
        if self._chains is None or self._last is None or not np.array_equal(self._last, q0.data):
            self._chains = self._start(q0.data, None)
        state = self._chains.step(self.steps)[0].astype(q0.data.dtype)
        self._last = state
        scale = self._chains.scale
        stats = {"acceptance": self._chains.acceptance, "scale": np.nan if scale is None else scale}
        return RaveledVars(state.copy(), q0.point_map_info), [stats]

    def stop_tuning(self) -> None:
        """From here on nothing adapts."""
        if self.tune and self._chains is not None and self._last is not None:
            self._chains = self._start(self._last, self._chains.scale)
        super().stop_tuning()

    def reset_tuning(self) -> None:
        """Begins anew."""
        self.tune, self._chains, self._last = True, None, None

    def setup_chain(self, rng: Any, tune: int, draws: int) -> None:
        """Prepares for one chain of PyMC."""
        super().setup_chain(rng, tune, draws)
        self.reset_tuning()

    def set_rng(self, rng: Any) -> None:
        """The same before PyMC 6.3."""
        self.rng = pymc.util.get_random_generator(rng, copy=False)
        self.reset_tuning()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_chains": None, "_last": None}

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
