"""Functions of users as saltus calls them: log π, and what is known of its changes, of a block of all chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from saltus import _check

Function = Callable[[Any], Any]


def functions(
    fn: Function,
    cards: int | Sequence[int] | NDArray[Any],
    *,
    sites: int | None,
    grad: str | Function,
    delta: Function | None,
    backend: str,
    one_hot: bool | None,
    dtype: str | None,
) -> dict[str, Any]:
    """What the compiled part is given."""
    if not callable(fn):
        raise TypeError(f"fn must be a function of states, got {fn!r}")
    if delta is not None and not callable(delta):
        raise TypeError(f"delta must be a function of states, got {delta!r}")
    if not isinstance(grad, str) and not callable(grad):
        raise TypeError(f"grad must be 'auto', 'exact' or a function of states, got {grad!r}")
    numbers = _cards(cards, sites)
    if backend not in ("numpy", "torch", "jax"):
        raise ValueError(_check.unknown("backend", str(backend), ["numpy", "torch", "jax"]))
    if isinstance(grad, str) and grad not in ("auto", "exact"):
        raise ValueError(_check.unknown("grad", grad, ["auto", "exact"]))
    automatic = grad == "auto" and backend != "numpy" and delta is None
    most = max(numbers)
    if one_hot is None:
        one_hot = automatic and most > 2
    make = {"numpy": _numpy, "torch": _torch, "jax": _jax}[backend]
    if dtype is None:
        dtype = "int64" if backend == "numpy" and not one_hot else "float32"
        if one_hot:
            dtype = "uint8"
        elif backend != "numpy" and not automatic and most > 2:
            dtype = "int64"
    elif not isinstance(dtype, str):
        try:
            dtype = np.dtype(dtype).name
        except TypeError:
            raise TypeError(f"dtype must name a type of numbers, got {dtype!r}") from None
    own = grad if callable(grad) else None
    value, gradient, changes = make(fn, own, delta, automatic, most if one_hot else None)
    return {"cards": numbers, "value": value, "dtype": dtype, "gradient": gradient, "delta": changes}


def _cards(cards: int | Sequence[int] | NDArray[Any], sites: int | None) -> list[int]:
    if np.ndim(cards) == 0:
        card = _check.count("cards", cards)
        if sites is None:
            raise TypeError("cards is one number: sites must say for how many")
        number = _check.count("sites", sites)
        _check.fits(f"{number} sites", number, 100)
        return [card] * number
    numbers = [_check.count("cards", number) for number in _check.array_of("cards", cards).reshape(-1)]
    if not numbers:
        raise ValueError("cards is empty: a model needs at least one site")
    if sites is not None and sites != len(numbers):
        raise ValueError(f"cards has {len(numbers)} entries, but sites is {sites}")
    return numbers


Made = tuple[Function, "Function | None", "Function | None"]


def _indicators(X: NDArray[Any], values: int) -> NDArray[np.float32]:
    table: NDArray[np.float32] = np.equal(X[..., None], np.arange(values)).astype(np.float32)
    return table


def _numpy(fn: Function, grad: Function | None, delta: Function | None, _: bool, values: int | None) -> Made:
    def shown(X: NDArray[Any]) -> NDArray[Any]:
        return X if values is None else _indicators(X, values)

    value = fn if values is None else lambda X: fn(shown(X))
    gradient = None if grad is None else lambda X: (fn(Y := shown(X)), grad(Y))
    changes = None if delta is None else lambda X: (fn(Y := shown(X)), delta(Y))
    return value, gradient, changes


def _jax(fn: Function, grad: Function | None, delta: Function | None, automatic: bool, values: int | None) -> Made:
    import jax
    import jax.numpy as jnp

    def shown(X: Any) -> Any:
        return X if values is None else jax.nn.one_hot(X, values, dtype=jnp.float32)

    def of_rows(X: Any) -> Any:
        return fn(shown(X))

    def total(Y: Any) -> Any:
        log_prob = fn(Y)
        return log_prob.sum(), log_prob

    def by_derivative(X: Any) -> Any:
        (_, log_prob), table = jax.value_and_grad(total, has_aux=True)(shown(X))
        return log_prob, table

    compiled = jax.jit(of_rows)

    def value(X: NDArray[Any]) -> NDArray[Any]:
        # Shapes are rounded up to powers of two beyond the usual, so that little is compiled.
        rows = len(X)
        padded = 1 << (rows - 1).bit_length() if rows > 1024 else rows
        if padded > rows:
            X = np.concatenate([X, np.broadcast_to(X[:1], (padded - rows, *X.shape[1:]))])
        return np.asarray(compiled(X))[:rows]

    def both(function: Function) -> Function:
        compiled = jax.jit(function)

        def call(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
            log_prob, table = compiled(X)
            return np.asarray(log_prob), np.asarray(table)

        return call

    gradient = None
    if automatic:
        gradient = both(by_derivative)
    elif grad is not None:
        gradient = both(lambda X: (of_rows(X), grad(shown(X))))
    changes = None if delta is None else both(lambda X: (of_rows(X), delta(shown(X))))
    return value, gradient, changes


def _torch(fn: Function, grad: Function | None, delta: Function | None, automatic: bool, values: int | None) -> Made:
    import torch  # pyright: ignore[reportMissingImports]

    def shown(X: NDArray[Any]) -> Any:
        tensor = torch.from_numpy(X)
        return tensor if values is None else torch.nn.functional.one_hot(tensor.long(), values).float()

    def plain(tensor: Any) -> Any:
        # What is no tensor is told of by whoever reads the answer.
        return tensor.detach().cpu().numpy() if isinstance(tensor, torch.Tensor) else tensor

    def value(X: NDArray[Any]) -> NDArray[Any]:
        with torch.no_grad():
            answer: NDArray[Any] = plain(fn(shown(X)))
            return answer

    def by_derivative(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        with torch.enable_grad():
            Y = shown(X).requires_grad_(True)
            log_prob = fn(Y)
            if not isinstance(log_prob, torch.Tensor):
                raise TypeError(f"the log probabilities of a model's function must be a tensor, got {type(log_prob).__name__}")
            if not log_prob.requires_grad:
                raise TypeError("torch sees no way from the rows to log π to differentiate along: grad='exact' needs none")
            (table,) = torch.autograd.grad(log_prob.sum(), Y)
        return plain(log_prob), plain(table)

    def both(function: Function) -> Function:
        def call(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
            with torch.no_grad():
                Y = shown(X)
                return plain(fn(Y)), plain(function(Y))

        return call

    gradient = by_derivative if automatic else None if grad is None else both(grad)
    return value, gradient, None if delta is None else both(delta)


def _array(what: str, answer: Any) -> NDArray[Any]:
    array = np.asarray(answer)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} must be real numbers, got {array.dtype} ({type(answer).__name__})")
    return array


def as_log_prob(answer: Any, rows: int) -> NDArray[np.float64]:
    """An answer of the user's function as one double per row, or what is wrong with it."""
    array = _array("the log probabilities of a model's function", answer)
    if array.shape != (rows,):
        raise ValueError(
            f"a model's function must give one log probability per row, shape ({rows},), got shape {array.shape}"
        )
    return array.astype(np.float64)


def as_table(answer: Any, rows: int, sites: int, values: int, is_gradient: bool) -> NDArray[Any]:
    """A table of derivatives or changes as floats, or what is wrong with it."""
    what = "the gradient" if is_gradient else "the table of changes"
    array = _array(what, answer)
    flat = values == 2 and array.shape == (rows, sites)
    if not flat and array.shape != (rows, sites, values):
        wanted = f"({rows}, {sites}, {values})" + (f" or ({rows}, {sites})" if values == 2 else "")
        raise ValueError(f"{what} must have shape {wanted}, got {array.shape}")
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
