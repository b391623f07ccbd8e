"""Runs over executors: the same bytes on any engine, with any number of workers, also after a retry."""

import concurrent.futures
import itertools
import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest
from conftest import tool

import saltus
from saltus import Model

SETTINGS = {"draws": 40, "warmup": 100, "chains": 60, "seed": 3, "sampler": "dlmc"}


def model():
    return Model("ising", size="4x4", coupling=0.2)


def of_bits(X):
    """A function with a name, which other processes can import."""
    return 0.3 * X.sum(axis=1)


def same(one, other):
    for group in ("posterior", "sample_stats"):
        for name in one[group]:
            np.testing.assert_array_equal(one[group][name], other[group][name])


@pytest.fixture(scope="module")
def expected():
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        return saltus.sample(model(), executor=executor, **SETTINGS)


def test_it_is_the_run_with_the_scale_of_the_pilot(expected):
    summary = saltus.summary(expected)
    pilot = saltus.sample(model(), **{**SETTINGS, "draws": 1})
    assert summary["scale"] == saltus.summary(pilot)["scale"] and summary["chains"] == 60
    same(saltus.sample(model(), scale=summary["scale"], **SETTINGS), expected)
    assert "every chain moved" in saltus.verdict(expected)


def test_it_is_judged_as_a_run_in_one_piece():
    """The same findings, sites, scouts and numbers, but for wall time."""
    settings = {**SETTINGS, "draws": 400}
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        expected = saltus.sample(model(), executor=executor, **settings)
    scale = saltus.summary(expected)["scale"]
    whole = saltus.sample(model(), scale=scale, **settings)
    one, other = saltus.summary(expected), saltus.summary(whole)
    assert one["scouts"]["sent"] > 0 and one["scouts"] == other["scouts"] and "best" in one
    clock = ["seconds", "threads", "ns_per_site_step", *(name for name in other if name.endswith("per_second"))]
    for summary in (one, other):
        for name in clock:
            del summary[name]
        # Counted from when a block of chains first found it.
        del summary["best"]["draws"]
    assert one.keys() == other.keys()
    for name, value in other.items():
        assert one[name] == (pytest.approx(value, rel=1e-9) if isinstance(value, float) else value), name
    assert saltus.findings(expected) == saltus.findings(whole)
    np.testing.assert_array_equal(expected["sites"]["mean"], whole["sites"]["mean"])
    np.testing.assert_array_equal(expected["last"]["state"], whole["last"]["state"])
    np.testing.assert_allclose(expected["warmup"]["acceptance"], whole["warmup"]["acceptance"], rtol=1e-12)


def test_tasks_follow_from_the_chains():
    """Each has some work, a hundred nodes are busy with 10⁴ chains, and there is no end to what more chains can be spread over."""
    for chains in (1, 24, 25, 49, 60, 2500, 10_000, 99_999, 10**6):
        cuts = saltus._executor.cut(chains)
        assert [chain for cut in cuts for chain in cut] == list(range(chains))
        assert max(map(len, cuts)) - min(map(len, cuts)) <= 1 and (len(cuts) == 1 or min(map(len, cuts)) >= 25)
    assert len(saltus._executor.cut(10_000)) >= 200 and len(saltus._executor.cut(10**6)) >= 2000
    assert len(saltus._executor.cut(16, is_tempered=True)) == 8
    # A large model is in every task.
    assert len(saltus._executor.cut(10_000, bytes_of_task=1 << 28)) == 4


def test_what_is_no_part_is_refused():
    parts = saltus._core.Parts()
    one = json.dumps({**json.loads(SPEC), "chains": 2})
    part = saltus._core.part(model()._core, one, [], None, True, 0, 4)
    for wrong in (b"", b"12345678", part[:-1], part[:40], b"\xff" * 100):
        with pytest.raises(ValueError, match="a part of the run cannot be joined"):
            parts.add(wrong)
    with pytest.raises(ValueError, match="there are 0 chains of 4"):
        saltus._core.Parts().join(model()._core, SPEC, [], 1.0, "states")
    parts = saltus._core.Parts()
    parts.add(part)
    other = saltus._core.part(model()._core, json.dumps({**json.loads(one), "draws": 3}), [], None, True, 2, 4)
    with pytest.raises(ValueError, match="another run"):
        parts.add(other)


SPEC = '{"sampler": "gibbs", "chains": 4, "draws": 5, "warmup": 5, "seed": 1}'


def test_a_function_that_raises_comes_back_as_itself():
    with concurrent.futures.ThreadPoolExecutor(2) as executor, pytest.raises(KeyError, match="my own") as raised:
        saltus.sample(Model.from_log_prob(raises, 2, sites=3), executor=executor, **SETTINGS)
    if sys.version_info >= (3, 11):
        assert "at step" in raised.value.__notes__[0]


def raises(X):
    if len(X) < 60:
        raise KeyError("my own")
    return np.zeros(len(X))


def test_stores_of_executors_are_those_of_shards(command, tmp_path):
    """What `saltus sample --shard` and `saltus merge` make of the same run, but for who else may go on with it."""
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        settings = {**SETTINGS, "draws": 400}
        spread = saltus.sample(model(), executor=executor, store=tmp_path / "python", keep="states", **settings)
    line = [command, "sample", "ising", "--size", "4x4", "--coupling", "0.2", "--keep", "states", "--quiet"]
    line += [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    for shard in ("0/3", "1/3", "2/3"):
        subprocess.run([*line, "--shard", shard, "--out", tmp_path / "cli"], check=True, capture_output=True)
    parts = [tmp_path / f"cli.{shard}of3" for shard in range(3)]
    subprocess.run([command, "merge", *parts, "--out", tmp_path / "cli"], check=True, capture_output=True)
    same(saltus.load(tmp_path / "cli"), spread)
    same(saltus.load(tmp_path / "python"), spread)
    one, other = (saltus.summary(saltus.load(tmp_path / name)) for name in ("python", "cli"))
    assert one["scouts"] == other["scouts"] and one["scouts"]["sent"] > 0


def test_processes(expected, tmp_path):
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        same(saltus.sample(model(), executor=executor, store=tmp_path / "run", **SETTINGS), expected)
        with pytest.raises(FileExistsError):
            saltus.sample(model(), executor=executor, store=tmp_path / "run", **SETTINGS)
    same(saltus.load(tmp_path / "run"), expected)


def test_threads_and_models_of_every_kind():
    models = [
        Model.ising([0.1, -0.2, 0.0], {(0, 1): 0.5}).update(h=[0.3, 0.0, 0.0]),
        Model.rbm(np.ones((2, 3)), np.zeros(3), np.zeros(2)),
        Model.from_log_prob(of_bits, 2, sites=3),
    ]
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        for one in models:
            again = pickle.loads(pickle.dumps(one))
            np.testing.assert_array_equal(again.log_prob([[1, 0, 1]]), one.log_prob([[1, 0, 1]]))
            result = saltus.sample(one, executor=executor, evidence={2: 1}, init=[0, 0, 1], **SETTINGS)
            assert result["posterior"]["state"].shape == (60, 40, 3)
            assert (result["posterior"]["state"][..., 2] == 1).all()


class Retrying:
    """An engine whose first worker is killed in the middle of a task, and that then runs the task again."""

    def __init__(self):
        self.killed = False

    def submit(self, fn, task):
        class Future:
            def result(_):
                if not self.killed:
                    self.killed = True
                    worker = subprocess.Popen(
                        [sys.executable, "-c", "import sys, saltus._worker as w; w.run(sys.stdin.buffer.read())"],
                        stdin=subprocess.PIPE,
                    )
                    worker.stdin.write(task)
                    worker.stdin.flush()
                    worker.send_signal(signal.SIGKILL)
                    worker.wait()
                return fn(task)

        return Future()


def test_a_killed_worker_is_made_good(expected):
    same(saltus.sample(model(), executor=Retrying(), **SETTINGS), expected)


def test_ladders_stay_whole():
    """Of tempered runs, ladders are what is spread: round trips and log Z are those of all of them."""
    ring = Model.ising([0.1, -0.2, 0.3, 0.0], {(0, 1): 1.0, (1, 2): 1.0, (2, 3): 1.0, (0, 3): 1.0})
    settings = {"draws": 300, "warmup": 400, "chains": 12, "seed": 3, "sampler": "gibbs", "temper": 4, "beta": 0.8}
    results = []
    for workers in (1, 3):
        with concurrent.futures.ThreadPoolExecutor(workers) as executor:
            results.append(saltus.sample(ring, executor=executor, **settings))
    same(*results)
    one, three = (saltus.summary(result)["tempering"] for result in results)
    assert one == three and one["ensembles"] == 12 and one["round_trips"] > 0
    states = np.array(list(itertools.product((0, 1), repeat=4)), dtype=np.uint8)
    exact = np.log(np.exp(0.8 * ring.log_prob(states)).sum())
    assert abs(one["log_z"] - exact) < 5 * one["log_z_se"]


def test_what_executors_cannot_do():
    with pytest.raises(TypeError, match="submit"):
        saltus.sample(model(), executor=3)
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        with pytest.raises(ValueError, match="executors know no stop"):
            saltus.sample(model(), executor=executor, stop={"ess": 3})
        with pytest.raises(ValueError, match="blocking=False"):
            saltus.sample(model(), executor=executor, blocking=False)

        def fail(X):
            raise KeyError("no")

        with pytest.raises((KeyError, TypeError)):
            saltus.sample(Model.from_log_prob(fail, [2, 2]), executor=executor, **SETTINGS)


def test_dask(expected):
    distributed = tool("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            same(saltus.sample(model(), executor=client, **SETTINGS), expected)
            same(saltus.sample(model(), executor=client.get_executor(), **SETTINGS), expected)


def test_mpi(expected, tmp_path):
    tool("mpi4py")
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(f"""
        import sys, saltus
        from mpi4py.futures import MPIPoolExecutor
        if __name__ == "__main__":
            with MPIPoolExecutor() as executor:
                saltus.sample(saltus.Model("ising", size="4x4", coupling=0.2), executor=executor,
                              store=sys.argv[1], keep="states", **{SETTINGS})
        """)
    )
    mpiexec = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    line = [mpiexec, "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures"]
    subprocess.run([*line, script, tmp_path / "run"], check=True, timeout=120)
    same(saltus.load(tmp_path / "run"), expected)


def test_submitit(expected, tmp_path):
    submitit = tool("submitit")
    executor = submitit.LocalExecutor(folder=tmp_path / "logs")
    same(saltus.sample(model(), executor=executor, **SETTINGS), expected)


def test_ray(expected, tmp_path):
    """Where it is installed, also with a worker that is killed: its 240 MB are not among the requirements."""
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    flag = str(tmp_path / "killed")

    def submit(fn, *arguments):
        return ray.remote(fn).remote(*arguments).future()

    def dying(task):
        import threading
        import time

        if not os.path.exists(flag):
            open(flag, "w").close()
            threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGKILL)).start()
            time.sleep(1)
        return saltus._worker.run(task)

    try:
        same(saltus.sample(model(), executor=types.SimpleNamespace(submit=submit), **SETTINGS), expected)
        retried = types.SimpleNamespace(submit=lambda fn, task: submit(dying, task))
        same(saltus.sample(model(), executor=retried, **SETTINGS), expected)
        assert os.path.exists(flag)
    finally:
        ray.shutdown()


def kill_once(flag, task):
    """Kills its own worker in the middle of a task, the first time."""
    import threading

    from saltus import _worker

    if not os.path.exists(flag):
        open(flag, "w").close()
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGKILL)).start()
    return _worker.run(task)


def test_dask_runs_the_task_of_a_killed_worker_again(expected, tmp_path):
    distributed = tool("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:

            class Executor:
                def submit(self, fn, task):
                    return client.submit(kill_once, str(tmp_path / "killed"), task)

            same(saltus.sample(model(), executor=Executor(), **SETTINGS), expected)
    assert (tmp_path / "killed").exists()
