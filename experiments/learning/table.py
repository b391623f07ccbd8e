"""The table of the learning study, in Markdown, from the results that `collect.py` made of what `run.sh` left.

python3 experiments/learning/table.py RESULTS
"""

import json
import sys
from pathlib import Path

HEAD = ["line", "log-likelihood", "with log Z in reverse", "effective chains", "in reverse", "bits per pixel", "iterations", "processor minutes"]


def row(folder, name):
    """One line, or none if it was not judged."""
    path = folder / f"{name}.json"
    judged = json.loads(path.read_text())
    of_training = folder / f"{name}-training.json"
    training = json.loads(of_training.read_text()) if of_training.exists() else judged
    minutes = training.get("processor_seconds", 0) / 60
    iterations = training.get("iterations", training.get("updates"))
    if "bound" in judged:
        bound = judged["bound"]
        return [name, f"{bound['mean']:.2f} ± {bound['standard_error']:.2f} (bound)", "", "", "", f"{bound['bits_per_dim']:.3f}", iterations, f"{minutes:.1f}"]
    if "log_likelihood" not in judged:
        return None
    back = judged["log_likelihood"] - judged["log_z_reverse"] + judged["log_z"]
    return [
        name, f"{judged['log_likelihood']:.2f} ± {judged['log_z_se']:.2f}", f"{back:.2f}", f"{judged['effective_chains']:.0f}",
        f"{judged['effective_chains_reverse']:.0f}", f"{judged['bits_per_dim']:.3f}", iterations, f"{minutes:.1f}",
    ]  # fmt: skip


def rows(folder):
    """All lines of a folder, as they stand in a document."""
    names = sorted(path.stem for path in Path(folder).glob("*.json") if not path.stem.endswith("-training"))
    found = [row(Path(folder), name) for name in names]
    return ["| " + " | ".join(str(cell) for cell in cells) + " |" for cells in found if cells]


if __name__ == "__main__":
    print("| " + " | ".join(HEAD) + " |")
    print("|---|" + "---:|" * (len(HEAD) - 1))
    print("\n".join(rows(sys.argv[1])))
