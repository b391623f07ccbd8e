"""Arguments that are not what they should be, in sentences."""

from __future__ import annotations

import difflib
import math
import operator
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from saltus import _core

if TYPE_CHECKING:
    from saltus._model import Model


def unknown(kind: str, given: str, known: Iterable[str]) -> str:
    """A sentence about a name that does not exist, with the nearest one that does."""
    names = list(known)
    near = difflib.get_close_matches(given, names, n=1)
    hint = f": did you mean {near[0]!r}?" if near else ""
    return f"unknown {kind} {given!r}{hint} (known: {', '.join(names)})"


def count(name: str, value: Any, least: int = 1, end: int = 1 << 63) -> int:
    """A whole number of at least ``least``."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {value!r}") from None
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if whole < least:
        raise ValueError(f"{name} must be at least {least}, got {whole}")
    if whole >= end:
        raise ValueError(f"{name} is more than can be counted, got {whole}")
    return whole


def number(name: str, value: Any, least: float = -math.inf) -> float:
    """A finite number above ``least``."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(found):
        raise ValueError(f"{name} must be {'positive and ' if least == 0 else ''}finite, got {value}")
    if found <= least:
        raise ValueError(f"{name} must be {'positive' if least == 0 else f'above {least:g}'}, got {value}")
    return found


def fits(what: str, count: int, each: int) -> None:
    """Fails if so many of so many bytes cannot be in memory: asking for them would end the interpreter."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return
    if count * each > memory:
        raise ValueError(f"{what} need {count * each / 2**30:.3g} GiB of memory, there are {memory / 2**30:.3g} GiB")


def array_of(name: str, value: Any, what: str = "numbers") -> NDArray[Any]:
    """An array of numbers of any kind."""
    if hasattr(value, "toarray"):
        value = value.toarray()
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be an array, its rows are of different lengths") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold {what}, got {array.dtype}")
    return array


def numbers(name: str, value: Any, dimensions: tuple[int, ...]) -> NDArray[np.float32]:
    """An array of finite numbers with one of those numbers of dimensions."""
    array = array_of(name, value)
    if array.ndim not in dimensions:
        wanted = " or ".join(str(dimension) for dimension in dimensions)
        plural = "" if dimensions == (1,) else "s"
        raise ValueError(f"{name} must have {wanted} dimension{plural}, got shape {array.shape}")
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(array, dtype=np.float32)
    if not np.isfinite(single).all():
        raise ValueError(f"{name} holds NaN, or a number that is infinite in single precision")
    return single


def values(name: str, value: Any, cards: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Rows of states whose values exist."""
    array = array_of(name, value, "whole numbers")
    if array.shape[-1:] != cards.shape or array.ndim not in (1, 2):
        raise ValueError(f"{name} must have shape (chains, {len(cards)}), got {array.shape}")
    array = np.atleast_2d(array)
    wrong = ~((array >= 0) & (array < cards) & (array == np.floor(array)))
    if wrong.any():
        row, site = np.argwhere(wrong)[0]
        raise ValueError(
            f"{name} has value {array[row, site]} at site {site}, whose values go from 0 to {cards[site] - 1}"
        )
    return np.ascontiguousarray(array, dtype=np.uint8)


def evidence(given: Any, model: Model) -> list[tuple[int, int]]:
    """Fixed sites from ``{site: value}``, as the model's file names them or counted from 0, or from an array in which −1
    and NaN are free."""
    cards = model.cards
    if given is None:
        return []
    if isinstance(given, Mapping):
        places = model._core.places([(_word(site), _word(value)) for site, value in given.items()])
        pairs = places if places is not None else [
            (count("a site", site, 0), count("a value", value, 0)) for site, value in given.items()
        ]
    else:
        try:
            array = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise TypeError(f"evidence must be a dict of sites and values, or an array of numbers, got {given!r}") from None
        if array.shape != cards.shape:
            raise ValueError(f"evidence must have shape {cards.shape}, got {array.shape}")
        known = ~(np.isnan(array) | (array == -1))
        pairs = [(int(site), count("a value", _whole(array[site]), 0)) for site in np.flatnonzero(known)]
    for site, value in pairs:
        if site >= len(cards):
            raise ValueError(f"site {site} cannot be fixed: the last site is {len(cards) - 1}")
        if value >= cards[site]:
            raise ValueError(f"site {site} cannot be fixed at {value}: its last value is {cards[site] - 1}")
    return pairs


def _word(given: Any) -> str:
    """What a site or a value is called: a name, or a number as it is written."""
    try:
        return given if isinstance(given, str) else str(operator.index(given))
    except TypeError:
        return str(given)


def _whole(value: float) -> int:
    if not float(value).is_integer():
        raise ValueError(f"evidence must hold whole numbers, got {value}")
    return int(value)


def sampler(
    name: str,
    *,
    weight: str | None = None,
    solver: str | None = None,
    differences: str | None = None,
    ordinal: float | None = None,
    scale: float | None = None,
    target_acceptance: float | None = None,
) -> dict[str, Any]:
    """A sampler as stores keep it."""
    known = [method for method, _ in _core.samplers()]
    if name == "auto":
        name = "dlmc"
    if name not in known:
        raise ValueError(unknown("sampler", str(name), ["auto", *known]))
    choices = {
        "weight": (weight, ("sqrt", "ratio", "min", "max", "sum")),
        "solver": (solver, ("interpolate", "euler", "exact")),
        "differences": (differences, ("taylor", "exact")),
    }
    chosen: dict[str, Any] = {"sampler": name}
    for option, (word, allowed) in choices.items():
        if word is not None:
            if word not in allowed:
                raise ValueError(unknown(option, str(word), allowed))
            chosen[option] = word
    if ordinal is not None:
        chosen["closeness"] = {"Ordinal": {"length": number("ordinal", ordinal)}}
    for option, value in (("scale", scale), ("target_acceptance", target_acceptance)):
        if value is not None:
            chosen[option] = number(option, value)
    return chosen


#: Keywords of `sampler`.
OPTIONS = ("weight", "solver", "differences", "ordinal", "scale", "target_acceptance")


def seed(given: int | None) -> int:
    """As asked, else a fresh one."""
    import secrets

    return secrets.randbits(32) if given is None else count("seed", given, 0, 1 << 64)


def inverse_temperature(given: float) -> float | None:
    """A positive number; none for one, which is the model itself."""
    beta = number("beta", given, 0)
    return None if beta == 1 else beta


def ladder(given: Any) -> dict[str, int | None] | None:
    """A ladder of temperatures from ``temper=``: "auto" or True, or a number of rungs."""
    if given is None or given is False:
        return None
    if given is True or given == "auto":
        return {"rungs": None}
    if isinstance(given, str):
        raise ValueError(f"temper must be 'auto' or a number of rungs, got {given!r}")
    return {"rungs": count("temper", given, 2)}


def threads(given: int | None) -> int | None:
    """As asked, else as SLURM or RAYON_NUM_THREADS say, else what the process may use."""
    if given is not None:
        return count("threads", given)
    for name in ("SLURM_CPUS_PER_TASK", "RAYON_NUM_THREADS"):
        text = os.environ.get(name, "")
        if text.isdigit() and int(text) > 0:
            return int(text)
    return None
