"""What spreading chains over processes costs: 10⁴ chains over 4 workers of one machine, beside the same work without them.

    python experiments/python/coordination.py [WORKERS] [CHAINS]

The same run is made by one process with as many threads, and by an executor of single-threaded workers. Their times differ by
what coordination takes: packing tasks, sending stores back, joining them. From the time per task follows what a
hundred nodes would do: as many tasks at once, and the driver's part one after the other.
"""

import concurrent.futures
import multiprocessing
import sys
import time

import saltus


def main(workers=4, chains=10_000):
    model = saltus.Model("ising", size="32x32", coupling=0.3)
    settings = {"chains": chains, "draws": 200, "warmup": 100, "seed": 1, "sampler": "gibbs", "keep": "none"}
    start = time.perf_counter()
    saltus.sample(model, threads=workers, **settings)
    alone = time.perf_counter() - start
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=context) as executor:
        # Workers are started and have imported everything before the clock runs.
        list(executor.map(time.sleep, [0.5] * workers))
        saltus.sample(model, executor=executor, **{**settings, "chains": 100, "draws": 2})
        start = time.perf_counter()
        saltus.sample(model, executor=executor, **settings)
        spread = time.perf_counter() - start
    tasks = len(saltus._executor.cut(chains))
    print(f"{chains} chains, {tasks} tasks: {alone:.2f} s with {workers} threads, {spread:.2f} s with {workers} workers: "
          f"{100 * (spread / alone - 1):+.1f} %")  # fmt: skip
    driver = max(spread - alone, 0.0) / tasks
    ideal = alone * workers / tasks
    print(f"a task takes {ideal:.2f} s of a core and {1e3 * driver:.1f} ms of the driver: 100 nodes of one core each would take "
          f"{ideal + tasks * driver:.2f} s for {tasks} tasks")  # fmt: skip


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
