"""What saltus itself costs per step around a user's function: 100 chains × 784 bits.

    python experiments/python/overhead.py

Independent bits, by a function of Python and by the compiled model, in one run; processor time of the process, so that others on the machine do not
count. A random walk needs no rows of changes. A step of DMALA reads a table of 100 × 784 of them and makes rows of
probabilities, from which every bit is drawn anew: these rows the compiled model makes as well, and what its step takes more than one of its random walk is taken
for their own time.
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
        start = time.thread_time()
        result = answer(X)
        inside[0] += time.thread_time() - start
        return result

    return call


def microseconds(model, **sampler):
    """Of a step, and of the function in it: a run of many steps, less one of few, so that starting and ending fall out."""

    def run(draws):
        inside[0] = 0.0
        start = time.process_time()
        saltus.sample(model, chains=CHAINS, warmup=0, draws=draws, thin=1, keep="none", seed=0, threads=1, **sampler)
        return np.array([time.process_time() - start, inside[0]])

    run(50)
    # The median of some: others may use the machine for a while.
    return np.median([1e6 * (run(100 + STEPS) - run(100)) / STEPS for _ in range(5)], axis=0)


def main():
    own = saltus.Model.from_log_prob(
        timed(lambda X: X @ field), 2, sites=SITES, delta=timed(lambda X: field * (1 - 2 * X)), dtype="float32"
    )
    compiled = saltus.Model.ising(field / 2, {})
    walk, dmala = {"sampler": "rwm"}, {"sampler": "dmala", "scale": 0.2}
    rows = microseconds(compiled, **dmala)[0] - microseconds(compiled, **walk)[0]
    print("| a step of 100 chains × 784 bits | µs | in the function | its rows | beyond both |\n|---|---|---|---|---|")
    for name, model, sampler, own_rows in (
        ("random walk, a function", own, walk, 0.0),
        ("DMALA, a function with `delta=`", own, dmala, rows),
        ("random walk, compiled", compiled, walk, 0.0),
        ("DMALA, compiled", compiled, dmala, rows),
    ):
        whole, function = microseconds(model, **sampler)
        print(f"| {name} | {whole:.0f} | {function:.0f} | {own_rows:.0f} | {whole - function - own_rows:.0f} |")


if __name__ == "__main__":
    main()
