"""What tests share: exact answers by enumeration, and the command line to compare with."""

import functools
import importlib
import itertools
import os
import pathlib
import shutil

import numpy as np
import pytest

REPOSITORY = pathlib.Path(__file__).parents[3]


def needs(reason):
    """Skips where a tool is missing, and fails where the environment has CI."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


def tool(name):
    """A module that a test needs: it is missing elsewhere, never in CI."""
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        (pytest.fail if os.environ.get("CI") else functools.partial(pytest.skip, allow_module_level=True))(str(missing))


@pytest.fixture(scope="session")
def command():
    """The program `saltus`: SALTUS_BIN, or what cargo built last, or what is installed."""
    built = [REPOSITORY / "target" / profile / "saltus" for profile in ("gate", "release", "quick", "debug")]
    found = [path for path in built if path.exists()]
    program = os.environ.get("SALTUS_BIN") or max(found, key=lambda path: path.stat().st_mtime, default=None)
    program = program or shutil.which("saltus")
    if program is None:
        needs("there is no saltus command to compare with: build it by cargo, or set SALTUS_BIN")
    return str(program)


@pytest.fixture(scope="session")
def exact():
    """Probabilities of all states from log π: `exact(log_prob, cards)` gives states and probabilities."""

    def enumerate_all(log_prob, cards):
        states = np.array(list(itertools.product(*(range(card) for card in cards))))
        weights = log_prob(states)
        weights = np.exp(weights - weights.max())
        return states, weights / weights.sum()

    return enumerate_all


@pytest.fixture(scope="session")
def agrees(exact):
    """Whether the draws of a result have the probabilities of every state, by a chi-square over independent chains."""

    def check(result, log_prob, cards):
        states, probability = exact(log_prob, cards)
        drawn = np.asarray(result["posterior"]["state"])
        place = np.cumprod([1, *cards[:0:-1]])[::-1]
        number = (drawn.astype(int) * place).sum(axis=-1)
        share = np.stack([np.bincount(chain, minlength=len(states)) / chain.size for chain in number])
        assert share.shape[1] == len(states)
        error = np.maximum(share.std(axis=0, ddof=1) / np.sqrt(len(share)), 1e-3)
        far = np.abs(share.mean(axis=0) - probability) / error
        # Of at most some hundred t-like numbers over 50 or more chains, none exceeds 5 by chance.
        assert far.max() < 5, (far.max(), states[far.argmax()])

    return check
