"""One question to one library, in a process of its own: `python peer.py update|wait LIBRARY MODEL.npz OPTIONS`.

`update` answers with nanoseconds per site update, `wait` with seconds since the process was started until draws are worth what was
wanted, `ess FILE.npz` with the effective draws of a run of saltus.
"""

import json
import os
import sys
import time


def worth(log_prob, magnetisation):
    """Effective draws of the slower of the two, by ArviZ; arrays of chains by draws."""
    import arviz

    return min(float(arviz.ess(series)) if series.std() > 0 else 0.0 for series in (log_prob, magnetisation))


class Dwave:
    """Simulated annealing of dwave-samplers at one temperature, by heat-bath updates."""

    kinds = ("spins",)

    def __init__(self, model, chains):
        import numpy as np
        from dwave.samplers import SimulatedAnnealingSampler

        self.np, self.chains = np, chains
        self.sampler = SimulatedAnnealingSampler()
        # Energies: p ∝ e^−E at β = 1.
        self.couplings = {(int(i), int(j)): -float(w) for (i, j), w in zip(model["pairs"], model["weights"])}
        self.fields = {site: 0.0 for site in range(int(model["sites"]))}
        self.states = None

    def sweep(self, sweeps):
        start = {} if self.states is None else {"initial_states": (self.states, list(range(self.states.shape[1])))}
        found = self.sampler.sample_ising(
            self.fields, self.couplings, num_reads=self.chains, num_sweeps=sweeps, num_sweeps_per_beta=sweeps,
            beta_schedule_type="custom", beta_schedule=[1.0], proposal_acceptance_criteria="Gibbs", seed=int(time.time_ns() % 2**31), **start,
        )
        found = found.record.sample if list(found.variables) == list(range(len(self.fields))) else self.np.stack(
            [found.samples(sorted_by=None)[k][v] for k in range(self.chains) for v in range(len(self.fields))]
        ).reshape(self.chains, -1)
        self.states = found.astype(self.np.int8)
        return self.states


class OpenJij:
    """Simulated annealing of OpenJij at one temperature: Metropolis updates, spin by spin."""

    kinds = ("spins",)

    def __init__(self, model, chains):
        import numpy as np
        import openjij

        self.np, self.chains, self.sites = np, chains, int(model["sites"])
        self.sampler = openjij.SASampler()
        self.couplings = {(int(i), int(j)): -float(w) for (i, j), w in zip(model["pairs"], model["weights"])}
        self.is_sparse = len(self.couplings) < self.sites**2 / 8

    def sweep(self, sweeps):
        # It has no way to go on from a state per read: every call starts anew.
        found = self.sampler.sample_ising(
            {}, self.couplings, num_reads=self.chains, num_sweeps=sweeps, beta_min=1.0, beta_max=1.0, sparse=self.is_sparse,
        )
        order = self.np.argsort(list(found.variables))
        return found.record.sample[:, order]

    restarts = True


class Thrml:
    """Block Gibbs of thrml on all chains at once, colour by colour."""

    kinds, name = ("spins",), "thrml"

    def __init__(self, model, chains):
        import importlib

        import jax
        import jax.numpy as jnp
        import numpy as np

        library, models = importlib.import_module(self.name), importlib.import_module(self.name + ".models")
        Block, SpinNode = library.Block, library.SpinNode
        IsingEBM, IsingSamplingProgram, hinton_init = models.IsingEBM, models.IsingSamplingProgram, models.hinton_init

        self.jax, self.np, self.chains = jax, np, chains
        sites = int(model["sites"])
        nodes = [SpinNode() for _ in range(sites)]
        edges = [(nodes[i], nodes[j]) for i, j in model["pairs"]]
        ebm = IsingEBM(nodes, edges, jnp.zeros(sites), jnp.asarray(model["weights"], dtype=jnp.float32), jnp.array(1.0))
        blocks = [Block([nodes[site] for site in colour]) for colour in colours(model["pairs"], sites)]
        self.program = IsingSamplingProgram(ebm, blocks, clamped_blocks=[])
        self.key = jax.random.key(0)
        self.key, key = jax.random.split(self.key)
        start = jax.vmap(lambda key: hinton_init(key, ebm, blocks, ()))(jax.random.split(key, chains))
        self.state, self.blocks, self.order = start, blocks, [site for colour in colours(model["pairs"], sites) for site in colour]
        self.compiled = {}
        self.SamplingSchedule, self.sample_states = library.SamplingSchedule, library.sample_states

    def sweep(self, sweeps):
        if sweeps not in self.compiled:
            schedule = self.SamplingSchedule(n_warmup=sweeps, n_samples=1, steps_per_sample=1)

            def run(key, state):
                return self.sample_states(key, self.program, schedule, state, [], self.blocks)

            self.compiled[sweeps] = self.jax.jit(self.jax.vmap(run))
        self.key, key = self.jax.random.split(self.key)
        found = self.compiled[sweeps](self.jax.random.split(key, self.chains), self.state)
        self.state = [block[:, -1] for block in found]
        states = self.np.concatenate([self.np.asarray(block) for block in self.state], 1)
        spins = self.np.empty_like(states, dtype=self.np.int8)
        spins[:, self.order] = 2 * states.astype(self.np.int8) - 1
        return spins


class Hamon(Thrml):
    """The same of hamon, which has the words of thrml."""

    name = "hamon"


class Torch:
    """Block Gibbs of a restricted Boltzmann machine as everybody writes it: hidden units, then visible ones."""

    kinds = ("rbm",)

    def __init__(self, model, chains):
        import torch

        self.torch = torch
        torch.set_num_threads(1)
        self.weight = torch.from_numpy(model["weight"])
        self.bias, self.hidden_bias = torch.from_numpy(model["bias"]), torch.from_numpy(model["hidden_bias"])
        self.visible = torch.bernoulli(torch.full((chains, int(model["sites"])), 0.5))

    def sweep(self, sweeps):
        torch = self.torch
        with torch.no_grad():
            for _ in range(sweeps):
                hidden = torch.bernoulli(torch.sigmoid(self.visible @ self.weight.T + self.hidden_bias))
                self.visible = torch.bernoulli(torch.sigmoid(hidden @ self.weight + self.bias))
        return self.visible.numpy().astype("int8")


class AdabmDCA:
    """Gibbs of a Potts model with a table per pair by adabmDCA, on torch: as many random sites as there are, each in all chains at once."""

    kinds = ("tables",)

    def __init__(self, model, chains):
        import torch
        from adabmDCA.sampling import gibbs_sampling

        torch.set_num_threads(1)
        self.gibbs_sampling, self.torch = gibbs_sampling, torch
        sites, values = int(model["sites"]), int(model["values"])
        couplings = torch.zeros(sites, values, sites, values)
        for (i, j), table in zip(model["pairs"], model["tables"]):
            couplings[i, :, j, :] = torch.from_numpy(table)
            couplings[j, :, i, :] = torch.from_numpy(table.T.copy())
        self.parameters = {"bias": torch.zeros(sites, values), "coupling_matrix": couplings}
        self.states = torch.nn.functional.one_hot(torch.randint(values, (chains, sites)), values).float()

    def sweep(self, sweeps):
        with self.torch.no_grad():
            self.states = self.gibbs_sampling(self.states, self.parameters, sweeps)
        return self.states.argmax(-1).numpy().astype("int8")


def colours(pairs, sites):
    """Sites that do not see each other, greedily."""
    neighbours = [[] for _ in range(sites)]
    for i, j in pairs.tolist():
        neighbours[i].append(j)
        neighbours[j].append(i)
    colour = [-1] * sites
    for site in range(sites):
        taken = {colour[other] for other in neighbours[site]}
        colour[site] = next(number for number in range(sites) if number not in taken)
    return [[site for site in range(sites) if colour[site] == number] for number in range(max(colour) + 1)]


def observe(model, states):
    """log π up to a constant, and the sum of all sites, of every state."""
    import numpy as np

    if str(model["kind"]) == "rbm":
        inputs = states @ model["weight"].T + model["hidden_bias"]
        return states @ model["bias"] + np.logaddexp(0, inputs).sum(1), states.sum(1, dtype=float)
    spins = states.astype(np.int8)
    pairs = model["pairs"]
    products = spins[:, pairs[:, 0]] * spins[:, pairs[:, 1]]
    return products @ np.asarray(model["weights"]), spins.sum(1, dtype=float)


def update(library, model, chains, quick):
    """Nanoseconds per site and sweep: what many sweeps in one call take beyond a few, so that neither a call nor compiling counts."""
    sites, few, many = int(model["sites"]), 4, 4

    def seconds(sweeps):
        began = time.perf_counter()
        library.sweep(sweeps)
        return time.perf_counter() - began

    library.sweep(few)
    least = seconds(few)
    # Some compile every number of sweeps afresh: few numbers are asked for.
    while many == few or (beyond < (0.02 if quick else 0.3) and many < 1 << 20):
        many *= 8
        library.sweep(many)
        beyond = seconds(many) - least
    pace = [(seconds(many) - seconds(few)) / (many - few) for _ in range(1 if quick else 3)]
    return {"ns": min(pace) * 1e9 / chains / sites}


def wait(library, model, wanted, patience):
    """Seconds since the process was started until draws are worth what is wanted. Judging them is not counted."""
    import numpy as np

    if getattr(library, "restarts", False):
        return {"missing": "cannot go on from a state"}
    began, judged = float(os.environ["SALTUS_PEER_BEGAN"]), 0.0
    # As long a warm-up as saltus makes it at least.
    library.sweep(100)
    series, draws, ess = [], 16, 0.0
    while True:
        while len(series) < draws and time.time() - began - judged < patience:
            states = library.sweep(1)
            since = time.time()
            series.append(observe(model, states))
            judged += time.time() - since
        seconds = time.time() - began - judged
        since = time.time()
        if len(series) >= 4:
            log_prob, magnetisation = (np.array([draw[at] for draw in series]).T for at in (0, 1))
            ess = worth(log_prob, magnetisation)
        judged += time.time() - since
        if ess >= wanted:
            return {"seconds": seconds, "draws": len(series), "ess": ess}
        if len(series) < draws:
            return {"missing": f"ESS {ess:.0f} after {seconds:.0f} s"}
        draws *= 2


def of_draws(path):
    """Effective draws of a run of saltus, as `saltus export --npz` writes them."""
    import numpy as np

    run = np.load(path)
    return {"ess": worth(run["log_prob"], run["magnetisation" if "magnetisation" in run else "hamming"])}


def main():
    question, library, file, options = sys.argv[1:]
    if question == "ess":
        print(json.dumps(of_draws(library)))
        return
    import numpy as np

    libraries = {"dwave": [Dwave], "openjij": [OpenJij], "thrml": [Thrml], "hamon": [Hamon], "torch": [Torch], "adabmDCA": [AdabmDCA]}
    model, options = dict(np.load(file)), json.loads(options)
    for one in libraries[library]:
        if str(model["kind"]) in one.kinds:
            made = one(model, options["chains"])
            if question == "update":
                print(json.dumps(update(made, model, options["chains"], options["quick"])))
            else:
                print(json.dumps(wait(made, model, options["wanted"], options["patience"])))
            return
    print(json.dumps({"missing": "cannot"}))


main()
