"""Functions of users: with gradient, with differences, with neither; mixed values, evidence, failures, training."""

import importlib.util
import os

import numpy as np
import pytest

import saltus
from saltus import Model

has = lambda name: importlib.util.find_spec(name) is not None  # noqa: E731
BACKENDS = [
    "numpy",
    pytest.param("jax", marks=pytest.mark.skipif(not has("jax") and not os.environ.get("CI"), reason="jax is not installed")),
    pytest.param("torch", marks=pytest.mark.skipif(not has("torch"), reason="torch is not installed")),
]
SETTINGS = {"draws": 400, "warmup": 300, "chains": 60, "seed": 1}

rng = np.random.default_rng(3)
FIELD = rng.normal(size=4).astype(np.float32)
PAIRS = np.triu(rng.normal(size=(4, 4)), 1).astype(np.float32)
TABLE = rng.normal(size=(3, 3)).astype(np.float32)
CARDS = [2, 3, 2]


def as_of(X, array):
    """Constants for the library that X is of: torch takes none of numpy's where it differentiates."""
    return array if isinstance(X, np.ndarray) or not hasattr(X, "new_tensor") else X.new_tensor(array)


def of_bits(X):
    """Quadratic in four bits; any array library will do."""
    return X @ as_of(X, FIELD) + ((X @ as_of(X, PAIRS)) * X).sum(1)


def gradient_of_bits(X):
    return as_of(X, FIELD) + X @ as_of(X, PAIRS + PAIRS.T)


def of_values(X):
    """Mixed values: fields, and neighbours that like to be equal; forbidden if all are 1."""
    X = np.asarray(X)
    own = sum(TABLE[site, X[:, site]] for site in range(3))
    log_prob = own + 0.7 * (X[:, 1:] == X[:, :-1]).sum(axis=1)
    return np.where((X == 1).all(axis=1), -np.inf, log_prob)


def changes(log_prob, cards):
    """Differences by brute force."""

    def delta(X):
        table = np.zeros((*X.shape, max(cards)))
        for site, card in enumerate(cards):
            for value in range(card):
                Y = X.copy()
                Y[:, site] = value
                table[:, site, value] = log_prob(Y) - log_prob(X)
        return table

    return delta


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("grad", ["auto", "exact", gradient_of_bits])
def test_bits_have_their_exact_probabilities(agrees, backend, grad):
    model = Model.from_log_prob(of_bits, 2, sites=4, grad=grad, backend=backend)
    agrees(saltus.sample(model, **SETTINGS), of_bits, [2] * 4)


def test_own_differences_of_bits(agrees):
    def delta(X):
        return (1 - 2 * X) * gradient_of_bits(X)

    model = Model.from_log_prob(of_bits, [2] * 4, delta=delta)
    X = [[0, 1, 1, 0], [1, 1, 0, 1]]
    brute = Model.from_log_prob(of_bits, [2] * 4)
    np.testing.assert_allclose(model.differences(X), brute.differences(X, exact=True), rtol=1e-4)
    agrees(saltus.sample(model, **SETTINGS), of_bits, [2] * 4)


@pytest.mark.parametrize("sampler", ["dlmc", "pas", "gwg", "gibbs", "rwm"])
def test_mixed_values_have_their_exact_probabilities(agrees, sampler):
    model = Model.from_log_prob(of_values, CARDS)
    settings = {**SETTINGS, "draws": 150} if sampler in ("gibbs", "rwm") else SETTINGS
    agrees(saltus.sample(model, sampler=sampler, init=[0, 0, 0], **settings), of_values, CARDS)


def test_own_differences_of_mixed_values(agrees):
    model = Model.from_log_prob(of_values, CARDS, delta=changes(of_values, CARDS))
    X = [[0, 2, 1]]
    np.testing.assert_allclose(
        model.differences(X), Model.from_log_prob(of_values, CARDS).differences(X, exact=True), rtol=1e-5
    )
    agrees(saltus.sample(model, init=[0, 0, 0], **SETTINGS), of_values, CARDS)


@pytest.mark.parametrize("backend", BACKENDS[1:])
def test_values_are_differentiated_one_hot(agrees, backend):
    """log π = Σ tables + a pairwise term, written for one-hot rows [rows, sites, values]."""
    W = rng.normal(size=(9, 9)).astype(np.float32) / 3

    def one_hot(Y):
        flat = Y.reshape(Y.shape[0], 9)
        return (flat @ as_of(flat, W) * flat).sum(1)

    def plain(X):
        return one_hot((np.asarray(X)[..., None] == np.arange(3)).astype(np.float32))

    model = Model.from_log_prob(one_hot, [3] * 3, backend=backend)
    agrees(saltus.sample(model, **SETTINGS), plain, [3] * 3)


def test_evidence_goes_with_functions(exact):
    result = saltus.sample(Model.from_log_prob(of_values, CARDS), evidence={1: 2}, **SETTINGS)
    states, probability = exact(of_values, CARDS)
    given = probability * (states[:, 1] == 2)
    expected = (given * states[:, 0]).sum() / given.sum()
    drawn = result["posterior"]["state"].values
    assert (drawn[..., 1] == 2).all()
    error = drawn[..., 0].mean(axis=1).std() / np.sqrt(60)
    assert abs(drawn[..., 0].mean() - expected) < 5 * error


def test_the_function_sees_all_chains_at_once():
    shapes = []

    def log_prob(X):
        shapes.append((X.shape, X.dtype))
        return np.zeros(len(X))

    model = Model.from_log_prob(log_prob, 2, sites=6, grad=lambda X: np.zeros(X.shape))
    saltus.sample(model, draws=10, warmup=10, chains=25, seed=1, scouts=False)
    assert set(shapes) == {((25, 6), np.dtype(np.int64))}
    assert len(shapes) < 45


def after(calls, do):
    """A function that does something else after so many calls."""
    count = [0]

    def log_prob(X):
        count[0] += 1
        return do(X) if count[0] > calls else np.zeros(len(X))

    return Model.from_log_prob(log_prob, 2, sites=3, grad=lambda X: np.zeros(X.shape))


def test_an_exception_comes_back_as_itself():
    class Own(Exception):
        pass

    def fail(X):
        raise Own("out of luck")

    with pytest.raises(Own, match="out of luck") as raised:
        saltus.sample(after(50, fail), draws=500, warmup=10, chains=4, seed=1)
    if hasattr(raised.value, "__notes__"):
        assert "step" in raised.value.__notes__[0] and "draws" in raised.value.__notes__[0]


def test_nan_stops_with_what_was_drawn():
    model = after(50, lambda X: np.where(np.arange(len(X)) == 2, np.nan, 0.0))
    with pytest.warns(RuntimeWarning, match="chain 2 failed at step .*: log π is NaN"):
        result = saltus.sample(model, draws=500, warmup=10, chains=4, seed=1)
    assert 10 < result["posterior"]["state"].shape[1] < 60
    assert saltus.findings(result)[0]["failed"]


BAD = [
    (lambda X: np.zeros(3), ValueError, "shape (4,)"),
    (lambda X: np.zeros((4, 1)), ValueError, "got shape (4, 1)"),
    (lambda X: 0.0, ValueError, "one log probability per row"),
    (lambda X: np.zeros(4, dtype=complex), TypeError, "complex"),
    (lambda X: ["a"] * 4, TypeError, "real numbers"),
    (lambda X: None, TypeError, "NoneType"),
]


@pytest.mark.parametrize(("answer", "kind", "words"), BAD, ids=range(len(BAD)))
def test_wrong_answers_are_one_sentence(answer, kind, words):
    with pytest.raises(kind) as raised:
        saltus.sample(Model.from_log_prob(answer, 2, sites=3), draws=5, warmup=5, chains=4, seed=1)
    assert words in str(raised.value)


def test_wrong_tables_and_arguments_are_one_sentence():
    zeros = lambda X: np.zeros(len(X))  # noqa: E731
    with pytest.raises(ValueError, match=r"the gradient must have shape \(4, 3, 2\) or \(4, 3\), got \(4,\)"):
        saltus.sample(Model.from_log_prob(zeros, 2, sites=3, grad=zeros), draws=5, chains=4)
    for arguments, words in [
        ({"cards": 2}, "sites must say"),
        ({"cards": []}, "at least one site"),
        ({"cards": [2, 0]}, "at least 1"),
        ({"cards": [2, 300]}, "256"),
        ({"cards": [2], "backend": "numpi"}, "did you mean 'numpy'"),
        ({"cards": [2], "grad": "ecxact"}, "did you mean 'exact'"),
        ({"cards": [2], "dtype": "int32"}, "unknown dtype"),
    ]:
        with pytest.raises((ValueError, TypeError), match=words):
            Model.from_log_prob(zeros, **arguments)
    with pytest.raises(TypeError, match="must be a function"):
        Model.from_log_prob(3, [2])


def test_persistent_chains_learn_a_model():
    """Means of independent spins are learnt by gradient ascent on the likelihood; the answer is known."""
    wanted = np.array([0.9, 0.5, 0.2])
    h = np.zeros(3)
    model = Model.ising(h, {(0, 1): 0.0})
    chains = saltus.Chains(model, 500, seed=1)
    late = []
    for iteration in range(300):
        h = h + 0.3 * (wanted - chains.step(2).mean(axis=0))
        model.update(h=h)
        late.append(h)
    expected = 0.5 * np.log(wanted / (1 - wanted))
    np.testing.assert_allclose(np.mean(late[100:], axis=0), expected, atol=0.05)
    assert 0 < chains.acceptance <= 1 and chains.scale > 0


def test_persistent_chains_of_a_function_see_it_change():
    level = [0.0]
    model = Model.from_log_prob(lambda X: level[0] * X.sum(axis=1), 2, sites=5)
    chains = saltus.Chains(model, 200, seed=1, evidence={0: 0})
    assert abs(chains.step(20)[:, 1:].mean() - 0.5) < 0.1
    level[0] = 3.0
    states = chains.step(20)
    assert states[:, 1:].mean() > 0.9 and (states[:, 0] == 0).all()
