"""The dynamic exponent of cluster moves: how the autocorrelation time of the energy grows with the side of a critical Ising lattice.

    python experiments/clusters/exponent.py target/release/saltus [--seeds 4]

For L = 16, 32, 64, 128 on the torus at β_c = ln(1 + √2)/2, `sw`, `wolff` and `gibbs` are run side by side; τ = draws/(2 ESS) of log π, and z is the
slope of log τ over log L, of every seed by itself; then their mean and its standard error. A step of `sw` redraws every cluster; that of `wolff` counts as the share of the
sites that it moves, on average. So τ is of sweeps for all. (Gibbs at L = 64 and 128 is left out: too slow to measure.) Takes half a minute per seed.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys

BETA = math.log(1 + math.sqrt(2)) / 2


def tau(saltus, side, sampler, draws, seed):
    command = [saltus, "sample", "ising", "--size", f"{side}x{side}", "--periodic", "--coupling", f"{BETA:.7f}", "--field", "0"]
    command += ["--sampler", sampler, "--chains", "16", "--warmup", str(draws // 5), "--draws", str(draws), "--json", "--quiet", "--seed", str(seed)]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode not in (0, 4):
        sys.exit(ran.stderr)
    told = json.loads(ran.stdout)
    worth = next(one["ess_bulk"] for one in told["observables"] if one["name"] == "log_prob")
    share = told["sites_changed_per_step"] / side**2 if sampler == "wolff" else 1.0
    return share * 16 * draws / (2 * worth)


def slope(points):
    logs = [(math.log(side), math.log(time)) for side, time in points]
    x, y = (sum(values) / len(values) for values in zip(*logs))
    return sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
    parser.add_argument("--seeds", type=int, default=4)
    arguments = parser.parse_args()
    plans = {"sw": [(16, 20000), (32, 20000), (64, 10000), (128, 5000)], "wolff": [(16, 20000), (32, 20000), (64, 20000), (128, 10000)], "gibbs": [(16, 20000), (32, 60000)]}
    print("| sampler | seed | τ of the energy, in sweeps | z |\n|---|---:|---|---:|")
    for sampler, plan in plans.items():
        slopes = []
        for seed in range(1, arguments.seeds + 1):
            points = [(side, tau(arguments.saltus, side, sampler, draws, seed)) for side, draws in plan]
            slopes.append(slope(points))
            times = ", ".join(f"{time:.2f} (L = {side})" for side, time in points)
            print(f"| {sampler} | {seed} | {times} | {slopes[-1]:.3f} |", flush=True)
        error = statistics.stdev(slopes) / len(slopes) ** 0.5 if len(slopes) > 1 else float("nan")
        print(f"| {sampler} | mean | | {statistics.mean(slopes):.3f} ± {error:.3f} |", flush=True)


if __name__ == "__main__":
    main()
