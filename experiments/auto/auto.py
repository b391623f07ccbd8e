"""The sampler that `--sampler auto` chooses beside every other, in effective draws per second of one run each.

    python experiments/auto/auto.py target/release/saltus [--data DIR] [--quick] > table.md

Targets are the sixteen of the paper (its RBMs from DIR/rbm-reference, else random ones), the presets, and six models of files (from DIR/formats).
Effective draws are those of the observable, log π or the Hamming distance, that has fewest, of all chains together; seconds are those of the draws.
Takes half an hour on an idle machine; `--quick` takes a tenth and says less.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

SAMPLERS = ["gibbs", "sw", "wolff", "layers", "dlmc", "dlmcf", "dmala", "pas", "gwg"]


def targets(data):
    yield "bernoulli-low", ["bernoulli", "--preset", "low"]
    yield "bernoulli-high", ["bernoulli", "--preset", "high"]
    yield "categorical-4", ["categorical", "--preset", "c4"]
    yield "categorical-8", ["categorical", "--preset", "c8"]
    yield "ising-low", ["ising", "--preset", "low"]
    yield "ising-high", ["ising", "--preset", "high"]
    yield "potts-4", ["potts", "--preset", "c4"]
    yield "potts-8", ["potts", "--preset", "c8"]
    yield "fhmm-binary-low", ["fhmm", "--preset", "low"]
    yield "fhmm-binary-high", ["fhmm", "--preset", "high"]
    yield "fhmm-4", ["fhmm", "--values", "4"]
    yield "fhmm-8", ["fhmm", "--values", "8"]
    rbms = data / "rbm-reference"
    for name, file in [
        ("rbm-25", "mnist-binary-25"),
        ("rbm-200", "mnist-binary-200"),
        ("rbm-4", "fashion-mnist-4-levels-50"),
        ("rbm-8", "fashion-mnist-8-levels-50"),
    ]:
        path = rbms / f"{file}.safetensors"
        if path.exists():
            yield name, ["rbm", "--weights", str(path)]
        else:
            yield f"{name} (random)", ["rbm", "--hidden", name.split("-")[1]]
    yield "ising 32×32 at β_c", ["ising", "--size", "32x32", "--coupling", "0.4406868", "--periodic"]
    yield "rbm", ["rbm"]
    formats = data / "formats"
    for file in [
        "uai/ObjectDetection_11.uai",
        "uai/Promedus_11.uai",
        "bif/alarm.bif.gz",
        "bif/insurance.bif.gz",
        "dimod/5x5_v1.bqm",
        "gset/G11.txt",
    ]:
        if (formats / file).exists():
            yield Path(file).name, [str(formats / file)]


def measure(saltus, model, sampler, share):
    command = [saltus, "sample", *model, "--sampler", sampler, "--json", "--quiet", "--seed", "1"]
    command += ["--warmup", str(int(3000 * share)), "--draws", str(int(5000 * share))]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode not in (0, 4):
        return None
    told = json.loads(ran.stdout)
    of = {one["name"]: one["ess_bulk"] or 0.0 for one in told["observables"]}
    seconds = told["seconds"]["draws"] if isinstance(told["seconds"], dict) else told["seconds"]
    stuck = any(finding["code"] == "stuck" for finding in told["findings"])
    return told, min(of["log_prob"], of["hamming"]) / seconds, stuck


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    share = 0.1 if arguments.quick else 1.0
    print("| target | auto chose | effective draws per second | best other | | auto / best | stuck |")
    print("|---|---|---:|---|---:|---:|---|")
    for name, model in targets(arguments.data):
        if arguments.only not in name:
            continue
        chosen = measure(arguments.saltus, model, "auto", share)
        if chosen is None:
            print(f"| {name} | refused | | | | | |", flush=True)
            continue
        told, worth, stuck = chosen
        others = {sampler: measure(arguments.saltus, model, sampler, share) for sampler in SAMPLERS}
        others = {sampler: found[1] for sampler, found in others.items() if found and not found[2]}
        best = max(others, key=others.get)
        ladder = " with a ladder" if "tempering" in told else ""
        print(
            f"| {name} | {told['sampler']}{ladder} | {worth:.4g} | {best} | {others[best]:.4g} "
            f"| {worth / others[best]:.2f} | {'yes' if stuck else ''} |",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
