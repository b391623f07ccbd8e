"""The door for D-Wave's tools: dimod's own conformance tests, ground states, temperatures."""

import itertools
import unittest

import numpy as np
import pytest
from conftest import tool

dimod = tool("dimod")
import dimod.testing  # noqa: E402

from saltus import Model  # noqa: E402
from saltus.dimod import SaltusSampler  # noqa: E402


@dimod.testing.load_sampler_bqm_tests(SaltusSampler)
class TestConformance(unittest.TestCase):
    """Every test that dimod has for samplers."""

    def test_api(self):
        dimod.testing.assert_sampler_api(SaltusSampler())


def glass(variables, seed, vartype="SPIN"):
    bqm = dimod.generators.ran_r(3, variables, seed=seed)
    return bqm.change_vartype(vartype, inplace=False)


def test_ground_states_are_found():
    bqm = glass(12, 1)
    best = dimod.ExactSolver().sample(bqm).first.energy
    found = SaltusSampler().sample(bqm, num_reads=20, num_sweeps=200, seed=1)
    assert found.first.energy == pytest.approx(best)
    assert len(found) == 20 and found.vartype is dimod.SPIN


def test_spins_and_bits_give_the_same_samples():
    settings = {"num_reads": 5, "num_sweeps": 50, "seed": 3, "beta_range": [0.1, 2.0]}
    spins = SaltusSampler().sample(glass(10, 2), **settings)
    bits = SaltusSampler().sample(glass(10, 2, "BINARY"), **settings)
    np.testing.assert_array_equal((spins.record.sample + 1) // 2, bits.record.sample)
    np.testing.assert_allclose(spins.record.energy, bits.record.energy)
    again = SaltusSampler().sample(glass(10, 2), **settings)
    np.testing.assert_array_equal(spins.record.sample, again.record.sample)


def test_one_temperature_is_boltzmann():
    bqm = dimod.BinaryQuadraticModel({"a": 0.3, "b": -0.2}, {("a", "b"): -0.6, ("b", "c"): 0.4}, 0.0, "SPIN")
    beta, reads = 0.8, 4000
    drawn = SaltusSampler().sample(bqm, num_reads=reads, num_sweeps=20, beta_range=[beta, beta], seed=1)
    states = [dict(zip("abc", values)) for values in itertools.product((-1, 1), repeat=3)]
    weights = np.exp([-beta * bqm.energy(state) for state in states])
    for state, probability in zip(states, weights / weights.sum()):
        share = np.mean([all(row[i] == state[v] for i, v in enumerate(drawn.variables)) for row in drawn.record.sample])
        assert abs(share - probability) < 5 * np.sqrt(probability * (1 - probability) / reads)


def test_a_model_of_a_bqm_has_minus_its_energy():
    bqm = glass(6, 4)
    model = Model.from_bqm(bqm, beta=0.5)
    states = np.array([[0, 1, 1, 0, 1, 0], [1, 1, 1, 0, 0, 0]])
    energies = bqm.energies((2 * states - 1, list(bqm.variables)))
    log_prob = model.log_prob(states)
    assert log_prob[1] - log_prob[0] == pytest.approx(-0.5 * (energies[1] - energies[0]), abs=1e-5)


def test_keywords():
    bqm = glass(4, 1)
    with pytest.warns(UserWarning, match="num_spins is not a keyword"):
        SaltusSampler().sample(bqm, num_spins=3, num_sweeps=5)
    for wrong in (
        {"num_reads": 0},
        {"num_sweeps": -1},
        {"beta_range": [-1, 2]},
        {"beta_schedule_type": "geometrical"},
        {"beta_schedule_type": "custom"},
    ):
        with pytest.raises(ValueError):
            SaltusSampler().sample(bqm, **wrong)
    start = {v: 1 for v in bqm.variables}
    kept = SaltusSampler().sample(bqm, initial_states=[start], interrupt_function=lambda: True)
    assert kept.first.sample == start
