"""Fast, exact sampling from discrete distributions: spins, bits, categories, pixels.

>>> import saltus
>>> result = saltus.sample(saltus.Model("ising", size="16x16", coupling=0.3), draws=200, chains=8, seed=1)
>>> result["posterior"]["state"].shape
(8, 200, 256)
"""

from saltus._answers import Exact, LogZ, Minimum, exact, log_z, minimize
from saltus._chains import Chains
from saltus._core import __version__, models, samplers
from saltus._model import Model
from saltus._result import findings, summary, verdict
from saltus._sample import Run, compare, load, sample

__all__ = [
    "Chains",
    "Exact",
    "LogZ",
    "Minimum",
    "Model",
    "Run",
    "__version__",
    "compare",
    "exact",
    "findings",
    "load",
    "log_z",
    "minimize",
    "models",
    "sample",
    "samplers",
    "summary",
    "verdict",
]
