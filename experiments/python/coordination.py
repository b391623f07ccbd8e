"""What spreading chains over processes costs: 10⁴ chains over 4 workers of one machine, beside the same work without them.

    python experiments/python/coordination.py [WORKERS] [CHAINS] [THIN...]

The same run is made by one process with as many threads, by one with one thread, and by an executor of single-threaded workers, in turns. All end with the same arrays
of all draws in the driver, judged, with scouts sent; their times differ by what coordination takes. It is measured for runs of several
lengths: with more steps per draw the workers have more to do and the driver has not. Wall time, against as many threads, is what counts on a machine that
has nothing else to do; processor time, of workers and driver together against one thread, which waits for nobody, also on one that has. From the driver's own follows what a hundred nodes would do: tasks side by side, and the driver's part one after the other.
"""

import concurrent.futures
import multiprocessing
import os
import statistics
import sys
import time

import saltus

NODES = 100
ROUNDS = 3


def seconds_of(processes):
    """Processor time of these processes, and of this one."""

    def of(pid):
        with open(f"/proc/{pid}/stat") as file:
            words = file.read().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    return sum(map(of, processes)), time.process_time()


def main(workers=4, chains=10_000, *thins):
    model = saltus.Model("ising", size="32x32", coupling=0.3)
    tasks = len(saltus._executor.cut(chains))
    cores = min(workers, len(os.sched_getaffinity(0)))
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(workers, mp_context=context) as executor:
        # Workers are started and have imported everything before the clock runs.
        list(executor.map(time.sleep, [0.5] * workers))
        for thin in thins or (1, 5):
            settings = {"draws": 200, "warmup": 100, "thin": thin, "seed": 1, "sampler": "gibbs", "keep": "none"}
            saltus.sample(model, executor=executor, **{**settings, "chains": 100, "draws": 2})
            alone, single, spread = [], [], []
            for _ in range(ROUNDS):
                for times, how in ((alone, {"threads": workers}), (single, {"threads": 1}), (spread, {"executor": executor})):
                    start, (theirs, own) = time.perf_counter(), seconds_of(executor._processes)
                    saltus.sample(model, chains=chains, **settings, **how)
                    after, took = seconds_of(executor._processes), time.perf_counter() - start
                    times.append((took, after[0] - theirs, after[1] - own))
            wall = statistics.median(two[0] / one[0] for one, two in zip(alone, spread))
            work = statistics.median(sum(two[1:]) / sum(one[1:]) for one, two in zip(single, spread))
            single = statistics.median(own for _, _, own in single)
            driver = statistics.median(own for _, _, own in spread)
            alone, spread = (statistics.median(took for took, _, _ in times) for times in (alone, spread))
            print(f"{chains} chains, 200 draws of {thin} steps, {tasks} tasks: {alone:.2f} s with {workers} threads, "
                  f"{spread:.2f} s with {workers} workers: {100 * (wall - 1):+.1f} %; "
                  f"processor time {100 * (work - 1):+.1f} %")  # fmt: skip
            each = single / tasks
            print(f"a task takes {1e3 * each:.1f} ms of a core; the driver {1e3 * driver / tasks:.2f} ms per task, "
                  f"{1e6 * driver / (200 * chains):.2f} µs per draw, judging included")  # fmt: skip
            rounds = -(-tasks // NODES)
            print(f"{NODES} nodes of one core would take {rounds * each + driver:.2f} s: "
                  f"{single / (rounds * each + driver):.0f} times as fast as one core")  # fmt: skip
    print(f"({cores} cores)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
