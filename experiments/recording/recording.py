"""What recording costs: the processor's time of a run that keeps every step, over that of one that keeps few.

    python experiments/recording/recording.py target/release/saltus

Every sampler on the paper's Ising model, 100 chains, one thread, with everything that `saltus sample` observes by
default: log π, three Hamming distances, magnetisation, the sites, the best state. Times are of the user's side of the
process, the least of five, without the warm-up and the summary after the run.
"""

import json
import subprocess
import sys

SAMPLERS = {
    "rwm": ("--scale 4", 20000),
    "hb": ("", 4000),
    "bg": ("", 20000),
    "gibbs": ("", 2000),
    "lb1": ("", 10000),
    "gwg": ("", 10000),
    "dld": ("", 10000),
    "pas": ("--scale 30", 1000),
    "dmala": ("--scale 0.03", 1000),
    "dlmcf": ("--scale 0.07", 1000),
    "dlmc": ("--scale 0.09", 1000),
}
FEW = 1000


def seconds(binary, sampler, options, steps, thin):
    """Seconds of the draws, as the run itself counts them, the least of five."""
    words = f"sample ising --sampler {sampler} {options} --chains 100 --threads 1 --warmup 0 --json --quiet"
    words += f" --draws {steps // thin} --thin {thin}"
    least = float("inf")
    for _ in range(5):
        out = subprocess.run([binary, *words.split()], capture_output=True, text=True, check=True).stdout
        least = min(least, json.loads(out)["seconds"]["draws"])
    return least


def main():
    binary = sys.argv[1]
    print("| sampler | µs per step and chain, kernel alone | with every step recorded | ratio |")
    print("|---|---|---|---|")
    for sampler, (options, steps) in SAMPLERS.items():
        alone = seconds(binary, sampler, options, steps, FEW)
        recorded = seconds(binary, sampler, options, steps, 1)
        per_step = 1e6 / steps / 100
        print(f"| {sampler} | {alone * per_step:.3f} | {recorded * per_step:.3f} | {recorded / alone:.2f} |")


main()
