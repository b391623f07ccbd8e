"""What spreading chains over processes costs: 10⁴ chains over 4 workers of one machine, beside the same work without them.

    python experiments/python/coordination.py [WORKERS] [CHAINS]

The same run is made by one process with as many threads, and by an executor of single-threaded workers, three times each in
turns. Their times differ by what coordination takes: packing tasks, sending stores back, joining and judging them. What the
driver does itself is measured as processor time of its process. From both follows what a hundred nodes would do: tasks side
by side, and the driver's part one after the other.
"""

import concurrent.futures
import multiprocessing
import os
import statistics
import sys
import time

import saltus

NODES = 100


def main(workers=4, chains=10_000):
    model = saltus.Model("ising", size="32x32", coupling=0.3)
    settings = {"chains": chains, "draws": 200, "warmup": 100, "seed": 1, "sampler": "gibbs", "keep": "none"}
    tasks = len(saltus._executor.cut(chains))
    alone, spread, driver = [], [], []
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=context) as executor:
        # Workers are started and have imported everything before the clock runs.
        list(executor.map(time.sleep, [0.5] * workers))
        saltus.sample(model, executor=executor, **{**settings, "chains": 100, "draws": 2})
        for _ in range(3):
            start = time.perf_counter()
            saltus.sample(model, threads=workers, **settings)
            alone.append(time.perf_counter() - start)
            start, own = time.perf_counter(), time.process_time()
            saltus.sample(model, executor=executor, **settings)
            spread.append(time.perf_counter() - start)
            driver.append(time.process_time() - own)
    alone, spread, driver = map(statistics.median, (alone, spread, driver))
    print(f"{chains} chains, {tasks} tasks: {alone:.2f} s with {workers} threads, {spread:.2f} s with {workers} workers: "
          f"{100 * (spread / alone - 1):+.1f} %")  # fmt: skip
    cores = min(workers, len(os.sched_getaffinity(0)))
    each, own = alone * cores / tasks, driver / tasks
    print(f"a task takes {each:.2f} s of a core and {1e3 * own:.1f} ms of the driver")
    rounds = -(-tasks // NODES)
    print(f"{NODES} nodes of one core would take {rounds * each + driver:.2f} s: {alone * cores / (rounds * each + driver):.0f} times "
          "as fast as one core")  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
