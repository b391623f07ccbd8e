"""The dynamic exponent of cluster moves: how the autocorrelation time of the energy grows with the side of a critical Ising lattice.

    python experiments/clusters/exponent.py target/release/saltus

For L = 16, 32, 64, 128 on the torus at β_c = ln(1 + √2)/2, `sw` and `gibbs` are run side by side; τ = draws/(2 ESS) of log π, and z is the
slope of log τ over log L. A step of `sw` redraws every cluster, so that τ counts in sweeps for both. (Gibbs at L = 128 is left out: too slow to measure.)
Takes some minutes.
"""

import json
import math
import subprocess
import sys

BETA = math.log(1 + math.sqrt(2)) / 2


def tau(saltus, side, sampler, draws):
    command = [saltus, "sample", "ising", "--size", f"{side}x{side}", "--periodic", "--coupling", f"{BETA:.7f}", "--field", "0"]
    command += ["--sampler", sampler, "--chains", "16", "--warmup", str(draws // 5), "--draws", str(draws), "--json", "--quiet", "--seed", "7"]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode not in (0, 4):
        sys.exit(ran.stderr)
    told = json.loads(ran.stdout)
    worth = next(one["ess_bulk"] for one in told["observables"] if one["name"] == "log_prob")
    return 16 * draws / (2 * worth)


def slope(points):
    logs = [(math.log(side), math.log(time)) for side, time in points]
    x, y = (sum(values) / len(values) for values in zip(*logs))
    return sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)


def main():
    saltus = sys.argv[1]
    plans = {"sw": [(16, 20000), (32, 20000), (64, 10000), (128, 5000)], "gibbs": [(16, 20000), (32, 60000)]}
    print("| sampler | L | τ of the energy, in steps |\n|---|---:|---:|")
    for sampler, plan in plans.items():
        points = []
        for side, draws in plan:
            points.append((side, tau(saltus, side, sampler, draws)))
            print(f"| {sampler} | {side} | {points[-1][1]:.2f} |", flush=True)
        print(f"| {sampler} | | z = {slope(points):.2f} |", flush=True)


if __name__ == "__main__":
    main()
