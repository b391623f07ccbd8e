"""What two threads give: the same draws with one and with two, in turns, and the ratio of their times.

    python experiments/threads/threads.py target/release/saltus

A hundred chains of each target, the median of five rounds; times are those of the draws, as the run tells them.
"""

import json
import statistics
import subprocess
import sys

TARGETS = ["bernoulli", "ising", "potts --preset c8", "fhmm", "rbm --hidden 200"]
SAMPLERS = {"dlmc": 0.05, "dmala": 0.03, "gibbs": None}


def seconds(saltus, target, sampler, scale, threads):
    words = [saltus, "sample", *target.split(), "--sampler", sampler, "--chains", "100", "--warmup", "0", "--thin", "10"]
    words += ["--draws", "40", "--threads", str(threads), "--no-scouts", "--quiet", "--json"]
    words += [] if scale is None else ["--scale", str(scale)]
    return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["seconds"]["draws"]


def main(saltus):
    ratios = []
    print("target\tsampler\tone thread\ttwo threads\tratio")
    for target in TARGETS:
        for sampler, scale in SAMPLERS.items():
            rounds = [[seconds(saltus, target, sampler, scale, threads) for threads in (1, 2)] for _ in range(5)]
            ratio = statistics.median(one / two for one, two in rounds)
            one, two = (statistics.median(times) for times in zip(*rounds))
            ratios.append(ratio)
            print(f"{target}\t{sampler}\t{one:.3f} s\t{two:.3f} s\t{ratio:.2f}", flush=True)
    print(f"median {statistics.median(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
