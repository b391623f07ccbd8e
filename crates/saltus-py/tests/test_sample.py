"""Runs: right numbers, the same bytes as the command line, stopped, resumed, watched."""

import filecmp
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import tool

import saltus
from saltus import Model


def spins(states):
    return 2.0 * np.asarray(states) - 1.0


def test_an_ising_model_has_its_exact_probabilities(agrees):
    rng = np.random.default_rng(0)
    h, upper = rng.normal(size=4) / 2, np.triu(rng.normal(size=(4, 4)), 1) / 2

    def log_prob(X):
        s = spins(X)
        return s @ h + ((s @ upper) * s).sum(axis=1)

    symmetric = Model.ising(h, upper + upper.T)
    pairs = {(i, j): upper[i, j] for i in range(4) for j in range(i + 1, 4)}
    for model in (symmetric, Model.ising(h, upper), Model.ising(h, pairs)):
        np.testing.assert_allclose(model.log_prob([[0, 1, 1, 0]]), log_prob([[0, 1, 1, 0]]), rtol=1e-5)
    agrees(saltus.sample(symmetric, draws=400, warmup=300, chains=60, seed=1), log_prob, [2] * 4)


def test_a_potts_model_has_its_exact_probabilities(agrees):
    rng = np.random.default_rng(1)
    h, J = rng.normal(size=(3, 3)), {(0, 1): 0.8, (1, 2): -0.5}

    def log_prob(X):
        X = np.asarray(X)
        own = h[np.arange(3), X].sum(axis=1)
        return own + sum(weight * (X[:, i] == X[:, j]) for (i, j), weight in J.items())

    for sampler in ("dlmc", "gibbs", "pas"):
        result = saltus.sample(Model.potts(h, J), sampler=sampler, draws=400, warmup=300, chains=60, seed=2)
        agrees(result, log_prob, [3] * 3)


def test_an_rbm_has_its_exact_probabilities(agrees):
    rng = np.random.default_rng(2)
    W, a, b = rng.normal(size=(3, 4)), rng.normal(size=4), rng.normal(size=3)

    def log_prob(X):
        X = np.asarray(X, dtype=float)
        return X @ a + np.logaddexp(0, X @ W.T + b).sum(axis=1)

    agrees(saltus.sample(Model.rbm(W, a, b), draws=400, warmup=300, chains=60, seed=3), log_prob, [2] * 4)


def test_evidence_fixes_sites(agrees):
    model = Model.potts(np.zeros((3, 3)), {(0, 1): 1.0, (1, 2): 1.0})
    given = saltus.sample(model, evidence={1: 2}, draws=300, warmup=200, chains=50, seed=1)
    assert (given["posterior"]["state"][..., 1] == 2).all()
    same = saltus.sample(model, evidence=[-1, 2, np.nan], draws=300, warmup=200, chains=50, seed=1)
    np.testing.assert_array_equal(given["posterior"]["state"], same["posterior"]["state"])
    share = float((given["posterior"]["state"][..., 0] == 2).mean())
    assert abs(share - np.e / (np.e + 2)) < 0.02


SETTINGS = {"chains": 7, "warmup": 100, "draws": 150, "seed": 5}
OPTIONS = [word for name, value in SETTINGS.items() for word in (f"--{name}", str(value))]
MODELS = [
    ("ising", {"size": "6x5", "coupling": 0.3, "periodic": True}, ["--size", "6x5", "--coupling", "0.3", "--periodic"]),
    ("potts", {"size": "4x4", "values": 3, "coupling": 0.4}, ["--size", "4x4", "--values", "3", "--coupling", "0.4"]),
    ("rbm", {"visible": 30, "hidden": 5}, ["--visible", "30", "--hidden", "5"]),
    ("fhmm", {"length": 20, "factors": 2}, ["--length", "20", "--factors", "2"]),
    ("categorical", {"sites": 20, "values": 4}, ["--sites", "20", "--values", "4"]),
]


def files(folder):
    """Every file of a store but that of what differs between two runs of the same draws."""
    paths = [path.relative_to(folder) for path in pathlib.Path(folder).rglob("*") if path.is_file()]
    return sorted(str(path) for path in paths if path.name not in ("timing.json", "lock", ".lock"))


def assert_same_store(one, other):
    assert files(one) == files(other)
    _, differ, wrong = filecmp.cmpfiles(one, other, files(one), shallow=False)
    assert (differ, wrong) == ([], [])


@pytest.mark.parametrize(("name", "options", "words"), MODELS, ids=[model[0] for model in MODELS])
@pytest.mark.parametrize("sampler", ["dlmc", "gwg", "gibbs", "rwm"])
def test_stores_are_those_of_the_command_line(command, tmp_path, name, options, words, sampler):
    line = [command, "sample", name, *words, *OPTIONS, "--sampler", sampler, "--keep", "states", "--quiet"]
    subprocess.run([*line, "--out", tmp_path / "cli"], check=True, capture_output=True)
    stored = saltus.sample(
        Model(name, **options), sampler=sampler, store=tmp_path / "python", keep="states", **SETTINGS
    )
    assert_same_store(tmp_path / "cli", tmp_path / "python")
    # And the same draws in memory, on any number of threads.
    memory = saltus.sample(Model(name, **options), sampler=sampler, threads=3, **SETTINGS)
    for group in ("posterior", "sample_stats"):
        for array in memory[group]:
            np.testing.assert_array_equal(memory[group][array], stored[group][array])


UAI = "MARKOV\n3\n2 3 2\n2\n2 0 1\n2 1 2\n6\n1 2 3 0.5 4 1\n6\n1 3 2 2 0.1 1\n"
WAYS = {
    "auto": ({}, []),
    "auto with a warm-up": ({"warmup": 300}, ["--warmup", "300"]),
    "one step in five": ({"sampler": "gwg", "thin": 5}, ["--sampler", "gwg", "--thin", "5"]),
    "steps that suit": ({"sampler": "gwg", "evidence": {0: 1, 5: 0}}, ["--sampler", "gwg", "--clamp", "0=1,5=0"]),
    "a weight": ({"sampler": "pas", "weight": "ratio"}, ["--sampler", "pas", "--weight", "ratio"]),
    "a solver": ({"sampler": "dlmc", "solver": "exact"}, ["--sampler", "dlmc", "--solver", "exact"]),
    "exact differences": ({"sampler": "dmala", "differences": "exact"}, ["--sampler", "dmala", "--differences", "exact"]),
    "a scale": ({"sampler": "dmala", "scale": 0.3}, ["--sampler", "dmala", "--scale", "0.3"]),
    "an acceptance": (
        {"sampler": "dlmc", "target_acceptance": 0.4}, ["--sampler", "dlmc", "--target-acceptance", "0.4"]
    ),
    "a temperature": ({"sampler": "gibbs", "beta": 0.5}, ["--sampler", "gibbs", "--beta", "0.5"]),
    "a ladder": ({"sampler": "gibbs", "temper": 4}, ["--sampler", "gibbs", "--temper", "4"]),
    "a ladder that is found": ({"sampler": "dlmc", "temper": "auto"}, ["--sampler", "dlmc", "--temper", "auto"]),
    "evidence": ({"sampler": "dlmc", "evidence": {3: 1}}, ["--sampler", "dlmc", "--clamp", "3=1"]),
    "a sum": ({"sampler": "gibbs", "fixed_sum": 9}, ["--sampler", "gibbs", "--fixed-sum", "9"]),
    "sums and evidence": (
        {"fixed_sum": {(0, 1, 2, 3): 2, (4, 5): 1}, "evidence": {1: 1}},
        ["--fixed-sum", "2:0-3,1:4-5", "--clamp", "1=1"],
    ),
    "groups": ({"one_hot": [[0, 1, 2], [4, 6]]}, ["--one-hot", "0-2,4+6"]),
    "groups by dlmc": ({"sampler": "dlmc", "one_hot": [[0, 1, 2]]}, ["--sampler", "dlmc", "--one-hot", "0-2"]),
    "no scouts": ({"sampler": "gibbs", "scouts": False}, ["--sampler", "gibbs", "--no-scouts"]),
}  # fmt: skip


@pytest.mark.parametrize(("ways", "words"), WAYS.values(), ids=WAYS.keys())
def test_every_option_is_that_of_the_command_line(command, tmp_path, ways, words):
    settings = {"chains": 5, "draws": 60, "seed": 3}
    line = [command, "sample", "ising", "--size", "4x5", "--coupling", "0.3", *words, "--keep", "states", "--quiet"]
    line += [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    subprocess.run([*line, "--out", tmp_path / "cli"], check=True, capture_output=True)
    model = Model("ising", size="4x5", coupling=0.3)
    saltus.sample(model, store=tmp_path / "python", keep="states", **settings, **ways)
    assert_same_store(tmp_path / "cli", tmp_path / "python")
    # What is known of the states is known to the store, whoever goes on with it.
    resumed = saltus.sample(None, store=tmp_path / "python", resume=True, draws=80)
    assert resumed["posterior"]["state"].shape == (5, 80, 20)
    subprocess.run([command, "sample", "--resume", tmp_path / "cli", "--extend", "20", "--quiet"], check=True, capture_output=True)
    assert files(tmp_path / "cli") == files(tmp_path / "python")
    np.testing.assert_array_equal(resumed["posterior"]["state"], saltus.load(tmp_path / "cli")["posterior"]["state"])


@pytest.mark.parametrize("sampler", ["auto", "dlmc", "pas", "gibbs"])
def test_files_have_the_bytes_of_the_command_line(command, tmp_path, sampler):
    (tmp_path / "net.uai").write_text(UAI)
    line = [command, "sample", tmp_path / "net.uai", "--sampler", sampler, "--clamp", "0=1", "--keep", "states", "--quiet"]
    subprocess.run([*line, *OPTIONS, "--out", tmp_path / "cli"], check=True, capture_output=True)
    model = Model.from_file(tmp_path / "net.uai")
    saltus.sample(model, sampler=sampler, evidence={0: 1}, store=tmp_path / "python", keep="states", **SETTINGS)
    assert_same_store(tmp_path / "cli", tmp_path / "python")


@pytest.mark.parametrize("how", ["kept", "paused", "given up"])
def test_an_interpreter_may_end_while_a_run_goes_on(how):
    program = f"""
import saltus, time
model = saltus.Model.from_log_prob(lambda X: 0.1 * X.sum(axis=1), 2, sites=50)
run = saltus.sample(model, draws=10**6, chains=20, blocking=False, keep="none", seed=1)
time.sleep(0.3)
if {how!r} == "paused":
    run.pause()
elif {how!r} == "given up":
    del run
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_groups_and_sums_have_their_exact_probabilities(exact):
    """Of all states, those in which sites 0 to 2 have exactly one that is 1, and 3 to 5 two."""
    h = np.array([0.3, -0.8, 0.1, 0.5, -0.2, 0.9])
    model = Model.ising(h, {(0, 3): 0.7, (2, 4): -0.6, (1, 5): 0.4})
    states, weights = exact(lambda X: model.log_prob(X), [2] * 6)
    kept = (states[:, :3].sum(axis=1) == 1) & (states[:, 3:].sum(axis=1) == 2)
    expected = weights[kept] @ states[kept] / weights[kept].sum()
    given = {"one_hot": [[0, 1, 2]], "fixed_sum": {(3, 4, 5): 2}}
    drawn = np.asarray(saltus.sample(model, draws=500, warmup=200, chains=50, seed=4, **given)["posterior"]["state"])
    assert (drawn[..., :3].sum(axis=-1) == 1).all() and (drawn[..., 3:].sum(axis=-1) == 2).all()
    means = drawn.mean(axis=1)
    error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    assert (np.abs(means.mean(axis=0) - expected) < 5 * error).all()
    best = states[kept][weights[kept].argmax()]
    np.testing.assert_array_equal(saltus.minimize(model, seed=1, **given).states[0], best)
    found = saltus.exact(model, **given)
    np.testing.assert_allclose([row[1] for row in found.marginals], expected, rtol=1e-4, atol=1e-6)
    for wrong in ({"one_hot": [[0, 9]]}, {"one_hot": [[0, 1], [1, 2]]}, {"fixed_sum": 7}, {"fixed_sum": {(): 1}}):
        with pytest.raises(ValueError):
            saltus.sample(model, **wrong)


def test_a_store_is_gone_on_with_by_either(command, tmp_path):
    line = [command, "sample", "ising", "--size", "5x5", "--coupling", "0.2", "--quiet", "--keep", "bits"]
    subprocess.run([*line, *OPTIONS, "--out", tmp_path / "whole"], check=True, capture_output=True)
    short = [word if word != "150" else "60" for word in OPTIONS]
    subprocess.run([*line, *short, "--out", tmp_path / "parts"], check=True, capture_output=True)
    resumed = saltus.sample(None, store=tmp_path / "parts", resume=True, draws=110)
    assert resumed["posterior"]["state"].shape == (7, 110, 25)
    extend = [command, "sample", "--resume", tmp_path / "parts", "--extend", "40", "--quiet"]
    subprocess.run(extend, check=True, capture_output=True)
    assert_same_store(tmp_path / "whole", tmp_path / "parts")


def test_evidence_is_named_as_the_file_names_it(tmp_path):
    network = tmp_path / "dice.bif"
    network.write_text(
        "network d { }\nvariable A { type discrete [ 3 ] { 1, 2, 3 }; }\n"
        "probability ( A ) { table 0.2, 0.3, 0.5; }\nvariable B { type discrete { t, f }; }\n"
        "probability ( B | A ) { (1) 0.9, 0.1; (2) 0.4, 0.6; (3) 0.25, 0.75; }\n"
    )
    model = Model.from_file(str(network))
    # The value that is named 1 is the first.
    for given in ({"A": 1}, {0: 1}, {"A": "1"}):
        assert np.allclose(saltus.exact(model, evidence=given).marginals[1], [0.9, 0.1])
    with pytest.raises(ValueError, match="known: 1, 2, 3"):
        saltus.exact(model, evidence={"A": 0})
    spins = tmp_path / "pair.coo"
    spins.write_text("# vartype=SPIN\n0 1 -1\n")
    found = saltus.exact(Model.from_file(str(spins)), evidence={0: -1})
    assert np.isclose(found.marginals[1][0], 1 / (1 + np.exp(-2)))


def test_a_store_knows_its_evidence(tmp_path):
    model, settings = Model("ising", size="4x4", coupling=0.2), {"warmup": 50, "chains": 3, "seed": 1}
    saltus.sample(model, evidence={3: 1}, draws=20, store=tmp_path / "parts", keep="states", **settings)
    resumed = saltus.sample(None, store=tmp_path / "parts", resume=True, draws=50)
    whole = saltus.sample(model, evidence={3: 1}, draws=50, **settings)
    np.testing.assert_array_equal(resumed["posterior"]["state"], whole["posterior"]["state"])


def test_arviz_and_netcdf_take_the_tree(tmp_path):
    xarray = tool("xarray")
    result = saltus.sample(Model("ising", size="4x4", coupling=0.2), draws=100, warmup=50, chains=4, seed=1)
    assert isinstance(result, xarray.DataTree)
    assert "every chain moved" in result._repr_html_()
    arviz = tool("arviz")
    # Before 1.0 ArviZ had a type of its own.
    known = arviz.InferenceData.from_datatree(result) if arviz.__version__ < "1" else result
    table = arviz.summary(known, var_names=["magnetisation"])
    assert table.shape[0] == 1
    tool("netCDF4")
    result.to_netcdf(tmp_path / "run.nc")
    again = xarray.open_datatree(tmp_path / "run.nc")
    np.testing.assert_array_equal(again["posterior"]["state"], result["posterior"]["state"])
    assert saltus.verdict(again) == saltus.verdict(result)


def test_without_xarray_there_are_dicts(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    result = saltus.sample(Model("bernoulli", sites=5), draws=50, warmup=50, chains=3, seed=1)
    assert isinstance(result, dict)
    assert result["posterior"]["state"].shape == (3, 50, 5)
    assert "every chain moved" in saltus.verdict(result)
    assert "every chain moved" in result._repr_html_()


def slow():
    """A run of minutes."""
    model = Model("ising", size="40x40", coupling=0.3)
    return saltus.sample(model, draws=10**7, warmup=10, chains=4, keep="none", seed=1, blocking=False)


def test_a_run_is_waited_for_looked_at_held_and_stopped():
    run = slow()
    with pytest.raises(TimeoutError):
        run.wait(0.3)
    while not run.inspect()["posterior"]["hamming"].shape[1]:
        time.sleep(0.05)
    run.pause()
    time.sleep(0.4)
    held = run.progress["steps"]
    time.sleep(0.3)
    assert run.progress["steps"] == held and "paused" in repr(run) and not run.is_finished
    run.resume()
    time.sleep(0.5)
    assert run.progress["steps"] > held
    result = run.abort()
    assert run.is_finished and "<progress" in run._repr_html_()
    assert [finding["code"] for finding in saltus.findings(result)][0] == "incomplete"
    cancelled = slow()
    cancelled.cancel()
    assert cancelled.is_finished


def test_ctrl_c_returns_what_there_is():
    # Where tests run in the background, a shell has them ignore Ctrl-C.
    program = """
import signal, saltus
signal.signal(signal.SIGINT, signal.default_int_handler)
print("started", flush=True)
model = saltus.Model("ising", size="40x40", coupling=0.3)
# A sampler by name: while one is chosen there is nothing to return, and Ctrl-C is a KeyboardInterrupt.
result = saltus.sample(model, sampler="gibbs", draws=10**7, warmup=10, chains=4, keep="none", seed=1)
print(saltus.findings(result)[0]["code"], result["posterior"]["hamming"].shape[1] > 0)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline().strip() == "started"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert out.strip() == "incomplete True"


def test_a_callback_is_told_and_may_stop():
    told = []
    model = Model("ising", size="30x30", coupling=0.3)
    saltus.sample(model, sampler="dlmc", draws=30000, warmup=10, chains=4, keep="none", seed=1, callback=told.append)
    assert told and set(told[-1]) == {"phase", "steps", "total_steps", "acceptance", "scale", "ess"}

    def enough(progress):
        raise StopIteration("enough")

    with pytest.raises(StopIteration):
        saltus.sample(model, draws=10**7, warmup=10, chains=4, keep="none", seed=1, callback=enough)


def test_rules_stop_a_run():
    model = Model("bernoulli", sites=10)
    result = saltus.sample(model, draws=10**6, chains=4, seed=1, keep="none", stop={"ess": 500})
    assert saltus.summary(result)["stopped_by"] == "until-ess"
    result = saltus.sample(model, draws=10**7, chains=4, seed=1, keep="none", stop={"seconds": 0.2})
    assert saltus.summary(result)["stopped_by"] == "time-limit"


def test_chains_start_where_they_are_told_and_go_on_from_a_result():
    model = Model("ising", size="4x4", coupling=0.2)
    first = saltus.sample(model, init=np.ones(16), warmup=0, draws=1, chains=3, seed=1, scale=1e-9)
    assert first["posterior"]["state"].values.min() == 1
    again = saltus.sample(model, init=first, warmup=0, draws=5, chains=3, seed=2)
    assert again["posterior"]["state"].shape == (3, 5, 16)


ising = {"name": "ising", "size": "4x4", "coupling": 0.2}
WRONG = [
    (lambda: Model("isling"), ValueError, "did you mean 'ising'"),
    (lambda: Model("ising", sizes="3x3"), TypeError, "did you mean 'size'"),
    (lambda: Model("ising", size="3by3"), ValueError, "3by3"),
    (lambda: Model("ising", seed=-1), ValueError, "at least 0"),
    (lambda: Model.ising([0, 0], np.ones((2, 2))), ValueError, "with itself"),
    (lambda: Model.ising([0, 0], [[0, 1], [2, 0]]), ValueError, "symmetric"),
    (lambda: Model.ising([0, np.nan], {}), ValueError, "NaN"),
    (lambda: Model.ising([0, 0], {(0, 5): 1.0}), ValueError, "names site 5"),
    (lambda: Model.ising(["a", "b"], {}), TypeError, "numbers"),
    (lambda: Model.rbm(np.zeros((2, 3)), np.zeros(2), np.zeros(2)), ValueError, "shape (3,)"),
    (lambda: Model.from_file("no/such/file"), FileNotFoundError, "does not exist"),
    (lambda: Model(**ising).update(h=[1]), TypeError, "no parameters"),
    (lambda: Model.ising([0, 0], {}).update(K=1), TypeError, "unknown parameter 'K'"),
    (lambda: Model.ising([0, 0], {}).update(h=[0, 0, 0]), ValueError, "keeps its values"),
    (lambda: Model(**ising).log_prob([[0, 1]]), ValueError, "(chains, 16)"),
    (lambda: Model(**ising).log_prob(np.full(16, 2)), ValueError, "values go from 0 to 1"),
    (lambda: saltus.sample(Model(**ising), drows=5), TypeError, "did you mean 'draws'"),
    (lambda: saltus.sample(Model(**ising), draws=-5), ValueError, "draws must be at least 1, got -5"),
    (lambda: saltus.sample(Model(**ising), draws=1.5), TypeError, "whole number"),
    (lambda: saltus.sample(Model(**ising), draws=10**30), ValueError, "more than can be counted"),
    (lambda: saltus.sample(Model(**ising), sampler="dlcm"), ValueError, "did you mean 'dlmc'"),
    (lambda: saltus.sample(Model(**ising), weight="squrt"), ValueError, "did you mean 'sqrt'"),
    (lambda: saltus.sample(Model(**ising), scale=-1.0), ValueError, "scale"),
    (lambda: saltus.sample(Model(**ising), sampler="gibbs", scale=1.0), ValueError, "no scale"),
    (lambda: saltus.sample(Model(**ising), evidence={99: 0}), ValueError, "the last site is 15"),
    (lambda: saltus.sample(Model(**ising), evidence={0: 2}), ValueError, "its last value is 1"),
    (lambda: saltus.sample(Model(**ising), evidence=[0, 1]), ValueError, "shape"),
    (lambda: saltus.sample(Model(**ising), init=np.zeros((3, 16)), chains=2), ValueError, "each of 2 chains"),
    (lambda: saltus.sample(Model(**ising), stop={"es": 3}), ValueError, "did you mean 'ess'"),
    (lambda: saltus.sample(Model(**ising), stop={"ess": -3}), ValueError, "positive"),
    (lambda: saltus.sample(Model(**ising), resume=True), ValueError, "store="),
    (lambda: saltus.sample(None, store="/no/such/store", resume=True), FileNotFoundError, "not a run"),
    (lambda: saltus.sample("ising"), TypeError, "saltus.Model"),
    (lambda: saltus.sample(Model(**ising), keep="all"), ValueError, "unknown keep"),
    (lambda: saltus.sample(Model(**ising), threads=0), ValueError, "threads"),
    (lambda: saltus.sample(Model(**ising), callback=3), TypeError, "callback"),
]


@pytest.mark.parametrize(("wrong", "kind", "words"), WRONG, ids=range(len(WRONG)))
def test_what_cannot_be_is_one_sentence(wrong, kind, words):
    with pytest.raises(kind) as raised:
        wrong()
    assert words in str(raised.value) and "\n" not in str(raised.value)


def test_a_store_that_is_there_is_not_replaced_unasked(tmp_path):
    model, settings = Model("bernoulli", sites=5), {"draws": 10, "warmup": 10, "chains": 2, "seed": 1}
    saltus.sample(model, store=tmp_path / "run", **settings)
    with pytest.raises(FileExistsError, match="replace=True"):
        saltus.sample(model, store=tmp_path / "run", **settings)
    saltus.sample(model, store=tmp_path / "run", replace=True, **settings)
    with pytest.raises(ValueError, match="resume=True goes on with the run's own settings"):
        saltus.sample(model, store=tmp_path / "run", resume=True, chains=3)


def test_threads_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("SLURM_CPUS_PER_TASK", "1")
    result = saltus.sample(Model("bernoulli", sites=5), draws=10, warmup=10, chains=4, seed=1)
    assert saltus.summary(result)["threads"] == 1
