"""What `run.sh` left in a folder, small enough to be kept: likelihoods, trainings, their courses and pictures.

python3 experiments/learning/collect.py FOLDER RESULTS

A course is thinned to means over as many iterations as leave 400 lines. A training that was not over when this was run is kept as far as it
came, without a likelihood.
"""

import csv
import json
import shutil
import sys
from pathlib import Path

LINES = 400


def thin(source, target):
    """Means over iterations, the last iteration of each line named."""
    with open(source) as file:
        rows = list(csv.DictReader(file))
    if not rows:
        return
    length = -(-len(rows) // LINES)
    with open(target, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        for first in range(0, len(rows), length):
            part = rows[first : first + length]
            means = {}
            for key in rows[0]:
                numbers = [float(row[key]) for row in part if row[key] not in ("", None)]
                means[key] = f"{sum(numbers) / len(numbers):.6g}" if numbers else ""
            # How many iterations the line is the mean of is the distance to the line before.
            means["iteration"] = part[-1].get("iteration") or part[-1].get("update")
            if "update" in means:
                means["update"] = means.pop("iteration")
            writer.writerow(means)


def without_history(path):
    """A training in JSON; its course stands in a file of its own."""
    training = json.loads(path.read_text())
    training.pop("files", None)
    return json.dumps({key: value for key, value in training.items() if key != "history"}, indent=1) + "\n"


def main(folder, results):
    results.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.glob("*.json")):
        (results / path.name).write_text(without_history(path))
    for training in sorted(path for path in folder.iterdir() if path.is_dir()):
        name = training.name
        if (training / "history.csv").exists():
            thin(training / "history.csv", results / f"{name}-history.csv")
        samples = sorted(training.glob("samples-*.png"))
        if samples:
            shutil.copy(samples[-1], results / f"{name}-samples.png")
        for picture in ["curves.svg", "learning.svg", "validation.csv"]:
            if (training / picture).exists():
                shutil.copy(training / picture, results / f"{name}-{picture}")
    for path in [*folder.glob("*-samples.png"), *folder.glob("*-long-run.png")]:
        shutil.copy(path, results / path.name)
    for path in folder.glob("*-history.csv"):
        thin(path, results / path.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
