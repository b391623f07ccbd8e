"""Claim C14 about learning, judged from the likelihoods that `run.sh` left: as the claims about sampling are, by numbers with errors.

python3 experiments/learning/claim.py FOLDER
"""

import json
import math
import sys
from pathlib import Path

STATEMENT = (
    "Trained with equal or fewer steps, DLMC's energy-based models find test images at least as likely as those of PAS, DMALA and GWG, and much "
    "likelier than those of Gibbs."
)
# Chains that must count in both directions before a likelihood is one.
FEWEST = 5
# What "much likelier" is taken to mean, in nats.
MUCH = 10
# Standard errors within which chance decides.
ERRORS = 2


def judged(folder, dataset, sampler):
    """What was judged with every sampler at the same budget: ten steps in the first study, short trainings in the later one."""
    paths = [Path(folder) / f"{dataset}-{sampler}-{budget}.json" for budget in ["10", "short"]]
    return next((json.loads(path.read_text()) for path in paths if path.exists()), None)


def is_usable(one):
    return min(one["effective_chains"], one["effective_chains_reverse"]) >= FEWEST


def answer(folder, dataset, sampler):
    """How many nats DLMC is ahead, and whether that is what the claim says; None if nothing is decided."""
    dlmc, other = judged(folder, dataset, "dlmc"), judged(folder, dataset, sampler)
    if dlmc is None or other is None:
        return None
    ahead = dlmc["log_likelihood"] - other["log_likelihood"]
    error = math.hypot(dlmc["log_z_se"], other["log_z_se"])
    least = MUCH if sampler == "gibbs" else 0
    holds = None
    if is_usable(dlmc) and is_usable(other) and abs(ahead - least) > ERRORS * error:
        holds = ahead > least
    mark = {True: "", False: " ✗", None: " ≈"}[holds]
    return f"{dataset} {sampler} {ahead:.1f}{mark}", holds


def row(folder):
    """The line of the table."""
    parts, verdicts = [], []
    for question, samplers in [
        ("nats by which DLMC is ahead (above 0)", ["pas", "dmala", "gwg"]),
        (f"ahead of Gibbs (above {MUCH})", ["gibbs"]),
    ]:
        answers = [answer(folder, dataset, sampler) for dataset in ["static-mnist", "caltech"] for sampler in samplers]
        parts.append(f"*{question}*: " + ", ".join(found[0] for found in answers if found))
        # What was not run is not decided.
        verdicts += [found and found[1] for found in answers]
    if not any(verdicts) and False not in verdicts:
        verdict = "not decided"
    elif False in verdicts:
        verdict = "holds partly" if True in verdicts else "does not hold"
    else:
        verdict = "holds" if None not in verdicts else "holds where decided"
    return f"| C14 | {STATEMENT} | **{verdict}** | {'<br>'.join(parts)} |"


if __name__ == "__main__":
    print(row(sys.argv[1]))
