"""Writes the models of the comparison into a folder and says on stdout how saltus is to be asked for them."""

import json
import os
import sys

import numpy as np

folder, extent = sys.argv[1:]
quick = extent == "quick"
rng = np.random.default_rng(1)
models = {}


def spins(name, sites, pairs, weights, saltus=None, waits=True, sampler="gibbs", waiting="gibbs"):
    """Spins s = ±1 with log π = Σ J s s′: a file of numpy for the peers, a list of couplings for saltus."""
    np.savez(os.path.join(folder, name + ".npz"), kind="spins", sites=sites, pairs=pairs, weights=weights)
    with open(os.path.join(folder, name + ".coo"), "w") as file:
        file.write("# vartype=SPIN\n")
        # Energies: p ∝ e^−E.
        file.writelines(f"{i} {j} {-w:.9g}\n" for (i, j), w in zip(pairs, weights))
    words = saltus or [f"FOLDER/{name}.coo"]
    models[name] = {"file": name + ".npz", "saltus": words, "waits": waits, "sampler": sampler, "waiting": waiting,
                    "sites": int(sites), "edges": len(pairs)}


def grid(shape, periodic):
    """Pairs of neighbours."""
    numbers = np.arange(np.prod(shape)).reshape(shape)
    pairs = []
    for axis, length in enumerate(shape):
        one, other = numbers, np.roll(numbers, -1, axis)
        if not periodic:
            keep = np.arange(length - 1)
            one, other = one.take(keep, axis), other.take(keep, axis)
        pairs.append(np.stack([one.ravel(), other.ravel()], 1))
    return np.concatenate(pairs)


def regular(sites, degree):
    """A random graph in which every site has that many neighbours."""
    while True:
        ends = rng.permutation(np.repeat(np.arange(sites), degree)).reshape(-1, 2)
        # Loops and double edges are exchanged away.
        for _ in range(1000):
            ends.sort(1)
            order = np.lexsort(ends.T)
            twice = np.zeros(len(ends), bool)
            same = (ends[order][1:] == ends[order][:-1]).all(1)
            twice[order[1:][same]] = True
            bad = np.flatnonzero(twice | (ends[:, 0] == ends[:, 1]))
            if not len(bad):
                return ends
            for one in bad:
                other = rng.integers(len(ends))
                ends[one, 1], ends[other, 1] = ends[other, 1], ends[one, 1]


def uniform(pairs, coupling):
    return np.full(len(pairs), coupling)


side = 16 if quick else 50
pairs = grid((side, side), False)
spins("lattice", side * side, pairs, uniform(pairs, 0.3),
      ["ising", "--size", f"{side}x{side}", "--coupling", "0.3", "--field", "0"])
pairs = grid((32, 32), True)
spins("torus", 1024, pairs, uniform(pairs, 0.40),
      ["ising", "--size", "32x32", "--periodic", "--coupling", "0.40", "--field", "0"])
sites = 500 if quick else 10_000
pairs = regular(sites, 3)
spins("3-regular", sites, pairs, uniform(pairs, 0.4))
side = 50 if quick else 500
pairs = grid((side, side), True)
spins("torus-file", side * side, pairs, uniform(pairs, 0.3), waits=False)
side = 8 if quick else 64
pairs = grid((side,) * 3, True)
spins("3d-pm", side**3, pairs, rng.choice([-0.5, 0.5], len(pairs)), waits=False)
sites = 100 if quick else 1000
pairs = np.stack(np.triu_indices(sites, 1), 1)
normal = rng.normal(size=len(pairs)) / np.sqrt(sites)
spins("sk-1", sites, pairs, normal)
spins("sk-3", sites, pairs, 3 * normal, waits=False)

# Values 0 … q − 1, log π = Σ J [x = x′].
side, values = (10, 4) if quick else (30, 8)
pairs = grid((side, side), False)
np.savez(os.path.join(folder, "potts.npz"), kind="potts", sites=side * side, values=values, pairs=pairs, weights=uniform(pairs, 0.8))
models["potts"] = {
    "file": "potts.npz", "waits": True, "sampler": "gibbs", "waiting": "gibbs",
    "sites": side * side, "edges": len(pairs),
    "saltus": ["potts", "--size", f"{side}x{side}", "--values", str(values), "--coupling", "0.8"],
}

# Couplings of every pair of values, as direct coupling analysis has them.
sites, values = (10, 5) if quick else (100, 21)
pairs = np.stack(np.triu_indices(sites, 1), 1)
tables = (rng.normal(size=(len(pairs), values, values)) * 0.02).astype(np.float32)
np.savez(os.path.join(folder, "dca.npz"), kind="tables", sites=sites, values=values, pairs=pairs, tables=tables)
with open(os.path.join(folder, "dca.dat"), "w") as file:
    for (i, j), table in zip(pairs, tables):
        file.writelines(f"J {i} {j} {a} {b} {table[a, b]:.7g}\n" for a in range(values) for b in range(values))
    file.writelines(f"h {i} {a} 0\n" for i in range(sites) for a in range(values))
models["dca"] = {
    "file": "dca.npz", "saltus": ["FOLDER/dca.dat", "--format", "dca"], "waits": False, "sampler": "gibbs", "waiting": "gibbs",
    "sites": sites, "edges": len(pairs),
}

# log π = b·v + Σ softplus(c + W v) of the visible bits.
visible, hidden = (50, 20) if quick else (784, 200)
weight = (rng.normal(size=(hidden, visible)) * 0.05).astype(np.float32)
bias, hidden_bias = np.zeros(visible, np.float32), np.zeros(hidden, np.float32)
np.savez(os.path.join(folder, "rbm.npz"), kind="rbm", sites=visible, weight=weight, bias=bias, hidden_bias=hidden_bias)
header, data = {}, b""
for name, array in {"weight": weight, "hidden_bias": hidden_bias, "visible_bias": bias}.items():
    header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
    data += array.tobytes()
text = json.dumps(header).encode()
with open(os.path.join(folder, "rbm.safetensors"), "wb") as file:
    file.write(len(text).to_bytes(8, "little") + text + data)
models["rbm"] = {
    "file": "rbm.npz", "saltus": ["rbm", "--weights", "FOLDER/rbm.safetensors"], "waits": True, "sampler": "dlmc", "waiting": "dlmc",
    "sites": visible, "edges": visible * hidden,
}

print(json.dumps(models))
