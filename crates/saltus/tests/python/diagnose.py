"""Reads draws from a JSON file and prints what ArviZ says about each case, as strings: JSON has no infinity."""

import json
import sys
import warnings

import arviz
import numpy

warnings.simplefilter("ignore")
with open(sys.argv[1]) as file:
    cases = {name: numpy.array(chains, dtype=float) for name, chains in json.load(file).items()}
results = {
    name: {
        "mean": repr(float(draws.mean())),
        "sd": repr(float(draws.std(ddof=1))),
        "mcse": repr(float(arviz.mcse(draws, method="mean"))),
        "ess_bulk": repr(float(arviz.ess(draws, method="bulk"))),
        "ess_tail": repr(float(arviz.ess(draws, method="tail"))),
        # ArviZ gives no R-hat of a single chain.
        "rhat": repr(float(arviz.rhat(draws))) if len(draws) > 1 else None,
    }
    for name, draws in cases.items()
}
print(json.dumps(results))
