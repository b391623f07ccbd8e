"""What observing and summing up cost: the time of a run as it is by default, over that of its kernel.

    python experiments/recording/recording.py target/release/saltus [SAMPLER ...] [--every-step]

Every sampler on the paper's Ising model, 100 chains, one thread, with everything that `saltus sample` observes by default: log π,
three Hamming distances, magnetisation, the sites, the best state. The kernel alone is a run that keeps one draw of a thousand
steps. Samplers with a scale tune it first, so that moves are accepted as they are in use, and observing has something to follow. A draw is kept after as many steps as suit the sampler unless `--every-step` is given. Times are wall times as the run
itself tells them, the least of five.
"""

import json
import subprocess
import sys

SAMPLERS = {
    "rwm": ("--scale 4", 500_000),
    "hb": ("", 200_000),
    "bg": ("", 500_000),
    "gibbs": ("--warmup 500", 5000),
    "lb1": ("", 200_000),
    "gwg": ("", 200_000),
    "dld": ("", 200_000),
    "pas": ("--warmup 500", 5000),
    "dmala": ("--warmup 500", 5000),
    "dlmcf": ("--warmup 500", 5000),
    "dlmc": ("--warmup 500", 5000),
}
FEW = 1000


def run(binary, sampler, options, draws, thin):
    """Steps per draw, seconds of the draws and of the summary, the least of five."""
    words = f"sample ising --sampler {sampler} {options} --chains 100 --threads 1 --no-scouts --json --quiet --draws {draws}"
    words += "" if "--warmup" in words else " --warmup 0"
    words += f" --thin {thin}" if thin else ""
    found = []
    for _ in range(5):
        out = json.loads(subprocess.run([binary, *words.split()], capture_output=True, text=True, check=True).stdout)
        found.append((out["thin"], out["seconds"]["draws"], out["seconds"]["summary"]))
    return found[0][0], min(draws for _, draws, _ in found), min(summary for _, _, summary in found)


def main():
    binary, every_step = sys.argv[1], "--every-step" in sys.argv
    wanted = [word for word in sys.argv[2:] if not word.startswith("-")] or SAMPLERS
    print("| sampler | steps per draw | kernel, µs per step | observed, ratio | observed and summed up, ratio |")
    print("|---|---|---|---|---|")
    for sampler in wanted:
        options, steps = SAMPLERS[sampler]
        thin, _, _ = run(binary, sampler, options, 1, 1 if every_step else None)
        steps = steps // 100 if every_step and thin == 1 and steps > 5000 else steps
        _, alone, _ = run(binary, sampler, options, max(steps // FEW, 1), FEW)
        alone /= max(steps // FEW, 1) * FEW
        _, drawn, summed = run(binary, sampler, options, steps // thin, thin)
        made = steps // thin * thin
        observed, whole = drawn / made / alone, (drawn + summed) / made / alone
        print(f"| {sampler} | {thin} | {alone * 1e4:.3f} | {observed:.2f} | {whole:.2f} |", flush=True)


main()
