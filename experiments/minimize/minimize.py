"""Largest cuts of Gset's graphs: `saltus minimize` by its three methods beside dwave-samplers, OpenJij and hamon with equal seconds, on two processors.

    pip install dwave-samplers openjij hamon
    python experiments/minimize/minimize.py target/release/saltus DIR [--seconds 60] [GRAPH ...]

DIR has G1.txt, G11.txt, ... as https://web.stanford.edu/~yyye/yyye/Gset has them. What is not installed is left out. dwave-samplers and OpenJij anneal 32 reads, 16 in
each of two processes, with as many sweeps as fill the time: a first call measures how many. hamon tempers as coldly as saltus cools to, with as many samples as fill the time; what its compilation
takes is not counted against it. A best cut that saltus did not find until its time was over is as honest a figure as any other: "found after" says when.
"""

import argparse
import json
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

# Best known cuts (Benlic and Hao 2013, Engineering Applications of Artificial Intelligence 26).
KNOWN = {"G1": 11624, "G11": 564, "G14": 3064, "G22": 13359}


def read(path):
    # G14 is in UTF-16, with the mark that says so.
    data = path.read_bytes()
    lines = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8").split("\n")
    edges = [tuple(int(word) for word in line.split()) for line in lines[1:] if line.strip()]
    return {(one - 1, other - 1): weight for one, other, weight in edges}


def cut(couplings, state):
    return sum(weight for (one, other), weight in couplings.items() if state[one] != state[other])


def by_saltus(saltus, path, seconds, method):
    command = [saltus, "minimize", str(path), "--method", method, "--time-limit", f"{seconds}s", "--threads", "2", "--json", "--quiet"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return round(told["best"]["log_prob"]), told["seconds_to_best"], told["last_beta"]


def annealer(name):
    if name == "dwave-samplers":
        from dwave.samplers import SimulatedAnnealingSampler

        return SimulatedAnnealingSampler()
    import openjij

    return openjij.SASampler()


def half(name, couplings, sweeps, seed):
    spins = {pair: float(weight) for pair, weight in couplings.items()}
    began = time.perf_counter()
    found = annealer(name).sample_ising({}, spins, num_reads=16, num_sweeps=sweeps, seed=seed)
    return cut(couplings, found.first.sample), time.perf_counter() - began


def by_annealer(name, couplings, seconds):
    sweeps = 200
    with ProcessPoolExecutor(2) as pool:

        def both(sweeps):
            halves = [pool.submit(half, name, couplings, sweeps, seed) for seed in (1, 2)]
            return [one.result() for one in halves]

        # The first call also starts the processes.
        both(10)
        per_sweep = max(took for _, took in both(sweeps)) / sweeps
        halves = both(max(1, int(seconds / per_sweep)))
    return max(found for found, _ in halves), max(took for _, took in halves)


def by_hamon(couplings, seconds, beta):
    import hamon
    import jax
    import jax.numpy as jnp
    import numpy as np

    # A cut wants ends to differ: couplings −w/2, so that the energy is that of saltus.
    edges = jnp.array(list(couplings))
    weights = jnp.array([-0.5 * weight for weight in couplings.values()])
    sites = max(max(pair) for pair in couplings) + 1

    def best(samples):
        began = time.perf_counter()
        spins, _ = hamon.ising_sample(
            jnp.zeros(sites), edges, weights, key=jax.random.key(1), beta=beta, n_samples=samples, n_warmup=500
        )
        states = np.asarray(spins)
        took = time.perf_counter() - began
        ends = np.array(list(couplings))
        differ = states[:, ends[:, 0]] != states[:, ends[:, 1]]
        return int((differ @ np.array(list(couplings.values()))).max()), took

    _, first = best(100)
    _, more = best(300)
    found, took = best(max(100, int(100 + 200 * (seconds - first) / max(more - first, 1e-3))))
    return found, took


def installed(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
    parser.add_argument("data", type=Path)
    parser.add_argument("graphs", nargs="*", default=list(KNOWN))
    parser.add_argument("--seconds", type=int, default=60)
    arguments = parser.parse_args()
    annealers = [name for name, module in [("dwave-samplers", "dwave.samplers"), ("OpenJij", "openjij")] if installed(module)]
    others = annealers + (["hamon"] if installed("hamon") else [])
    methods = ["anneal", "reheat", "temper"]
    print("| graph | best known | " + " | ".join(f"saltus {method}" for method in methods) + " | " + " | ".join(others) + " |")
    print("|---|---:|" + "---:|" * (len(methods) + len(others)))
    for name in arguments.graphs:
        known = KNOWN[name]
        path = arguments.data / f"{name}.txt"
        if not path.exists():
            continue
        couplings = read(path)
        row = [name, str(known)]
        for method in methods:
            best, after, beta = by_saltus(arguments.saltus, path, arguments.seconds, method)
            row.append(f"{best} (found after {after:.1f} s)")
        for other in annealers:
            found, took = by_annealer(other, couplings, arguments.seconds)
            row.append(f"{found} ({took:.0f} s)")
        if "hamon" in others:
            found, took = by_hamon(couplings, arguments.seconds, beta)
            row.append(f"{found} ({took:.0f} s)")
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
