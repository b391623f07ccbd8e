"""What saltus itself costs per step around a user's function: 100 chains × 784 bits, beside the function alone.

    python experiments/python/overhead.py

The function and its differences do as little as they can, so that what is measured is everything else: rows, proposals,
acceptance, observables, and the way to Python and back.
"""

import time

import numpy as np

import saltus

CHAINS, SITES, STEPS = 100, 784, 2000
field = np.linspace(-1, 1, SITES)
calls = {"value": 0, "delta": 0, "seconds": 0.0}


def timed(name, answer):
    def call(X):
        start = time.perf_counter()
        calls[name] += 1
        result = answer(X)
        calls["seconds"] += time.perf_counter() - start
        return result

    return call


def seconds_per_step(model):
    """Of a run of many steps, less one of few: what starting and ending costs falls out."""

    def run(draws):
        calls["seconds"] = 0.0
        start = time.perf_counter()
        saltus.sample(model, sampler="dmala", scale=0.2, chains=CHAINS, warmup=0, draws=draws, keep="none", seed=0, threads=1)
        return time.perf_counter() - start, calls["seconds"]

    run(50)
    short, long = run(100), run(100 + STEPS)
    return (long[0] - short[0]) / STEPS, (long[1] - short[1]) / STEPS


def main():
    own = saltus.Model.from_log_prob(
        timed("value", lambda X: X @ field), 2, sites=SITES, delta=timed("delta", lambda X: field * (1 - 2 * X)), dtype="float32"
    )
    compiled = saltus.Model.ising(field / 2, {})
    whole, inside = seconds_per_step(own)
    rows, _ = seconds_per_step(compiled)
    print(f"a step with a Python function  {1e6 * whole:7.1f} µs")
    print(f"  of which inside the function {1e6 * inside:7.1f} µs")
    print(f"  of which rows and draws      {1e6 * rows:7.1f} µs (the same model, compiled)")
    print(f"  overhead                     {1e6 * (whole - inside - rows):7.1f} µs (wanted: at most 150)")


if __name__ == "__main__":
    main()
