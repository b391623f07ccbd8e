"""Whatever is handed in, the answer is one sentence of ValueError, TypeError or OSError, never an abort or a hang."""

import os

import numpy as np
import pytest

import saltus
from saltus import Model, sample

SETTINGS = {"draws": 5, "warmup": 5, "chains": 4, "seed": 1}
HUGE = 10**15


def ising():
    return Model("ising", size=4, coupling=0.2)


def own(answer, **options):
    return sample(Model.from_log_prob(answer, 2, sites=3, **options), **SETTINGS)


def zeros(X):
    return np.zeros(len(X))


def raises(X):
    raise KeyError("my own")


WRONG = {
    # Arrays.
    "no array": lambda: Model.ising(None, {}),
    "ragged": lambda: Model.ising([[0], [1, 2]], {}),
    "complex": lambda: Model.ising(np.zeros(2, complex), {}),
    "object": lambda: Model.ising(np.array([0, "a"], object), {}),
    "empty": lambda: Model.ising([], {}),
    "infinite": lambda: Model.ising([0, 0], {(0, 1): np.inf}),
    "too large for singles": lambda: Model.ising([0, 0], {(0, 1): 1e300}),
    "shape": lambda: Model.ising([0, 0], np.ones((2, 2, 2))),
    "a key that is no pair": lambda: Model.ising([0, 0], {0: 1.0}),
    "a key of three": lambda: Model.ising([0, 0], {(0, 1, 1): 1.0}),
    "a pair twice": lambda: Model.ising([0, 0], {(0, 1): 1.0, (1, 0): 2.0}),
    "one value": lambda: Model.potts(np.zeros((2, 1)), {}),
    "no letters": lambda: Model.potts(np.zeros((2, 3)), {}, alphabet=3),
    "no hidden units": lambda: Model.rbm(np.zeros((0, 3)), [0, 0, 0], []),
    "factors are no list": lambda: Model.factors([2, 2], None),
    "a factor of three": lambda: Model.factors([2, 2], [(0, 1, 2)]),
    "a scope that is a number": lambda: Model.factors([2, 2], [(0, [1, 2])]),
    "a table of words": lambda: Model.factors([2], [((0,), ["a", "b"])]),
    "cards that are a number": lambda: Model.factors(2, [((0,), [1, 2])]),
    "terms are no dict": lambda: Model.polynomial(None),
    "a term of a number": lambda: Model.polynomial({0: 1.0}),
    "a site too far": lambda: Model.polynomial({(HUGE,): 1.0}),
    # Models by name and from files.
    "no name": lambda: Model(None),
    "NaN as an option": lambda: Model("ising", size=4, coupling=float("nan")),
    "an array as an option": lambda: Model("ising", size=4, coupling=np.zeros(3)),
    "a size of halves": lambda: Model("ising", size=3.5),
    "a huge model": lambda: Model("bernoulli", sites=HUGE),
    "a folder": lambda: Model.from_file(os.path.dirname(__file__)),
    "of no format": lambda: Model.from_file(__file__),
    "no such format": lambda: Model.from_file(__file__, format="uia"),
    # Functions.
    "no cards": lambda: Model.from_log_prob(zeros, None),
    "cards of words": lambda: Model.from_log_prob(zeros, "ab"),
    "many sites": lambda: Model.from_log_prob(zeros, 2, sites=10**18),
    "delta that is a word": lambda: own(zeros, delta="a"),
    "grad that is a number": lambda: own(zeros, grad=3),
    "grad that is nothing": lambda: own(zeros, grad=lambda X: None),
    "delta of another shape": lambda: own(zeros, delta=lambda X: np.zeros((1, 1))),
    "no dtype": lambda: own(zeros, dtype=3),
    # Runs.
    "many chains": lambda: sample(ising(), chains=HUGE),
    "many draws": lambda: sample(ising(), draws=HUGE),
    "many more draws": lambda: sample(ising(), draws=2**62, chains=1),
    "many kept chains": lambda: saltus.Chains(ising(), HUGE),
    "many coolings": lambda: saltus.minimize(ising(), chains=HUGE),
    "many exact draws": lambda: saltus.exact(ising(), draws=HUGE),
    "beta of words": lambda: sample(ising(), beta="a"),
    "no beta": lambda: sample(ising(), beta=None),
    "rules in a list": lambda: sample(ising(), stop=[1]),
    "a rule of NaN": lambda: sample(ising(), stop={"ess": float("nan")}),
    "no sampler": lambda: sample(ising(), sampler=None),
    "a scale of NaN": lambda: sample(ising(), sampler="dlmc", scale=float("nan")),
    "keep a number": lambda: sample(ising(), keep=3),
    "evidence of words": lambda: sample(ising(), evidence="a"),
    "infinite evidence": lambda: sample(ising(), evidence=[np.inf] + [-1] * 15),
    "init of nothing": lambda: sample(ising(), init=np.array([None] * 16)),
    "a store that is a file": lambda: sample(ising(), store=__file__, **SETTINGS),
    "a store below a file": lambda: sample(ising(), store=os.path.join(__file__, "x"), **SETTINGS),
    "a store of others": lambda: sample(ising(), store=os.path.dirname(__file__), replace=True, **SETTINGS),
    "no store": lambda: saltus.load(None),
    "checkpoints before": lambda: sample(ising(), store="unused", checkpoint_every=-1, **SETTINGS),
    "waiting for NaN": lambda: sample(ising(), blocking=False, **SETTINGS).wait(float("nan")),
    "samplers in a word": lambda: saltus.compare(ising(), "dlmc"),
    "half of a range": lambda: saltus.minimize(ising(), betas=(3,)),
    "no result": lambda: saltus.verdict(None),
    "no model": lambda: saltus.log_z(None),
    "chains of no model": lambda: saltus.Chains(None),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_one_sentence(wrong):
    with pytest.raises((ValueError, TypeError, OSError)) as raised:
        wrong()
    sentence = str(raised.value)
    assert sentence and "\n" not in sentence and "unpack" not in sentence and "panicked" not in sentence


#: Values that are no count, and those that are none for some.
NO_COUNTS = [-1, 1.5, "a", b"1", float("nan"), float("inf"), [1], {}, (), True, 1j, np.zeros(2), HUGE**2, object()]
NO_NUMBERS = ["a", b"1", float("nan"), [1.0], {}, 1j, np.zeros(2), object(), HUGE**30]
NO_WORDS = ["dlmcc", 3, 1.5, [], {}, b"dlmc", object(), np.zeros(2)]
NO_STATES = [[0] * 15, [[0] * 16] * 2, [2] * 16, [0.5] * 16, [-1] * 16, "0" * 16, 3, np.full(16, np.nan), np.zeros((1, 1, 16)), {}]
NO_EVIDENCE = [{16: 0}, {0: 2}, {-1: 0}, {0: -2}, {0.5: 0}, {"up": 1}, [0] * 15, [0.5] + [-1] * 15, 3, "0", {0: None}, {(0, 1): 1}]
#: Values of keywords that none of their functions takes.
KEYWORDS = {
    sample: {
        **dict.fromkeys(["draws", "warmup", "chains", "seed", "thin", "threads"], NO_COUNTS),
        **dict.fromkeys(["beta", "scale", "target_acceptance", "ordinal", "checkpoint_every"], NO_NUMBERS),
        **dict.fromkeys(["sampler", "weight", "solver", "differences", "keep"], NO_WORDS),
        "temper": ["a", -1, 1, 1.5, [], float("nan"), HUGE**2],
        "init": NO_STATES,
        "evidence": NO_EVIDENCE,
        "stop": [3, "ess", [1], {"es": 3}, {"ess": -1}, {"ess": "a"}, {"rhat": 0.5}, {"seconds": -1}, {"seconds": None}, {3: 3}],
        "callback": [3, "a", [], {}],
        "executor": [3, "a", [], object()],
        "store": [3, 1.5, [], object(), "", "a\0b"],
    },
    saltus.log_z: {**dict.fromkeys(["draws", "warmup", "chains", "rungs", "seed", "threads"], NO_COUNTS), "beta": NO_NUMBERS},
    saltus.minimize: {
        **dict.fromkeys(["chains", "sweeps", "seed", "threads", "states"], NO_COUNTS),
        "seconds": ["a", -1.0, float("nan"), [1]],
        "betas": [3, (1,), (1, 2, 3), ("a", "b"), (-1, 1), (float("nan"), 1)],
        "evidence": NO_EVIDENCE,
    },
    saltus.exact: {**dict.fromkeys(["draws", "seed"], NO_COUNTS), "evidence": NO_EVIDENCE},
    saltus.Chains: {
        **dict.fromkeys(["chains", "seed", "threads"], NO_COUNTS), "sampler": NO_WORDS, "init": NO_STATES, "evidence": NO_EVIDENCE,
    },
}  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "ask, name, values",
    [(ask, name, values) for ask, of_function in KEYWORDS.items() for name, values in of_function.items()],
    ids=lambda given: getattr(given, "__name__", given) if not isinstance(given, list) else "",
)
def test_no_keyword_takes_what_is_none(ask, name, values, tmp_path, monkeypatch):
    """Some six hundred calls; no warnings, no panics, one sentence that names what was wrong."""
    monkeypatch.chdir(tmp_path)
    few = {"draws": 5, "warmup": 5, "chains": 4} if ask in (sample, saltus.log_z) else {}
    if name in ("scale", "target_acceptance", "ordinal", "weight", "solver", "differences"):
        few["sampler"] = "dlmc"
    if name == "checkpoint_every":
        few["store"] = "run"
    for value in values:
        with pytest.raises((ValueError, TypeError, OSError)) as raised:
            ask(ising(), **{**few, name: value})
        sentence = str(raised.value)
        assert sentence and "\n" not in sentence and "panicked" not in sentence and "unpack" not in sentence, (value, sentence)


@pytest.mark.parametrize("ask", [lambda m: sample(m, **SETTINGS), saltus.exact, saltus.minimize, saltus.log_z])
def test_own_exceptions_come_back_from_everywhere(ask):
    with pytest.raises(KeyError, match="my own"):
        ask(Model.from_log_prob(raises, 2, sites=3))


def test_arrays_of_any_layout_are_read():
    h = np.array([0.5, -0.25, 0.125])
    expected = Model.ising(h, {}).log_prob([[1, 0, 1]])
    frozen = h.copy()
    frozen.flags.writeable = False
    for form in (h.tolist(), h.astype(">f8"), h.astype(np.float32), np.repeat(h, 2)[::2], frozen):
        np.testing.assert_array_equal(Model.ising(form, {}).log_prob(np.array([[1, 0, 1]], ">i2")), expected)
    for answer in (list, np.float32, ">f8", int):
        make = (lambda X: [0.0] * len(X)) if answer is list else (lambda X: np.zeros(len(X), answer))
        assert own(make)["posterior"]["state"].shape == (4, 5, 3)
    assert own(lambda X: np.broadcast_to(0.0, len(X)))["posterior"]["state"].shape == (4, 5, 3)
    assert Model("ising", size=(4, 6)).sites == Model("ising", size="4x6").sites == 24
