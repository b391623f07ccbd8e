"""Reads draws from a JSON file and prints what ArviZ says about each case, as strings: JSON has no infinity."""

import json
import sys
import warnings

import arviz
import numpy

warnings.simplefilter("ignore")
# Its loops in numba take variances of values far from zero as differences of large numbers.
arviz.Numba.disable_numba()


def number(found):
    """As text; where numba is installed, ArviZ answers with arrays of one number."""
    return repr(numpy.asarray(found, dtype=float).item())


with open(sys.argv[1]) as file:
    cases = {name: numpy.array(chains, dtype=float) for name, chains in json.load(file).items()}
results = {
    name: {
        "mean": number(draws.mean()),
        "sd": number(draws.std(ddof=1)),
        "mcse": number(arviz.mcse(draws, method="mean")),
        "ess_bulk": number(arviz.ess(draws, method="bulk")),
        "ess_tail": number(arviz.ess(draws, method="tail")),
        # ArviZ gives no R-hat of a single chain.
        "rhat": number(arviz.rhat(draws)) if len(draws) > 1 else None,
    }
    for name, draws in cases.items()
}
print(json.dumps(results))
