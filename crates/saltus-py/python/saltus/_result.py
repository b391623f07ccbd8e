"""What a run left: arrays in ArviZ's groups with a verdict, as `xarray.DataTree` where xarray is installed."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

#: Observables that describe the step and not the state.
STATISTICS = {"log_prob": "lp", "weight": "weight"}


def build(raw: Mapping[str, Any], attributes: Mapping[str, Any]) -> Any:
    """A tree (or dict) of what the compiled part returns."""
    groups = _groups(raw)
    if _has_trees():
        return _tree_class()._from_groups(groups, attributes)
    plain = {name: {key: array for key, (_, array) in group.items()} for name, group in groups.items()}
    return Draws(plain, attributes)


def _has_trees() -> bool:
    try:
        import xarray
    except ImportError:
        return False
    return hasattr(xarray, "DataTree")


def _groups(raw: Mapping[str, Any]) -> dict[str, dict[str, tuple[tuple[str, ...], Any]]]:
    drawn = ("chain", "draw")
    posterior: dict[str, tuple[tuple[str, ...], Any]] = {}
    statistics: dict[str, tuple[tuple[str, ...], Any]] = {}
    if raw["states"] is not None:
        posterior["state"] = ((*drawn, "site"), raw["states"])
    for name, array in raw["observables"].items():
        if name in STATISTICS:
            statistics[STATISTICS[name]] = (drawn, array)
        else:
            posterior[name] = (drawn, array)
    for name, array in raw["statistics"].items():
        statistics[name] = (drawn, array)
    groups = {"posterior": posterior, "sample_stats": statistics}
    if "warmup" in raw:
        groups["warmup"] = {name: (("round",), array) for name, array in raw["warmup"].items()}
    if "last_states" in raw:
        groups["last"] = {"state": (("chain", "site"), raw["last_states"])}
    if "site_means" in raw:
        groups["sites"] = {"mean": (("site",), raw["site_means"])}
    return groups


def attributes(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of a run besides its arrays, as text that any file keeps."""
    from saltus import _core

    summary = json.loads(raw["summary"])
    told = zip(summary["findings"], raw["findings"])
    findings = [{**finding, "sentence": sentence} for finding, (_, sentence) in told]
    return {
        "inference_library": "saltus",
        "inference_library_version": _core.__version__,
        "model": summary["model"],
        "description": summary.get("description", ""),
        "sampler": summary["sampler"],
        "seed": str(raw["seed"]),
        "ended": raw["ended"],
        "verdict": _words(raw, summary),
        "findings": json.dumps(findings),
        "summary": raw["summary"],
    }


def _words(raw: Mapping[str, Any], summary: Mapping[str, Any]) -> str:
    lines = [
        f"{summary['description']}: {summary['sampler']}, {summary['chains']} chains × {summary['draws']} draws, "
        f"acceptance {summary['acceptance']:.2f}, {summary['seconds']['warmup'] + summary['seconds']['draws']:.1f} s"
    ]
    lines += [f"  fine: {sentence}" for sentence in raw["fine"]]
    lines += [f"  {code}: {sentence}" for code, sentence in raw["findings"]]
    return "\n".join(lines)


def _told(result: Any, what: str) -> Any:
    attributes = getattr(result, "attrs", {})
    if what not in attributes:
        raise TypeError(f"result must be that of a run of saltus, got {type(result).__name__}")
    return attributes[what]


def verdict(result: Any) -> str:
    """What a run shows about itself, in words.

    >>> import saltus
    >>> result = saltus.sample(saltus.Model("bernoulli", sites=20), draws=500, chains=10, seed=0)
    >>> print(saltus.verdict(result).splitlines()[1])
      fine: every chain moved
    """
    return str(_told(result, "verdict"))


def findings(result: Any) -> list[dict[str, Any]]:
    """What deserves attention: a list of ``{"code": …, "sentence": …}`` with stable codes; empty if nothing does."""
    found: list[dict[str, Any]] = json.loads(_told(result, "findings"))
    return found


def summary(result: Any) -> dict[str, Any]:
    """The numbers of a run: the object that ``saltus sample --json`` prints."""
    numbers: dict[str, Any] = json.loads(_told(result, "summary"))
    return numbers


def page(result: Any, inner: str = "") -> str:
    """The verdict as HTML, before something else."""
    warns = bool(findings(result))
    colour = "#b3541e" if warns else "#2e7d32"
    text = html.escape(verdict(result))
    return f'<pre style="border-left:4px solid {colour};padding-left:.7em;white-space:pre-wrap">{text}</pre>{inner}'


class Draws(dict):  # type: ignore[type-arg]
    """The groups of a run as dicts of numpy arrays, where xarray is not installed; ``attrs`` as a tree has."""

    attrs: dict[str, Any]

    def __init__(self, groups: Mapping[str, Mapping[str, Any]], attrs: Mapping[str, Any]) -> None:
        super().__init__(groups)
        self.attrs = dict(attrs)

    def __repr__(self) -> str:
        shapes = {group: {name: np.shape(array) for name, array in arrays.items()} for group, arrays in self.items()}
        return f"<saltus.Draws {shapes}>"

    def _repr_html_(self) -> str:
        return page(self, f"<pre>{html.escape(repr(self))}</pre>") if "verdict" in self.attrs else ""


_TREE: Any = None


def _tree_class() -> Any:
    """A DataTree that shows its verdict; made once, when xarray is first needed."""
    global _TREE
    if _TREE is None:
        import xarray

        class DataTree(xarray.DataTree):
            """`xarray.DataTree` of a run, with its verdict on top."""

            __slots__ = ()

            @classmethod
            def _from_groups(cls, groups: Mapping[str, Any], attrs: Mapping[str, Any]) -> Any:
                nodes = {}
                library = {key: value for key, value in attrs.items() if key.startswith("inference_library")}
                for name, arrays in groups.items():
                    coordinates = {
                        dimension: np.arange(length)
                        for dimensions, array in arrays.values()
                        for dimension, length in zip(dimensions, array.shape)
                        if dimension in ("chain", "draw")
                    }
                    nodes["/" + name] = xarray.Dataset(arrays, coords=coordinates, attrs=library)
                nodes["/"] = xarray.Dataset(attrs=dict(attrs))
                return cls.from_dict(nodes)

            def _repr_html_(self) -> str:
                inner = super()._repr_html_()
                return page(self, inner) if "verdict" in self.attrs else inner

        _TREE = DataTree
    return _TREE
