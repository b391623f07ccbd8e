"""The door for PyMC: posterior probabilities against enumeration."""

import itertools


import numpy as np
import pytest
from conftest import tool

pm = tool("pymc")
cloudpickle = tool("cloudpickle")

from saltus.pymc import Step  # noqa: E402


def test_variable_selection_has_its_exact_inclusion_probabilities():
    """A spike and slab whose coefficients are integrated out: y ~ N(0, I + 4 X diag(γ) Xᵀ)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 7))
    X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    y = X[:, 0] + 0.5 * X[:, 3] + rng.normal(size=25)

    def log_prob(gamma):
        cov = np.eye(25) + 4 * (X * gamma) @ X.T
        return -0.5 * (np.linalg.slogdet(cov)[1] + y @ np.linalg.solve(cov, y)) + gamma.sum() * np.log(0.3 / 0.7)

    states = np.array(list(itertools.product((0, 1), repeat=7)))
    weights = np.array([log_prob(state) for state in states])
    weights = np.exp(weights - weights.max())
    expected = weights @ states / weights.sum()
    with pm.Model():
        gamma = pm.Bernoulli("gamma", 0.3, shape=7)
        cov = np.eye(25) + 4 * pm.math.dot(X * gamma, X.T)
        pm.MvNormal("y", np.zeros(25), cov=cov, observed=y)
        step = Step([gamma], steps=2)
        assert cloudpickle.loads(cloudpickle.dumps(step)).cards == [2] * 7
        trace = pm.sample(
            draws=800, tune=200, chains=2, cores=1, step=[step], random_seed=1, progressbar=False,
            compute_convergence_checks=False,
        )  # fmt: skip
    drawn = trace["posterior"]["gamma"].values
    batches = drawn.reshape(20, 80, 7).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(20)
    assert (np.abs(drawn.mean(axis=(0, 1)) - expected) < 5 * np.maximum(error, 0.005)).all()


def test_other_variables_move_too():
    """z ~ Bernoulli, x ~ N(2 z − 1, 1) by PyMC's own sampler, y ~ N(x, 1/2) observed: P(z | y) is known."""
    y = np.array([0.8, -0.3])
    with pm.Model():
        z = pm.Bernoulli("z", 0.4, shape=2)
        x = pm.Normal("x", 2 * z - 1, 1)
        pm.Normal("y", x, 0.5, observed=y)
        trace = pm.sample(
            draws=1000, tune=300, chains=2, cores=1, step=[Step([z]), pm.Metropolis([x])], random_seed=2,
            progressbar=False, compute_convergence_checks=False,
        )  # fmt: skip
    one, zero = 0.4 * np.exp(-((y - 1) ** 2) / 2.5), 0.6 * np.exp(-((y + 1) ** 2) / 2.5)
    drawn = trace["posterior"]["z"].values.reshape(20, 100, 2).mean(axis=1)
    error = drawn.std(axis=0, ddof=1) / np.sqrt(20)
    assert (np.abs(drawn.mean(axis=0) - one / (one + zero)) < 5 * error).all()


def test_categories_are_read_from_the_model():
    with pm.Model():
        k = pm.Categorical("k", [0.2, 0.5, 0.3], shape=2)
        assert Step([k]).cards == [3, 3]
        n = pm.Poisson("n", 3)
        with pytest.raises(ValueError, match="pass cards="):
            Step([n])
