"""log Z, exact answers, best states, ladders of temperatures, tables and polynomials: against enumeration."""

import itertools
import os
import pathlib
import sys

import numpy as np
import pytest
from conftest import REPOSITORY, tool

import saltus
from saltus import Model


def states_of(cards):
    return np.array(list(itertools.product(*(range(card) for card in cards))), dtype=np.uint8)


def tables():
    """Mixed cardinalities and hard zeros."""
    rng = np.random.default_rng(1)
    pair = rng.uniform(0.1, 2, size=(3, 2))
    pair[0, 1] = 0
    return [3, 2, 4], [([0, 1], pair), ([2, 1], rng.uniform(0.1, 2, size=(4, 2))), ([0], [1.0, 2.0, 0.5])]


def weight_of(cards, factors):
    states = states_of(cards)
    product = np.ones(len(states))
    for scope, table in factors:
        product *= np.asarray(table)[tuple(states[:, site] for site in scope)]
    return states, product


def test_factors_are_the_products_of_their_tables(agrees):
    cards, factors = tables()
    states, product = weight_of(cards, factors)
    model = Model.factors(cards, factors)
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.log_prob(states), np.log(product), atol=1e-12)
    found = saltus.exact(model)
    assert found.log_z == pytest.approx(np.log(product.sum()), abs=1e-12)
    for site, card in enumerate(cards):
        expected = [product[states[:, site] == value].sum() / product.sum() for value in range(card)]
        np.testing.assert_allclose(found.marginals[site], expected, atol=1e-12)
    assert found.map.tolist() == states[product.argmax()].tolist()
    draws = saltus.exact(model, draws=4000, seed=1).draws
    share = (draws[:, 0] == 1).mean()
    assert share == pytest.approx(found.marginals[0][1], abs=4 * np.sqrt(0.25 / 4000))
    result = saltus.sample(model, sampler="gibbs", draws=400, warmup=100, chains=60, seed=1)
    with np.errstate(divide="ignore"):
        agrees(result, lambda rows: np.log(weight_of(cards, factors)[1]), cards)
    logs = [(scope, np.log(np.maximum(table, 1e-300))) for scope, table in factors[1:]]
    again = Model.factors(cards, logs, log=True).log_prob(states)
    np.testing.assert_allclose(again, np.log(weight_of(cards, factors[1:])[1]), atol=1e-12)


def test_couplings_of_values_in_every_form(agrees):
    rng = np.random.default_rng(2)
    h, table = rng.normal(size=(3, 4)), rng.normal(size=(3, 3, 4, 4))
    upper = np.triu(np.ones((3, 3)), 1)[:, :, None, None] * table
    symmetric = upper + upper.transpose(1, 0, 3, 2)
    pairs = {(i, j): upper[i, j] for i in range(3) for j in range(i + 1, 3)}
    states = states_of([4] * 3)
    expected = sum(h[site, states[:, site]] for site in range(3))
    expected += sum(upper[i, j][states[:, i], states[:, j]] for i, j in pairs)
    for J in (upper, symmetric, symmetric.transpose(0, 2, 1, 3), pairs, {(j, i): t.T for (i, j), t in pairs.items()}):
        np.testing.assert_allclose(Model.potts(h, J).log_prob(states), expected, atol=1e-5)
    model = Model.potts(h, symmetric, alphabet="ACGU")
    assert model.letters([[0, 1, 3]]) == ["ACU"]
    result = saltus.sample(model, sampler="dlmc", draws=300, warmup=200, chains=60, seed=1)
    agrees(result, lambda rows: Model.potts(h, symmetric).log_prob(rows.astype(np.uint8)), [4] * 3)
    with pytest.raises(ValueError, match="symmetric"):
        Model.potts(h, rng.normal(size=(3, 3, 4, 4)))
    with pytest.raises(ValueError, match="alphabet must have 4"):
        Model.potts(h, symmetric, alphabet="AC")
    with pytest.raises(ValueError, match="shape"):
        Model.potts(h, {(0, 1): np.zeros((3, 4))})
    model.update(h=h + 1)
    np.testing.assert_allclose(model.log_prob(states), expected + 3, atol=1e-5)


def test_polynomials_are_their_products():
    terms = {(0, 1, 2): 0.5, (1, 3): -1.0, (2,): 0.25, (): 2.0}
    states = states_of([2] * 4)
    for vartype, values in (("SPIN", 2.0 * states - 1), ("BINARY", 1.0 * states)):
        expected = sum(c * values[:, list(scope)].prod(axis=1) for scope, c in terms.items())
        np.testing.assert_allclose(Model.polynomial(terms, vartype=vartype).log_prob(states), expected, atol=1e-6)
    with pytest.raises(ValueError, match="vartype"):
        Model.polynomial(terms, vartype="SPINS")


def test_log_z_of_a_lattice_is_the_exact_one():
    model = Model("ising", size="4x4", coupling=0.4)
    found, exactly = saltus.log_z(model, seed=1, draws=800), saltus.exact(model).log_z
    assert abs(found.value - exactly) < 5 * found.se and found.lower < exactly < found.upper
    assert float(found) == found.value and len(found.table["betas"]) > 2


def test_a_ladder_crosses_where_one_temperature_cannot():
    model = Model("ising", size="6x6", periodic=True, coupling=0.8)
    settings = {"sampler": "gibbs", "draws": 300, "warmup": 300, "seed": 1, "chains": 8}
    tempered = saltus.sample(model, temper="auto", **settings)
    up = np.asarray(tempered["posterior"]["magnetisation"]) > 0
    assert ((0.15 < up.mean(axis=1)) & (up.mean(axis=1) < 0.85)).all()
    assert saltus.summary(tempered)["tempering"]["round_trips"] > 0
    plain = saltus.sample(model, **settings)
    assert saltus.findings(plain)
    assert len(saltus.summary(saltus.sample(model, temper=4, **settings))["tempering"]["betas"]) == 4


def test_beta_samples_a_power_of_the_model(agrees):
    h, J = [0.3, -0.2, 0.5], {(0, 1): 0.8, (1, 2): -0.5}
    model = Model.ising(h, J)
    result = saltus.sample(model, beta=0.4, sampler="gibbs", draws=400, warmup=50, chains=60, seed=2)
    agrees(result, lambda rows: 0.4 * model.log_prob(rows.astype(np.uint8)), [2] * 3)
    for beta in (0.0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="beta must be positive"):
            saltus.sample(model, beta=beta)
    with pytest.raises(ValueError, match="rungs"):
        saltus.sample(model, temper="many")
    with pytest.raises(ValueError, match="at least 2"):
        saltus.sample(model, temper=1)


def test_the_best_states_are_those_of_enumeration():
    rng = np.random.default_rng(3)
    J = np.triu(rng.normal(size=(10, 10)), 1)
    model = Model.ising(rng.normal(size=10), J)
    states = states_of([2] * 10)
    log_prob = model.log_prob(states)
    found = saltus.minimize(model, seed=1, sweeps=200)
    assert found.energies[0] == pytest.approx(-log_prob.max(), abs=1e-4)
    assert found.states[0].tolist() == states[log_prob.argmax()].tolist()
    assert found.hits[0] > 0 and found.trace["coolings"] >= 1
    for method in ("reheat", "temper"):
        other = saltus.minimize(model, seed=1, sweeps=200, method=method)
        assert other.energies[0] == pytest.approx(found.energies[0], abs=1e-4)
    with pytest.raises(ValueError, match="method must be"):
        saltus.minimize(model, method="cool")
    given = saltus.minimize(model, evidence={0: 1 - int(states[log_prob.argmax()][0])}, seed=1, sweeps=200)
    assert given.states[0][0] == 1 - states[log_prob.argmax()][0]
    with pytest.raises(TypeError, match="did you mean 'sweeps'"):
        saltus.minimize(model, sweep=3)
    with pytest.raises(ValueError):
        saltus.minimize(model, seconds=-1)


def test_functions_have_log_z_and_best_states_too():
    weights = np.array([1.0, -2.0, 0.5])
    model = Model.from_log_prob(lambda X: X @ weights, 2, sites=3)
    assert saltus.exact(model).log_z == pytest.approx(np.log1p(np.exp(weights)).sum())
    assert saltus.minimize(model, chains=4, sweeps=50, seed=0).states[0].tolist() == [1, 0, 1]


def test_what_cannot_be_is_said_in_a_sentence():
    for scope, table, words in (
        ([0, 5], np.ones((2, 2)), "names site 5"),
        ([0, 1], np.ones((2, 3)), "must have shape"),
        ([0], [1.0, -1.0], "potentials"),
        ([0], [1.0, np.nan], "potentials"),
    ):
        with pytest.raises(ValueError, match=words):
            Model.factors([2, 2], [(scope, table)])
    with pytest.raises(ValueError, match="twice"):
        Model.factors([2, 2], [([0, 0], np.ones((2, 2)))])
    with pytest.raises(ValueError):
        saltus.exact(Model("rbm", visible=100, hidden=30))
    with pytest.raises(TypeError, match="must be a saltus.Model"):
        saltus.exact(3)


def test_files_of_arrays_are_models(tmp_path):
    J = np.triu(np.random.default_rng(0).normal(size=(4, 4)), 1)
    np.savez(tmp_path / "spins.npz", h=np.arange(4.0), J=J + J.T)
    np.savez_compressed(tmp_path / "rbm.npz", W=np.ones((5, 3), np.float16), a=np.zeros(5), b=np.zeros(3))
    np.save(tmp_path / "J.npy", np.asfortranarray(J))
    states = states_of([2] * 4)
    expected = Model.ising(np.arange(4.0), J).log_prob(states)
    np.testing.assert_allclose(Model.from_file(tmp_path / "spins.npz").log_prob(states), expected, atol=1e-5)
    np.testing.assert_allclose(
        Model.from_file(tmp_path / "J.npy").log_prob(states), Model.ising(np.zeros(4), J).log_prob(states), atol=1e-5
    )
    assert Model.from_file(tmp_path / "rbm.npz").sites == 5


def test_stores_have_coordinates_and_go_to_netcdf(tmp_path):
    xarray = tool("xarray")
    tool("zarr")
    model = Model("ising", size="3x4", coupling=0.2)
    for keep in ("states", "bits"):
        where = tmp_path / keep
        saltus.sample(model, draws=20, warmup=20, chains=3, seed=0, store=where, keep=keep)
        tree = xarray.open_datatree(where, engine="zarr")
        tree.to_netcdf(tmp_path / f"{keep}.nc")
        np.testing.assert_array_equal(tree["sample_stats"]["energy"], -tree["sample_stats"]["lp"])
        again = xarray.open_datatree(tmp_path / f"{keep}.nc")
        assert again.attrs["seed"] == 0 and "sites" in again.attrs["run"]
        if keep == "bits":
            assert "state_bits" in tree["packed"] and "state_bits" not in tree["posterior"]
        else:
            state = tree["posterior"]["state"]
            assert state.coords["row"].values.tolist() == [site // 4 for site in range(12)]
            assert state.coords["column"].values.tolist() == [site % 4 for site in range(12)]


def data(name):
    """A folder of the data, which not everyone has."""
    folder = os.environ.get("SALTUS_DATA") or REPOSITORY.parent / "shared" / "data"
    path = pathlib.Path(folder) / name
    return path if path.exists() else pytest.skip(f"{path} does not exist (see SALTUS_DATA)")


def test_sequences_of_an_rna_family_have_the_frequencies_of_a_long_run(tmp_path):
    """RF00379 by pseudo-likelihood: what short chains draw is what a long run draws."""
    fasta = data("formats/dca") / "RF00379.fasta"
    sys.path.insert(0, str(REPOSITORY / "experiments" / "dca"))
    import dca

    sequences, alphabet = dca.read_fasta(fasta)
    assert alphabet == "-ACGU" and sequences.shape[1] == 136
    field, coupling = dca.fit(sequences[::4], 5, steps=30)
    dca.write_parameters(tmp_path / "parameters.dat", field, coupling, alphabet)
    model = Model.from_file(tmp_path / "parameters.dat")
    states = sequences[:5]
    expected = field[np.arange(136), states].sum(axis=1)
    for row, state in enumerate(states):
        own = coupling[np.arange(136), state][:, np.arange(136), state]
        expected[row] += np.triu(own, 1).sum()
    np.testing.assert_allclose(model.log_prob(states), expected, atol=1e-2)
    short = saltus.sample(model, sampler="gibbs", chains=400, warmup=150, draws=2, thin=20, seed=1)
    long = saltus.sample(model, sampler="gibbs", chains=10, warmup=300, draws=1000, thin=2, seed=2)
    drawn = np.asarray(short["posterior"]["state"]).reshape(-1, 136)
    reference = np.asarray(long["posterior"]["state"])
    found = dca.compare(drawn, reference.reshape(-1, 136), 5)
    assert found["one_site"] > 0.99 and found["two_site"] > 0.98, found
    quarter, half = dca.overlaps(reference)
    assert abs(quarter - half) < 0.02
    # Two programs, one model: dlmc draws the same frequencies.
    other = saltus.sample(model, sampler="dlmc", chains=400, warmup=300, draws=2, thin=20, seed=3)
    found = dca.compare(np.asarray(other["posterior"]["state"]).reshape(-1, 136), reference.reshape(-1, 136), 5)
    assert found["one_site"] > 0.98, found
