"""Whether the errors that ladders tell are right: many seeds of every model against exact answers, in units of the errors told.

    python experiments/tempering/calibration.py target/release/saltus [--data DIR] [--seeds 20]

Tori of several sides and couplings and Potts models: numbers of states by energy are counted by transfer from row to row (numpy), which gives log Z and the
rejection between any two rungs. Spin glasses, RBMs and tables with hard zeros, drawn at random: `saltus exact`, which lists all states. Files of DIR/formats/uai with evidence: marginals.

For every model: the mean and the spread of (log Z − exact)/error over seeds, which are about 0 and 1.07 (sixteen ladders make errors that are themselves uncertain) if errors are right, the
largest; the same of rejections, whose error is their spread over seeds, and the share of round trips that were expected. For marginals: the root of the mean square of their
deviations in errors, and the share beyond 3 (0.3 % where there are many draws).
"""

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np


def density(side, values):
    """Numbers of states of a side × side torus by how many pairs of neighbours differ. All terms are positive, so that 64 bits will do."""
    count, most = values**side, 2 * side * side + 1
    digits = np.array([(np.arange(count) // values**at) % values for at in range(side)])
    across = sum((digits[at] != digits[(at + 1) % side]).astype(int) for at in range(side))

    def later(table, by):
        moved = np.zeros_like(table)
        for far in np.unique(by):
            rows = np.nonzero(by == far)[0]
            moved[rows, far:] = table[rows, : most - far]
        return moved

    def class_of(row):
        word, best = tuple(digits[:, row]), None
        for turned in (word, word[::-1]):
            for start in range(side):
                names = {}
                renamed = tuple(names.setdefault(value, len(names)) for value in turned[start:] + turned[:start])
                best = renamed if best is None else min(best, renamed)
        return best

    classes = {}
    for row in range(count):
        classes.setdefault(class_of(row), [row, 0])[1] += 1
    total = np.zeros(most)
    for first, alike in classes.values():
        table = np.zeros((count, most))
        table[first, across[first]] = 1
        for _ in range(side - 1):
            for at in range(side):
                sites = table.reshape(values ** (side - 1 - at), values, values**at, most)
                grown = sites.copy()
                grown[..., 1:] += (sites.sum(axis=1, keepdims=True) - sites)[..., :-1]
                table = grown.reshape(count, most)
            table = later(table, across)
        down = sum((digits[at] != digits[at, first]).astype(int) for at in range(side))
        total += alike * later(table, down).sum(axis=0)
    return total


class Torus:
    """A model on a torus: V on the path from uniform sites, with the logarithms of the numbers of states."""

    def __init__(self, side, coupling, values=2):
        numbers = density(side, values)
        differ = np.nonzero(numbers)[0]
        pairs = 2 * side * side
        satisfied = pairs - 2 * differ if values == 2 else pairs - differ
        self.v = coupling * satisfied.astype(float)
        self.logs = np.log(numbers[differ])
        model = ["ising"] if values == 2 else ["potts", "--values", str(values)]
        self.command = [*model, "--size", f"{side}x{side}", "--periodic", "--coupling", str(coupling)]
        self.name = f"{'Ising' if values == 2 else f'Potts {values}'} {side}×{side} at {coupling}"

    def at(self, beta):
        terms = self.logs + beta * self.v
        weights = np.exp(terms - terms.max())
        return weights / weights.sum(), terms.max() + math.log(weights.sum())

    def log_z(self):
        return self.at(1.0)[1]

    def rejection(self, lower, upper):
        gain = np.minimum(0.0, (upper - lower) * (self.v[:, None] - self.v[None, :]))
        return 1 - float(self.at(lower)[0] @ np.exp(gain) @ self.at(upper)[0])


class Listed:
    """A model of a file whose log Z `saltus exact` knows."""

    def __init__(self, saltus, name, path):
        self.name, self.command = name, [str(path)]
        self.known = told([saltus, "exact", str(path), "--json"])["log_z"]

    def log_z(self):
        return self.known


def told(command):
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode not in (0, 4):
        sys.exit(f"{' '.join(command)}\n{ran.stderr}")
    return json.loads(ran.stdout)


def glass(folder, sites, beta, seed):
    random.seed(seed)
    path = folder / f"glass-{sites}-{seed}.coo"
    pairs = [(i, j) for j in range(sites) for i in range(j)]
    path.write_text("# vartype=SPIN\n" + "".join(f"{i} {j} {-beta * random.gauss(0, 1) / math.sqrt(sites):.6f}\n" for i, j in pairs))
    return path


def tables(folder, sites, seed):
    """Tables over three sites of two or three values, a fifth of whose entries are zero but for those of one state."""
    random.seed(seed)
    values = [random.choice([2, 3]) for _ in range(sites)]
    possible = [random.randrange(count) for count in values]
    scopes = [random.sample(range(sites), 3) for _ in range(sites + 2)]
    lines = ["MARKOV", str(sites), " ".join(map(str, values)), str(len(scopes))]
    lines += ["3 " + " ".join(map(str, scope)) for scope in scopes]
    for scope in scopes:
        size = math.prod(values[site] for site in scope)
        kept = 0
        for site in scope:
            kept = kept * values[site] + possible[site]
        entries = [0.0 if random.random() < 0.2 and at != kept else math.exp(random.gauss(0, 1)) for at in range(size)]
        lines += [str(size), " ".join(f"{entry:.6g}" for entry in entries)]
    path = folder / f"tables-{sites}-{seed}.uai"
    path.write_text("\n".join(lines) + "\n")
    return path


def machine(folder, visible, hidden, scale, seed):
    rng = np.random.default_rng(seed)
    path = folder / f"rbm-{visible}-{hidden}-{seed}.npz"
    np.savez(
        path,
        W=(scale * rng.normal(size=(hidden, visible))).astype(np.float32),
        a=rng.normal(size=visible).astype(np.float32),
        b=rng.normal(size=hidden).astype(np.float32),
    )
    return path


def ladders(saltus, model, seeds, options):
    """A row of the table of log Z."""

    def one(seed):
        command = [saltus, "log-z", *model.command, "--method", "temper", "--json", "--quiet", "--threads", "1", "--seed", str(seed)]
        return told([*command, *options])

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(one, range(seeds)))
    exact = model.log_z()
    off = [(one["log_z"] - exact) / one["log_z_se"] for one in found]
    outside = sum(not one["lower"] <= exact <= one["upper"] for one in found)
    error = statistics.mean(one["log_z_se"] for one in found)
    trips = [one["tempering"] for one in found]
    share = sum(one["round_trips"] for one in trips) / sum(one["round_trips_expected"] for one in trips)
    words = ""
    if isinstance(model, Torus):
        of_seed = []
        for ladder in trips:
            betas = ladder["betas"]
            exactly = [model.rejection(a, b) for a, b in zip(betas, betas[1:])]
            of_seed.append(statistics.mean(r - e for r, e in zip(ladder["rejections"], exactly)))
        mean, spread = statistics.mean(of_seed), statistics.stdev(of_seed)
        words = f"{mean:+.5f} ± {spread / len(of_seed) ** 0.5:.5f}"
    print(
        f"| {model.name} | {exact:.4f} | {error:.4f} | {statistics.mean(off):+.2f} ± {1 / seeds**0.5:.2f} | {statistics.stdev(off):.2f} | "
        f"{max(map(abs, off)):.1f} | {outside} | {words} | {share:.2f} |",
        flush=True,
    )


def marginals(saltus, path, seeds, options):
    evidence = path.parent / f"{path.name}.evid"
    given = ["--evidence", str(evidence)] if evidence.exists() else []
    ran = subprocess.run([saltus, "exact", str(path), *given, "--json"], capture_output=True, text=True)
    if ran.returncode != 0:
        # Some are too large for exact answers.
        return
    exact = json.loads(ran.stdout)["marginals"]

    def one(seed):
        command = [saltus, "sample", str(path), *given, "--temper", "--marginals", "--json", "--quiet", "--threads", "1", "--seed", str(seed)]
        found = told([*command, *options])
        rows = zip(found["marginals"], found["marginals_se"], exact)
        # One value of each site less, because they add up to 1; those of sites that are settled say nothing.
        return [
            (p - q) / se if se else (0.0 if abs(p - q) < 1e-9 else math.inf)
            for row, errors, right in rows
            for p, se, q in list(zip(row, errors, right))[1:]
            if 0.0 < q < 1.0
        ]

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(one, range(seeds)))
    off = [z for seed in found for z in seed]
    largest = [max(map(abs, seed)) for seed in found]
    root = math.sqrt(statistics.mean(z * z for z in off))
    beyond = sum(abs(z) > 3 for z in off) / len(off)
    print(
        f"| {path.name} | {len(found[0])} | {root:.2f} | {100 * beyond:.2f} % | {max(largest):.1f} | {sum(one > 4 for one in largest)} of {seeds} |",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="", help="only models whose name has this in it")
    parser.add_argument("--options", default="", help="options of saltus, such as \"--draws 2000\"")
    arguments = parser.parse_args()
    saltus, seeds, options = arguments.saltus, arguments.seeds, arguments.options.split()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        models = [lambda side=side, beta=beta: Torus(side, beta) for side, beta in [(5, 0.3), (6, 0.7), (7, 0.5), (8, 0.44), (10, 0.35), (10, 0.8)]]
        models += [lambda side=side, j=j: Torus(side, j, 3) for side, j in [(4, 1.2), (5, 1.005), (6, 0.8)]]
        models += [lambda n=n, b=b: Listed(saltus, f"glass of {n} spins at {b}", glass(folder, n, b, n)) for n, b in [(14, 1.0), (18, 3.0)]]
        models += [lambda n=n: Listed(saltus, f"tables of {n} sites with zeros", tables(folder, n, n)) for n in (9, 12)]
        models += [lambda s=s: Listed(saltus, f"RBM 16 × 10, weights of {s}", machine(folder, 16, 10, s, 3)) for s in (0.5, 1.5)]
        print("| model | log Z | its error | mean of deviations in errors | their spread | largest | outside the bracket | rejections less exact | trips of those expected |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
        for model in models:
            model = model()
            if arguments.only in model.name:
                ladders(saltus, model, seeds, options)
    print("\n| file | marginals | root mean square deviation in errors | beyond 3 | largest | seeds with one beyond 4 |\n|---|---:|---:|---:|---:|---:|")
    for path in sorted((arguments.data / "formats" / "uai").glob("*.uai")):
        if arguments.only in path.name:
            marginals(saltus, path, seeds, options)


if __name__ == "__main__":
    main()
