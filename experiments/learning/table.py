"""The tables of the learning study, in Markdown, from what `run.sh` left in a folder.

python3 experiments/learning/table.py FOLDER
"""

import csv
import json
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
DATASETS = ["static-mnist", "caltech", "omniglot", "frey"]
SAMPLERS = ["gibbs", "gwg", "pas", "dmala", "dlmc"]
# Tables 1 and 2 of the paper: nats, of Frey faces bits per pixel.
PAPER = {
    "static-mnist": {"gibbs": "−117.17", "gwg": "−80.01", "pas": "−79.58", "dmala": "−79.46", "dlmc": "−79.13"},
    "caltech": {"gibbs": "−163.50", "gwg": "−96.20", "pas": "−84.56", "dmala": "−87.82", "dlmc": "−77.04"},
    "omniglot": {"dlmc": "−90.84"},
    "frey": {"dlmc": "4.33 bits"},
}


def read(name):
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def deep(dataset, sampler, steps):
    """One line about a training, or nothing if there was none."""
    name = f"{dataset}-{sampler}-{steps}"
    judged = read(name)
    if judged is None:
        return None
    if judged.get("diverged"):
        reason = (FOLDER / f"{name}-training.txt").read_text().strip().splitlines()[-1]
        iteration = reason.split("diverged at iteration ")[1].split(":")[0]
        return f"| {dataset} | {sampler} | {steps} | diverged at iteration {iteration} | | | | | | |"
    training = read(f"{name}-training")
    with open(FOLDER / name / "history.csv") as file:
        history = list(csv.DictReader(file))[-500:]
    mean = lambda key: sum(float(line[key]) for line in history) / len(history)
    gap = judged["log_z_reverse"] - judged["log_z"]
    return (
        f"| {dataset} | {sampler} | {steps} | {judged['log_likelihood']:.1f} ± {judged['log_z_se']:.1f} "
        f"| {judged['log_likelihood'] - gap:.1f} | {judged['effective_chains']:.0f} | {judged['bits_per_dim']:.3f} "
        f"| {mean('energy_gap'):.1f} | {mean('sites_changed_per_step'):.1f} | {training['seconds'] / 60:.1f} |"
    )


def beside_paper(dataset, sampler):
    """The line of equal budgets, with the paper's number at its end."""
    row = deep(dataset, sampler, 10)
    return row and f"{row} {PAPER[dataset][sampler]} |"


def table(rows, *more):
    heads = ["data", "sampler", "steps", "log-likelihood", "with log Z in reverse", "effective chains"]
    heads += ["bits per pixel", "energy gap", "sites per step", "minutes", *more]
    print("| " + " | ".join(heads) + " |")
    print("|---|---|" + "---:|" * (len(heads) - 2))
    for row in rows:
        if row:
            print(row)
    print()


def main():
    table((beside_paper(dataset, sampler) for dataset in DATASETS for sampler in PAPER[dataset]), "paper")
    print("The fewest steps:\n")
    table(deep("static-mnist", sampler, steps) for sampler in SAMPLERS for steps in [1, 3, 10, 40])
    print("Rivals:\n")
    print("| model | data | log-likelihood | minutes of training |")
    print("|---|---|---:|---:|")
    for name, words in [("rbm-500", "RBM, 500 hidden units"), ("dbn-500-2000", "DBN, 500 + 2000 (bound)")]:
        judged, training = read(name), read(f"{name}-training")
        if judged:
            minutes = training["seconds"] / 60
            print(f"| {words} | static-mnist | {judged['log_likelihood']:.2f} ± {judged['log_z_se']:.2f} | {minutes:.1f} |")
    for dataset in DATASETS:
        judged = read(f"vae-{dataset}")
        if judged:
            print(
                f"| VAE (bound) | {dataset} | {judged['bound']['mean']:.2f} ± {judged['bound']['standard_error']:.2f} "
                f"| {judged['seconds'] / 60:.1f} |"
            )


main()
