"""What saltus itself costs per step around a user's function: 100 chains × 784 bits, a gradient of one array product.

Processor time of a run less that of the function's own calls, as often as the run made them, in one process on one thread.
"""

import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import saltus

CHAINS, SITES, STEPS = 100, 784, 2000
field = np.linspace(-1, 1, SITES)
calls = [0, 0]
spent = [0.0]


def timed(function, number):
    def call(X):
        start = time.thread_time()
        answer = function(X)
        spent[0] += time.thread_time() - start
        calls[number] += 1
        return answer

    return call


log_prob = timed(lambda X: X @ field, 0)
gradient = timed(lambda X: np.broadcast_to(field, X.shape), 1)
for sampler in ("dlmc", "dmala", "gwg"):
    for dtype in ("int64", "uint8"):
        model = saltus.Model.from_log_prob(log_prob, 2, sites=SITES, grad=gradient, dtype=dtype)
        calls[:], spent[0] = [0, 0], 0.0
        options = {} if sampler == "gwg" else {"scale": 0.1}
        start = time.process_time()
        saltus.sample(model, sampler=sampler, chains=CHAINS, warmup=0, draws=STEPS, keep="none", threads=1, seed=0, **options)
        whole = time.process_time() - start
        own = saltus.Model.ising(field / 2, {})
        start = time.process_time()
        saltus.sample(own, sampler=sampler, chains=CHAINS, warmup=0, draws=STEPS, keep="none", threads=1, seed=0, **options)
        rust = time.process_time() - start
        around = (whole - spent[0] - rust) / STEPS
        print(
            f"{sampler:6} {dtype:6} {1e6 * whole / STEPS:7.0f} µs per step: function {1e6 * spent[0] / STEPS:5.0f}, "
            f"the same model in Rust {1e6 * rust / STEPS:5.0f}, the rest {1e6 * around:5.0f}"
        )
