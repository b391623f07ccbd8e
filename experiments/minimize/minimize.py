"""Largest cuts of Gset's graphs: `saltus minimize` beside dwave-samplers and OpenJij with equal seconds, on two threads.

    pip install dwave-samplers openjij
    python experiments/minimize/minimize.py target/release/saltus DIR [--seconds 60] [GRAPH ...]

DIR has G1.txt, G11.txt, ... as https://web.stanford.edu/~yyye/yyye/Gset has them. What is not installed is left out. The others anneal 32 reads with
as many sweeps as fill the time: a first call measures how many.
"""

import argparse
import json
import subprocess
import time
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


def by_saltus(saltus, path, seconds):
    command = [saltus, "minimize", str(path), "--time-limit", f"{seconds}s", "--threads", "2", "--json", "--quiet"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return round(told["best"]["log_prob"]), told["seconds_to_best"]


def by_sampler(sampler, couplings, seconds, **options):
    spins = {pair: float(weight) for pair, weight in couplings.items()}
    sweeps, began = 100, time.perf_counter()
    sampler.sample_ising({}, spins, num_reads=32, num_sweeps=sweeps, **options)
    per_sweep = (time.perf_counter() - began) / sweeps
    began = time.perf_counter()
    found = sampler.sample_ising({}, spins, num_reads=32, num_sweeps=max(1, int(seconds / per_sweep)), **options)
    return cut(couplings, found.first.sample), time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
    parser.add_argument("data", type=Path)
    parser.add_argument("graphs", nargs="*", default=list(KNOWN))
    parser.add_argument("--seconds", type=int, default=60)
    arguments = parser.parse_args()
    others = {}
    try:
        from dwave.samplers import SimulatedAnnealingSampler

        others["dwave-samplers"] = SimulatedAnnealingSampler()
    except ImportError:
        pass
    try:
        import openjij

        others["OpenJij"] = openjij.SASampler()
    except ImportError:
        pass
    print("| graph | best known | saltus | found after, s | " + " | ".join(others) + " |")
    print("|---|---:|---:|---:|" + "---:|" * len(others))
    for name in arguments.graphs:
        known = KNOWN[name]
        path = arguments.data / f"{name}.txt"
        if not path.exists():
            continue
        couplings = read(path)
        best, after = by_saltus(arguments.saltus, path, arguments.seconds)
        row = [name, str(known), str(best), f"{after:.1f}"]
        for sampler in others.values():
            found, took = by_sampler(sampler, couplings, arguments.seconds)
            row.append(f"{found} ({took:.0f} s)")
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
