"""The recipe for NumPyro, as docs/python.md has it."""

import pathlib
import re

import numpy as np
from conftest import tool

tool("numpyro")

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "python.md"


def test_the_recipe_of_the_book_has_its_exact_probabilities():
    recipe = re.search(r"## NumPyro\n.*?```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    names = {}
    exec(recipe, names)
    # z ~ Bernoulli(0.4), x ~ N(2 z − 1, 1), y ~ N(x, 1/2) observed.
    y = np.array([0.8, -0.3])
    one, zero = 0.4 * np.exp(-((y - 1) ** 2) / 2.5), 0.6 * np.exp(-((y + 1) ** 2) / 2.5)
    drawn = np.asarray(names["samples"]["z"]).reshape(20, -1, 2).mean(axis=1)
    error = drawn.std(axis=0, ddof=1) / np.sqrt(20)
    assert (np.abs(drawn.mean(axis=0) - one / (one + zero)) < 5 * np.maximum(error, 0.005)).all()
