"""What saltus itself costs per step around a user's function: 100 chains × 784 bits.

    python experiments/python/overhead.py

Three numbers of the same function. A random walk needs no rows: what its step takes beyond the function is the way to Python and
back, acceptance and observables. A step of DMALA also reads a table of 100 × 784 differences and makes rows of it, from
which every bit is drawn anew. Last, all that DMALA does without Python: the same model, compiled.
"""

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import saltus

CHAINS, SITES, STEPS = 100, 784, 2000
field = np.linspace(-1, 1, SITES).astype(np.float32)
inside = [0.0]


def timed(answer):
    def call(X):
        start = time.perf_counter()
        result = answer(X)
        inside[0] += time.perf_counter() - start
        return result

    return call


def microseconds(model, **sampler):
    """Of a step, and of the function in it: a run of many steps, less one of few, so that starting and ending fall out."""

    def run(draws):
        inside[0] = 0.0
        start = time.perf_counter()
        saltus.sample(model, chains=CHAINS, warmup=0, draws=draws, thin=1, keep="none", seed=0, threads=1, **sampler)
        return np.array([time.perf_counter() - start, inside[0]])

    run(50)
    # The median of some: others may use the machine for a while.
    return np.median([1e6 * (run(100 + STEPS) - run(100)) / STEPS for _ in range(5)], axis=0)


def main():
    own = saltus.Model.from_log_prob(
        timed(lambda X: X @ field), 2, sites=SITES, delta=timed(lambda X: field * (1 - 2 * X)), dtype="float32"
    )
    compiled = saltus.Model.ising(field / 2, {})
    print("| a step of 100 chains × 784 bits | µs | in the function | beyond it |\n|---|---|---|---|")
    for name, model, sampler in (
        ("random walk, no rows", own, {"sampler": "rwm"}),
        ("DMALA with `delta=`", own, {"sampler": "dmala", "scale": 0.2}),
        ("DMALA, compiled model", compiled, {"sampler": "dmala", "scale": 0.2}),
    ):
        whole, function = microseconds(model, **sampler)
        print(f"| {name} | {whole:.0f} | {function:.0f} | {whole - function:.0f} |")


if __name__ == "__main__":
    main()
