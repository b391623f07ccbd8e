"""Bayesian variable selection with 100 binary latents: effective draws per second of saltus.pymc.Step beside PyMC's own
BinaryGibbsMetropolis, in one run.

    python experiments/python/variable_selection.py [PREDICTORS]

A spike and slab whose coefficients are integrated out: y ~ N(0, I + 4 X diag(γ) Xᵀ), γ ~ Bernoulli(0.1).
"""

import sys
import time
import warnings

import arviz
import numpy as np
import pymc as pm

from saltus.pymc import Step


def main(predictors=100, rows=60, draws=300, tune=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, predictors))
    X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
    y = X[:, 0] - 0.8 * X[:, 3] + 0.6 * X[:, 7] + rng.normal(size=rows)
    with pm.Model():
        gamma = pm.Bernoulli("gamma", 0.1, shape=predictors)
        cov = np.eye(rows) + 4 * pm.math.dot(X * gamma, X.T)
        pm.MvNormal("y", np.zeros(rows), cov=cov, observed=y)
        print("| step | s | of a processor | bulk ESS of the number of predictors | per s | per s of a processor | P(γ₀), P(γ₃), P(γ₇) |\n|---|---|---|---|---|---|---|")
        for name, step in (("saltus.pymc.Step", Step([gamma])), ("BinaryGibbsMetropolis", pm.BinaryGibbsMetropolis([gamma]))):
            # Compiled before the clock runs.
            warm_up = {"draws": 2, "tune": 2, "chains": 1, "cores": 1, "progressbar": False, "compute_convergence_checks": False}
            pm.sample(step=[step], **warm_up)
            start, own = time.perf_counter(), time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                trace = pm.sample(draws=draws, tune=tune, chains=4, cores=1, step=[step], random_seed=1,
                                  progressbar=False, compute_convergence_checks=False)  # fmt: skip
            seconds, own = time.perf_counter() - start, time.process_time() - own
            drawn = trace["posterior"]["gamma"].values
            ess = float(np.asarray(arviz.ess(drawn.sum(axis=-1))))
            chance = drawn.mean(axis=(0, 1))
            told = ", ".join(f"{chance[at]:.2f}" for at in (0, 3, 7))
            print(f"| `{name}` | {seconds:.1f} | {own:.1f} | {ess:.0f} | {ess / seconds:.0f} | {ess / own:.0f} | {told} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
