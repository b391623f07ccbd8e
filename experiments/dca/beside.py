"""Boltzmann learning of a family by saltus and by adabmDCA, one after the other on the same cores, for the same minutes.

    python experiments/dca/beside.py target/release/saltus RF00379.fasta --minutes 7 --out DIR

Needs adabmDCA (and so torch). Both learn with 2,000 chains and ten sweeps of Gibbs per update, adabmDCA with its own learning rate.
Prints Pearson's correlation of the connected two-site correlations of chains and data against seconds, as each says of itself.
"""

import argparse
import csv
import subprocess
import sys
import threading
from pathlib import Path

PEER = """
import sys, time
from adabmDCA.api.training import train_model
begun = None
def progress(event):
    global begun
    begun = begun or time.perf_counter()
    pearson = event.metrics.get("Pearson")
    if pearson is not None:
        print(f"{event.gradient_steps},{pearson},{time.perf_counter() - begun:.1f}", flush=True)
train_model(sys.argv[1], model_type="bmDCA", output_dir=sys.argv[2], alphabet="auto", n_chains=2000, sampler="gibbs",
            n_sweeps=10, target_pearson=0.99, checkpoint_interval=10, device="cpu", progress=progress)
"""


def saltus(program, fasta, folder, seconds):
    """Rows of (update, correlation, seconds)."""
    out = folder / "saltus.dat"
    command = [program, "train", "potts", "--data", fasta, "--out", out, "--force", "--quiet", "--chains", "2000", "--save-every", "20"]
    run = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    timer = threading.Timer(seconds, run.terminate)
    timer.start()
    run.wait()
    timer.cancel()
    with open(next(folder.glob("saltus*history.csv"))) as file:
        return [(int(row["iteration"]), float(row["pearson"]), float(row["seconds"])) for row in csv.DictReader(file)]


def peer(fasta, folder, seconds):
    rows = []
    command = [sys.executable, "-c", PEER, str(fasta), str(folder / "adabmDCA")]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    timer = threading.Timer(seconds + 30, run.terminate)
    timer.start()
    for line in run.stdout:
        try:
            update, pearson, at = line.strip().split(",")
            rows.append((int(update), float(pearson), float(at)))
        except ValueError:
            continue
    timer.cancel()
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("fasta", type=Path)
    parser.add_argument("--minutes", type=float, default=7)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    seconds = options.minutes * 60
    found = {
        "saltus": saltus(options.program, options.fasta, options.out, seconds),
        "adabmDCA": peer(options.fasta, options.out, seconds),
    }
    times = [seconds * share for share in (0.1, 0.25, 0.5, 0.75, 1)]
    print("| after, s |", " | ".join(f"{at:.0f}" for at in times), "| updates |")
    print("|---|" + "---:|" * (len(times) + 1))
    for name, rows in found.items():
        seen = [[pearson for _, pearson, when in rows if when <= at] for at in times]
        last = [f"{values[-1]:.3f}" if values else "–" for values in seen]
        updates = [update for update, _, when in rows if when <= seconds]
        print(f"| {name} |", " | ".join(last), f"| {updates[-1] if updates else 0} |")
        with open(options.out / f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([("update", "pearson", "seconds"), *rows])


if __name__ == "__main__":
    main()
