"""What is sampled: models by name, from arrays, from files and from functions."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from saltus import _check, _core
from saltus._core import Model as Core


class Model:
    """A distribution over states: rows of small whole numbers.

    ``Model(name, **options)`` is a model of the registry (``saltus.models()`` names them) with the options of the
    command line; ``seed`` is that of random parameters.

    >>> Model("potts", size="8x8", values=3, coupling=0.5)
    <saltus.Model potts: Potts model on a 8x8 lattice, coupling 0.5 and no field; 64 sites of 3 values>
    """

    _core: Core
    _build: Callable[..., Core] | None
    _parameters: dict[str, Any]
    #: Letters of the values, if they have any.
    _alphabet: str | None = None
    #: How it was made, to be made again in another process.
    _made: tuple[Callable[..., Core], tuple[Any, ...], dict[str, Any]]

    def __init__(self, name: str, *, seed: int = 0, **options: Any) -> None:
        known = [model for model, _ in _core.models()]
        if name not in known:
            raise ValueError(_check.unknown("model", str(name), known))
        plain = {option: _plain(option, value) for option, value in options.items() if value is not None}
        count = _check.count("seed", seed, 0)
        self._core = _by_name(name, plain, count)
        self._build, self._parameters = None, {}
        self._made = (_by_name, (name, plain, count), {})

    @classmethod
    def _of(cls, make: Callable[..., Core], *arguments: Any, **parameters: Any) -> Model:
        model = cls.__new__(cls)
        model._core = make(*arguments, **parameters)
        model._build, model._parameters = (None, {}) if arguments else (make, parameters)
        model._made = (make, arguments, parameters)
        return model

    def _is_of_functions(self) -> bool:
        """Whether it calls functions of Python."""
        make, arguments, _ = self._made
        return arguments[0]._is_of_functions() if make is _of_groups else make is _function

    def __reduce__(self) -> Any:
        make, arguments, parameters = self._made
        if self._build is not None:
            parameters = self._parameters
        return _again, (make, arguments, parameters, self._alphabet)

    @classmethod
    def ising(cls, h: ArrayLike, J: Any) -> Model:
        """Spins s = ±1 with log π = Σ J[i, j] s[i] s[j] + Σ h[i] s[i], each pair counted once.

        ``J`` is a matrix (symmetric or triangular, dense or of scipy) or a dict ``{(i, j): coupling}``. States are 0
        for −1 and 1 for +1.

        >>> model = Model.ising(h=[0.0, 0.5, 0.0], J={(0, 1): 1.0, (1, 2): -1.0})
        >>> model.log_prob([[1, 1, 0]])
        array([2.5])
        """
        return cls._of(_ising, h=h, J=J)

    @classmethod
    def potts(cls, h: ArrayLike, J: Any, *, alphabet: str | None = None) -> Model:
        """Sites of q values with log π = Σ J[i, j](x[i], x[j]) + Σ h[i, x[i]], each pair counted once.

        ``h`` has shape (sites, q). ``J`` has a table for every pair: shape (sites, sites, q, q) or, as adabmDCA keeps it,
        (sites, q, sites, q), symmetric or with one half zero, or a dict ``{(i, j): table of shape (q, q)}``. A matrix
        (sites, sites), or a dict of numbers, couples equal values alone: J[i, j] δ(x[i], x[j]). ``alphabet`` has a letter
        for every value, for `letters`.

        >>> model = Model.potts(h=np.zeros((2, 3)), J={(0, 1): [[0, 1, 0], [0, 0, 0], [2, 0, 0]]}, alphabet="-AC")
        >>> model.log_prob([[0, 1], [2, 0]])
        array([1., 2.])
        >>> model.letters([[0, 1], [2, 0]])
        ['-A', 'C-']
        """
        model = cls._of(_potts, h=h, J=J)
        if alphabet is not None:
            most = int(model.cards.max())
            if not isinstance(alphabet, str) or len(alphabet) != most:
                raise ValueError(f"alphabet must have {most} letters, one for every value, got {alphabet!r}")
            model._alphabet = alphabet
        return model

    @classmethod
    def factors(
        cls,
        cards: Sequence[int] | NDArray[Any],
        factors: Sequence[tuple[Sequence[int], ArrayLike]],
        *,
        log: bool = False,
    ) -> Model:
        """A product of tables: ``(scope, table)`` gives the sites of a table, whose shape is that of their values.

        Tables hold potentials, which are not negative; 0 forbids. With ``log=True`` they hold logarithms.

        >>> rain, wet = ([0], [0.8, 0.2]), ([0, 1], [[0.9, 0.1], [0.1, 0.9]])
        >>> import saltus
        >>> saltus.exact(Model.factors([2, 2], [rain, wet]), evidence={1: 1}).marginals[0].round(4)
        array([0.3077, 0.6923])
        """
        return cls._of(_factors, cards=cards, factors=factors, log=log)

    @classmethod
    def polynomial(cls, terms: Mapping[Sequence[int], float], *, sites: int | None = None, vartype: str = "SPIN") -> Model:
        """log π = Σ c Π v over spins v = ±1, or over bits with ``vartype="BINARY"``; ``terms`` is ``{(i, j, k): c}``.

        >>> Model.polynomial({(0, 1, 2): 0.5, (): 1.0}).log_prob([[1, 0, 0], [0, 1, 1]])
        array([1.5, 0.5])
        """
        return cls._of(_polynomial, terms=terms, sites=sites, vartype=vartype)

    def letters(self, states: ArrayLike) -> list[str]:
        """States as words of the model's ``alphabet``."""
        if self._alphabet is None:
            raise TypeError("the model has no alphabet: Model.potts(..., alphabet=...) gives it one")
        rows = _check.values("states", states, self.cards)
        table = np.array(list(self._alphabet))
        return ["".join(row) for row in table[rows]]

    @classmethod
    def rbm(cls, W: ArrayLike, a: ArrayLike, b: ArrayLike, *, data_mean: ArrayLike | None = None) -> Model:
        """A restricted Boltzmann machine: weights ``W`` (hidden, visible), or (hidden, visible, values) with more than
        two values, visible biases ``a``, hidden biases ``b``. Chains start from ``data_mean`` if there is one.

        >>> Model.rbm(W=np.zeros((3, 5)), a=np.zeros(5), b=np.zeros(3)).sites
        5
        """
        return cls._of(_rbm, W=W, a=a, b=b, data_mean=data_mean)

    @classmethod
    def from_bqm(cls, bqm: Any, *, beta: float = 1.0) -> Model:
        """log π = −beta · E of a `dimod.BinaryQuadraticModel`; sites are in the order of ``bqm.variables``."""
        from saltus import dimod

        if not hasattr(bqm, "spin"):
            raise TypeError(f"bqm must be a dimod.BinaryQuadraticModel, got {type(bqm).__name__}")
        h, (rows, columns, quadratic), _ = dimod._vectors(bqm.spin, list(bqm.variables))
        pairs = {(int(i), int(j)): -beta * weight for i, j, weight in zip(rows, columns, quadratic)}
        return cls.ising(-beta * h, pairs)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> Model:
        """A model in a file of any format that the command line reads; ``format=`` names it where content is not enough."""
        name = os.fspath(path)
        if not os.path.exists(name):
            raise FileNotFoundError(f"{name} does not exist")
        return cls("file", path=name, **options)

    @classmethod
    def from_store(cls, path: str | os.PathLike[str]) -> Model:
        """The model of a stored run, if it is one of the registry."""
        config = json.loads(_core.describe_store(path))["config"]
        if not config:
            raise ValueError(f"{os.fspath(path)} does not say from what its model is built: pass the model")
        model = cls._of(_core.Model.from_spec, json.dumps(config["model"]), config["model_seed"])
        sums = [(sum["total"], sum["sites"]) for sum in config.get("sums", [])]
        return model._restricted(config.get("one_hot", []), sums)

    def _restricted(self, one_hot: list[list[int]], sums: list[tuple[int, list[int]]]) -> Model:
        """The model of states that keep these groups and sums."""
        return Model._of(_of_groups, self, one_hot, sums) if one_hot or sums else self

    @classmethod
    def from_log_prob(
        cls,
        fn: Callable[[Any], Any],
        cards: int | Sequence[int] | NDArray[Any],
        *,
        sites: int | None = None,
        grad: str | Callable[[Any], Any] = "auto",
        delta: Callable[[Any], Any] | None = None,
        backend: str = "numpy",
        one_hot: bool | None = None,
        dtype: str | None = None,
        name: str = "own",
    ) -> Model:
        """Any function: ``fn(X)`` gives log π, up to a constant, of every row of X, which has all chains at once.

        ``cards`` has the number of values of every site, or is one number for ``sites`` sites. What samplers know of
        changes comes from

        * ``delta(X)``: shape (rows, sites, values), by how much log π changes if a site takes a value; for bits
          (rows, sites) will do, the changes by flips;
        * ``grad(X)``: derivatives by the indicators of values (rows, sites, values), or by bits (rows, sites);
        * ``grad="auto"``: automatic derivatives with ``backend="torch"`` or ``"jax"``;
        * ``grad="exact"`` (and ``"auto"`` with numpy): changed states are evaluated, many at once.

        X holds whole numbers (int64) with numpy, else float32: bits as they are, values one-hot (rows, sites, values).
        ``one_hot`` and ``dtype`` choose otherwise. A row of −inf is forbidden; NaN stops the run.

        >>> def log_prob(X):
        ...     return 0.5 * (X[:, 1:] == X[:, :-1]).sum(axis=1)
        >>> model = Model.from_log_prob(log_prob, cards=[2, 3, 2, 4])
        >>> model.log_prob([[0, 0, 1, 1]])
        array([1.])
        """
        given = {"sites": sites, "grad": grad, "delta": delta, "backend": backend, "one_hot": one_hot, "dtype": dtype}
        return cls._of(_function, fn, cards, name, tuple(given.items()))

    def update(self, **parameters: Any) -> Model:
        """Gives a model of arrays other parameters, in place: ``model.update(J=J)``. `Chains` go on from where they are.

        >>> model = Model.ising(h=[0.0, 0.0], J={(0, 1): 1.0})
        >>> model.update(h=[1.0, 0.0]).log_prob([[1, 1]])
        array([2.])
        """
        if self._build is None:
            raise TypeError(f"{self._core.name} has no parameters to update: only models made from arrays have")
        for name in parameters:
            if name not in self._parameters:
                raise TypeError(_check.unknown("parameter", name, self._parameters))
        merged = {**self._parameters, **parameters}
        core = self._build(**merged)
        if core.cards != self._core.cards:
            raise ValueError(f"the model has {self.sites} sites and keeps its values, got {core.sites}")
        self._core, self._parameters = core, merged
        return self

    @property
    def name(self) -> str:
        """Its name."""
        return self._core.name

    @property
    def sites(self) -> int:
        """Number of sites."""
        return self._core.sites

    @property
    def cards(self) -> NDArray[np.int64]:
        """Number of values of every site."""
        return np.array(self._core.cards, dtype=np.int64)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """How the sites are arranged, if they are: rows and columns of a lattice."""
        shape = self._core.shape
        return None if shape is None else tuple(shape)

    def log_prob(self, states: ArrayLike) -> NDArray[np.float64]:
        """log π of every row, up to a constant."""
        return self._core.log_prob(_check.values("states", states, self.cards))

    def differences(self, states: ArrayLike, *, exact: bool = False) -> NDArray[np.float32]:
        """By how much log π would change if a site took a value, as samplers see it.

        Of shape (rows, sites) for bits, the changes by flips; else (rows, values, sites), with −inf for values that a
        site does not have.
        """
        table = self._core.differences(_check.values("states", states, self.cards), exact)
        most = int(self.cards.max())
        return table if most == 2 else table.reshape(len(table), most, self.sites)

    def __repr__(self) -> str:
        cards = self.cards
        values = str(cards[0]) if (cards == cards[0]).all() else f"{cards.min()} to {cards.max()}"
        return f"<saltus.Model {self.name}: {self._core.words}; {self.sites} sites of {values} values>"


def _again(
    make: Callable[..., Core], arguments: tuple[Any, ...], parameters: dict[str, Any], alphabet: str | None
) -> Model:
    model = Model._of(make, *arguments, **parameters)
    model._alphabet = alphabet
    return model


def _of_groups(model: Model, one_hot: list[list[int]], sums: list[tuple[int, list[int]]]) -> Core:
    return model._core.restricted(one_hot, sums)


def restricted(model: Model, one_hot: Any, fixed_sum: Any) -> Model:
    """The model of states in which each of some groups of bits has exactly one that is set, and in which sums are fixed."""
    groups, sums = [], []
    if one_hot is not None:
        if isinstance(one_hot, (str, bytes)) or not hasattr(one_hot, "__iter__"):
            raise TypeError(f"one_hot must be a list of groups of sites, as [[0, 1], [2, 3]], got {one_hot!r}")
        groups = [_sites("a group of one_hot", group) for group in one_hot]
    if isinstance(fixed_sum, Mapping):
        sums = [
            (_check.count("a fixed sum", total, 0), _sites("a key of fixed_sum", sites)) for sites, total in fixed_sum.items()
        ]
        if not all(sites for _, sites in sums):
            raise ValueError("a key of fixed_sum names no sites")
    elif fixed_sum is not None:
        sums = [(_check.count("fixed_sum", fixed_sum, 0), [])]
    for site in (site for sites in [*groups, *(of for _, of in sums)] for site in sites):
        if site >= model.sites:
            raise ValueError(f"there is no site {site}: the last site is {model.sites - 1}")
    return model._restricted(groups, sums)


def _function(fn: Callable[[Any], Any], cards: Any, name: str, given: tuple[tuple[str, Any], ...]) -> Core:
    from saltus import _energy

    return _core.Model.from_functions(**_energy.functions(fn, cards, **dict(given)), name=name)


def _by_name(name: str, options: Mapping[str, Any], seed: int) -> Core:
    """A model of the registry; an unknown option is a TypeError with the nearest name."""
    try:
        return _core.Model.from_spec(json.dumps({name: options}), seed)
    except ValueError as error:
        found = re.match(r"unknown (field|variant) `(.*?)`, expected (.*?) at line", str(error))
        if found:
            kind, given, expected = found.groups()
            known = re.findall(r"`(.*?)`", expected)
            if kind == "field":
                raise TypeError(_check.unknown(f"option of {name}", given, known)) from None
            raise ValueError(_check.unknown(f"value of an option of {name}", given, known)) from None
        sentence = re.sub(r" at line 1 column \d+$", "", str(error)).replace("--format", "format=")
        raise ValueError(sentence) from None


def _plain(option: str, value: Any) -> Any:
    """An option as the registry reads it: numbers, words, paths; sizes also as ``8`` and ``(8, 8)``."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.generic):
        value = value.item()
    if option == "size" and not isinstance(value, str):
        lengths = value if isinstance(value, (tuple, list)) else [value]
        return "x".join(str(_check.count("size", length)) for length in lengths)
    if not isinstance(value, (bool, int, float, str)):
        raise TypeError(f"{option} must be a number or a word, got {value!r}")
    return _check.number(option, value) if isinstance(value, float) else value


def _sites(name: str, scope: Any) -> list[int]:
    """Sites that a key or a scope names."""
    if isinstance(scope, (str, bytes)) or not hasattr(scope, "__iter__"):
        raise TypeError(f"{name} must name sites, as (0, 1) does, got {scope!r}")
    return [_check.count("a site", site, 0, 1 << 32) for site in scope]


def _pair(scope: Any) -> tuple[int, int]:
    sites = _sites("a key of J", scope)
    if len(sites) != 2:
        raise ValueError(f"a key of J must name two sites, got {scope!r}")
    return sites[0], sites[1]


def _couplings(J: Any, sites: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float32]]:
    """Ends and weights of every pair, once."""
    if isinstance(J, Mapping):
        listed = [_pair(scope) for scope in J]
        twice = {(j, i) for i, j in listed if i != j}.intersection(listed)
        if twice:
            (i, j), *_ = sorted(twice)
            raise ValueError(f"J has both ({i}, {j}) and ({j}, {i}): a pair is given once")
        pairs = np.array(listed, dtype=np.int64).reshape(-1, 2)
        rows, columns = pairs[:, 0], pairs[:, 1]
        weights = _check.numbers("J", list(J.values()), (1,))
    else:
        matrix = J.tocoo() if hasattr(J, "tocoo") else None
        if matrix is None:
            dense = _check.numbers("J", J, (2,))
            rows, columns = np.nonzero(dense)
            weights, shape = dense[rows, columns], dense.shape
        else:
            rows, columns = np.asarray(matrix.row), np.asarray(matrix.col)
            weights, shape = _check.numbers("J", matrix.data, (1,)), matrix.shape
        if shape != (sites, sites):
            raise ValueError(f"J must have shape ({sites}, {sites}) as h has {sites} sites, got {shape}")
        upper = rows < columns
        if upper.any() and (rows > columns).any():
            of_pair = dict(zip(zip(rows.tolist(), columns.tolist()), weights.tolist()))
            for (i, j), weight in of_pair.items():
                if of_pair.get((j, i)) != weight:
                    raise ValueError(f"J must be symmetric or triangular, but J[{i}, {j}] is not J[{j}, {i}]")
            keep = rows <= columns
            rows, columns, weights = rows[keep], columns[keep], weights[keep]
    if (rows == columns).any():
        site = rows[rows == columns][0]
        raise ValueError(f"J couples site {site} with itself: that belongs to h")
    if len(rows) and max(rows.max(), columns.max()) >= sites:
        raise ValueError(f"J names site {max(rows.max(), columns.max())}, but h has {sites} sites")
    return (
        np.ascontiguousarray(rows, dtype=np.uint32),
        np.ascontiguousarray(columns, dtype=np.uint32),
        np.ascontiguousarray(weights, dtype=np.float32),
    )


def _ising(h: ArrayLike, J: Any) -> Core:
    field = _check.numbers("h", h, (1,))
    return _core.Model.ising(field, *_couplings(J, len(field)))


def _tables(J: Any, sites: int, values: int) -> dict[tuple[int, int], NDArray[np.float64]] | None:
    """A table (q, q) for every pair that is coupled; None if couplings are numbers."""
    if isinstance(J, Mapping):
        if all(np.ndim(table) == 0 for table in J.values()):
            return None
        tables: dict[tuple[int, int], NDArray[np.float64]] = {}
        for scope, table in J.items():
            i, j = _pair(scope)
            if i == j or max(i, j) >= sites:
                raise ValueError(f"J[{i}, {j}] must couple two of {sites} sites")
            array = np.asarray(_check.numbers(f"J[{i}, {j}]", table, (2,)), dtype=np.float64)
            if array.shape != (values, values):
                raise ValueError(f"J[{i}, {j}] must have shape ({values}, {values}), got {array.shape}")
            if (j, i) in tables:
                raise ValueError(f"J has both ({j}, {i}) and ({i}, {j}): a pair is given once")
            tables[i, j] = array
        return tables
    if np.ndim(J) != 4:
        return None
    array = np.asarray(_check.numbers("J", J, (4,)), dtype=np.float64)
    if array.shape == (sites, sites, values, values):
        whole = array
    elif array.shape == (sites, values, sites, values):
        whole = array.transpose(0, 2, 1, 3)
    else:
        raise ValueError(f"J must have shape {(sites, sites, values, values)}, got {array.shape}")
    mirrored = whole.transpose(1, 0, 3, 2)
    rows, columns = np.triu_indices(sites, 1)
    upper, lower = whole[rows, columns], mirrored[rows, columns]
    if not (upper == lower).all():
        if upper.any() and lower.any():
            raise ValueError("J must be symmetric, J[i, j, a, b] = J[j, i, b, a], or have one half of zeros")
        upper = upper + lower
    kept = np.asarray(upper.any(axis=(1, 2)))
    return {(int(i), int(j)): upper[at] for at, (i, j) in enumerate(zip(rows, columns)) if kept[at]}


def _factors(cards: Any, factors: Any, log: bool = False) -> Core:
    listed = _check.array_of("cards", cards)
    if listed.ndim != 1:
        raise ValueError(f"cards must have the number of values of every site, got shape {listed.shape}")
    values = [_check.count("a number of values", card) for card in listed.tolist()]
    if isinstance(factors, (str, bytes)) or not hasattr(factors, "__iter__"):
        raise TypeError(f"factors must be a list of (scope, table), got {factors!r}")
    tables = []
    for factor in factors:
        if not isinstance(factor, (tuple, list)) or len(factor) != 2:
            raise TypeError(f"a factor must be a pair (scope, table), got {factor!r}")
        scope, table = factor
        sites = _sites("the scope of a factor", scope)
        if sites and max(sites) >= len(values):
            raise ValueError(f"a factor names site {max(sites)}, but the last site is {len(values) - 1}")
        array = _check.array_of(f"the factor of sites {sites}", table).astype(np.float64)
        shape = tuple(values[site] for site in sites)
        if array.shape != shape and array.shape != (int(np.prod(shape)),):
            raise ValueError(f"the factor of sites {sites} must have shape {shape}, got {array.shape}")
        if not log:
            if not (np.isfinite(array) & (array >= 0)).all():
                raise ValueError(f"the factor of sites {sites} must hold potentials: finite and not negative")
            with np.errstate(divide="ignore"):
                array = np.log(array)
        tables.append((sites, np.ascontiguousarray(array.reshape(-1))))
    return _core.Model.factors(values, tables, f"{len(tables)} tables of {len(values)} sites")


def _polynomial(terms: Mapping[Any, float], sites: int | None = None, vartype: str = "SPIN") -> Core:
    if vartype not in ("SPIN", "BINARY"):
        raise ValueError(_check.unknown("vartype", str(vartype), ["SPIN", "BINARY"]))
    if not isinstance(terms, Mapping):
        raise TypeError(f"terms must be a dict of sites and coefficients, got {terms!r}")
    listed = [(_sites("a key of terms", scope), _check.number("a coefficient", c)) for scope, c in terms.items()]
    least = 1 + max((site for scope, _ in listed for site in scope), default=0)
    count = least if sites is None else _check.count("sites", sites)
    return _core.Model.polynomial(count, listed, vartype == "SPIN")


def _potts(h: ArrayLike, J: Any) -> Core:
    field = _check.numbers("h", h, (2,))
    sites, values = field.shape
    tables = _tables(J, sites, values)
    if tables is not None:
        single = [([site], row) for site, row in enumerate(field.astype(np.float64))]
        pairs = [([i, j], np.ascontiguousarray(table).reshape(-1)) for (i, j), table in tables.items()]
        words = f"Potts model of {sites} sites, {len(pairs)} tables of couplings"
        return _core.Model.factors([values] * sites, [*single, *pairs], words)
    return _core.Model.potts(field.shape[1], field.reshape(-1), *_couplings(J, len(field)))


def _rbm(W: ArrayLike, a: ArrayLike, b: ArrayLike, data_mean: ArrayLike | None = None) -> Core:
    weight = _check.numbers("W", W, (2, 3))
    values = 2 if weight.ndim == 2 else weight.shape[2]
    visible, hidden = _check.numbers("a", a, (1, 2)), _check.numbers("b", b, (1,))
    if visible.shape != weight.shape[1:]:
        raise ValueError(f"a must have shape {weight.shape[1:]} as W has {weight.shape}, got {visible.shape}")
    if hidden.shape != weight.shape[:1]:
        raise ValueError(f"b must have shape {weight.shape[:1]} as W has {weight.shape}, got {hidden.shape}")
    mean = None if data_mean is None else _check.numbers("data_mean", data_mean, (1, 2)).reshape(-1)
    return _core.Model.rbm(values, weight.reshape(-1), hidden, visible.reshape(-1), mean)
