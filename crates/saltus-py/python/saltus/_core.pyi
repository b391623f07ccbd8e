"""The compiled part of saltus; use the package ``saltus`` instead."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__version__: str

def models() -> list[tuple[str, str]]: ...
def samplers() -> list[tuple[str, str]]: ...
def choose(model: Model, settings: str, evidence: Sequence[tuple[int, int]]) -> tuple[str, str]: ...
def needs_pilot(model: Model, settings: str, evidence: Sequence[tuple[int, int]]) -> bool: ...
def pilot(
    model: Model, settings: str, evidence: Sequence[tuple[int, int]], init: NDArray[np.uint8] | None = None
) -> str: ...
def part(
    model: Model,
    settings: str,
    evidence: Sequence[tuple[int, int]],
    init: NDArray[np.uint8] | None,
    keeps_states: bool,
    first: int,
    of: int,
) -> bytes: ...
def stop_all(seconds: float) -> None: ...
def describe_store(path: str | PathLike[str]) -> str: ...
def read_store(path: str | PathLike[str]) -> dict[str, Any]: ...
def exact(model: Model, evidence: Sequence[tuple[int, int]], draws: int, seed: int) -> str: ...
def minimize(
    model: Model,
    sampler: str,
    *,
    evidence: Sequence[tuple[int, int]] = ...,
    chains: int = 32,
    sweeps: int = 1000,
    seconds: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    betas: tuple[float, float] | None = None,
    states: int = 10,
    method: str = "anneal",
) -> str: ...

@final
class Model:
    @staticmethod
    def from_spec(spec: str, seed: int) -> Model: ...
    def restricted(self, one_hot: Sequence[Sequence[int]], sums: Sequence[tuple[int, Sequence[int]]]) -> Model: ...
    def steps(
        self, settings: str, evidence: Sequence[tuple[int, int]], warmup: int | None, thin: int | None
    ) -> tuple[int, int]: ...
    @staticmethod
    def ising(
        field: NDArray[np.float32],
        from_: NDArray[np.uint32],
        to: NDArray[np.uint32],
        weight: NDArray[np.float32],
        /,
    ) -> Model: ...
    @staticmethod
    def potts(
        values: int,
        field: NDArray[np.float32],
        from_: NDArray[np.uint32],
        to: NDArray[np.uint32],
        weight: NDArray[np.float32],
        /,
    ) -> Model: ...
    @staticmethod
    def factors(
        cards: Sequence[int], tables: Sequence[tuple[Sequence[int], NDArray[np.float64]]], words: str
    ) -> Model: ...
    @staticmethod
    def polynomial(sites: int, terms: Sequence[tuple[Sequence[int], float]], spins: bool) -> Model: ...
    @staticmethod
    def rbm(
        values: int,
        weight: NDArray[np.float32],
        hidden_bias: NDArray[np.float32],
        visible_bias: NDArray[np.float32],
        data_mean: NDArray[np.float32] | None = None,
    ) -> Model: ...
    @staticmethod
    def from_functions(
        cards: Sequence[int],
        value: Callable[[Any], Any],
        dtype: str,
        gradient: Callable[[Any], Any] | None = None,
        delta: Callable[[Any], Any] | None = None,
        name: str = "own",
    ) -> Model: ...
    @property
    def sites(self) -> int: ...
    @property
    def cards(self) -> list[int]: ...
    def places(self, pairs: list[tuple[str, str]]) -> list[tuple[int, int]] | None: ...
    @property
    def shape(self) -> list[int] | None: ...
    def path_sampler(self, evidence: Sequence[tuple[int, int]]) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def words(self) -> str: ...
    def log_prob(self, states: NDArray[np.uint8]) -> NDArray[np.float64]: ...
    def differences(self, states: NDArray[np.uint8], exact: bool) -> NDArray[np.float32]: ...

@final
class Run:
    def __new__(
        cls,
        model: Model,
        settings: str,
        *,
        evidence: Sequence[tuple[int, int]] = ...,
        init: NDArray[np.uint8] | None = None,
        keep: str = "states",
        store: str | PathLike[str] | None = None,
        replace: bool = False,
        resume: bool = False,
        checkpoint_every: float | None = None,
        choice: str | None = None,
        scouts: bool = True,
    ) -> Run: ...
    def wait(self, timeout: float | None = None) -> bool: ...
    @property
    def is_finished(self) -> bool: ...
    @property
    def is_paused(self) -> bool: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def stop(self) -> None: ...
    def progress(self) -> dict[str, Any] | None: ...
    def inspect(self) -> dict[str, Any] | None: ...
    def result(self) -> dict[str, Any]: ...

@final
class Parts:
    def __new__(cls) -> Parts: ...
    def add(self, part: bytes) -> None: ...
    def join(
        self,
        model: Model,
        settings: str,
        evidence: Sequence[tuple[int, int]],
        seconds: float,
        keep: str,
        store: str | PathLike[str] | None = None,
        replace: bool = False,
        choice: str | None = None,
        scouts: bool = True,
    ) -> dict[str, Any]: ...

@final
class Chains:
    def __new__(
        cls,
        model: Model,
        sampler: str,
        chains: int,
        seed: int,
        *,
        evidence: Sequence[tuple[int, int]] = ...,
        init: NDArray[np.uint8] | None = None,
        threads: int | None = None,
    ) -> Chains: ...
    def step(self, model: Model, steps: int) -> NDArray[np.uint8]: ...
    @property
    def acceptance(self) -> float: ...
    @property
    def scale(self) -> float | None: ...
