"""Where a cost per site could leave the plateau: Gibbs sweeps of every model, large lattices, many chains, moves of many sites on RBMs, graphs beside the lattice,
one chain alone.

    python experiments/cliffs/cliffs.py target/release/saltus [--before OLD] > cliffs.md

Processor time of one thread: that of a run of twice as many draws less that of a run of so many, over sites, chains and steps (the least of three), so
that neither start nor warm-up counts. `--before OLD` asks another binary, such as one of an earlier version, the same of one chain, in turns.
"""

import argparse
import random
import resource
import subprocess
import tempfile
from pathlib import Path

GIBBS = [
    ("Ising 50×50", ["ising"], 2500, 400, "1.5"),
    ("Potts 30×30, 8 values", ["potts", "--preset", "c8"], 900, 100, "12"),
    ("FHMM 200×10", ["fhmm"], 2000, 100, "6"),
    ("Bernoulli 10⁴", ["bernoulli"], 10_000, 100, "1.5"),
]
LATTICES = [(50, 100), (316, 10), (1000, 2)]
ONE = [
    ("lattice 50×50", ["ising"], 2500, 4000),
    ("Potts 30×30, 8 values", ["potts", "--preset", "c8"], 900, 1000),
    ("FHMM 200×10", ["fhmm"], 2000, 1000),
    ("RBM 784×200", ["rbm", "--visible", "784", "--hidden", "200"], 784, 1000),
    ("Bernoulli 10⁴", ["bernoulli"], 10_000, 1000),
    ("random, three neighbours", ["pairwise", "--edges", "EDGES"], 10_000, 400),
]


def used(binary, words):
    """Seconds of processor time of a run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([binary, "sample", *words, "--threads", "1", "--no-scouts", "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode not in (0, 4):
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def nanoseconds(binary, words, sites, chains, draws, thin=1, rounds=3):
    """Per site, chain and step."""
    words = [*words, "--chains", str(chains), "--warmup", "10", "--thin", str(thin), "--draws"]
    runs = [used(binary, [*words, str(2 * draws)]) - used(binary, [*words, str(draws)]) for _ in range(rounds)]
    return min(runs) / (draws * thin * chains * sites) * 1e9


def edges(path, sites=10_000):
    """A random graph of three neighbours, by random rings and a pairing."""
    chance = random.Random(1)
    order = list(range(sites))
    chance.shuffle(order)
    pairs = {tuple(sorted((order[i], order[(i + 1) % sites]))) for i in range(sites)}
    while len(pairs) < 3 * sites // 2:
        chance.shuffle(order)
        pairs |= {tuple(sorted(pair)) for pair in zip(order[::2], order[1::2])}
        pairs = set(sorted(pairs)[: 3 * sites // 2])
    path.write_text("".join(f"{i} {j} 0.4\n" for i, j in sorted(pairs)))


def torus(path, side=500):
    """A square lattice with periodic rims."""
    site = lambda row, column: row % side * side + column % side
    with path.open("w") as file:
        for row in range(side):
            for column in range(side):
                file.write(f"{site(row, column)} {site(row + 1, column)} 0.3\n{site(row, column)} {site(row, column + 1)} 0.3\n")


def graphs(binary, folder):
    """What an edge of a graph costs beside one of the lattice, in turns."""
    files = {"random, three neighbours": folder / "regular", "torus 500×500 as a file": folder / "torus"}
    edges(files["random, three neighbours"])
    torus(files["torus 500×500 as a file"])
    models = [("lattice 50×50", ["ising", "--size", "50x50", "--coupling", "0.3", "--field", "0"], 2500, 4900, 400)]
    models += [(name, ["pairwise", "--edges", str(file)], *size) for (name, file), size in zip(files.items(), [(10_000, 15_000, 100), (250_000, 500_000, 4)])]
    print("\n## An edge of a graph beside one of the lattice\n\n| graph | dlmc, ns per edge and step | pas |\n|---|---|---|")
    rounds = {}
    for _ in range(3):
        for name, words, sites, pairs, draws in models:
            for sampler in ("dlmc", "pas"):
                pace = nanoseconds(binary, [*words, "--sampler", sampler], sites, 100, draws, rounds=1)
                rounds.setdefault((name, sampler), []).append(pace * sites / pairs)
    for name, *_ in models:
        cells = [min(rounds[name, one]) for one in ("dlmc", "pas")]
        beside = [cell / min(rounds[models[0][0], one]) for one, cell in zip(("dlmc", "pas"), cells)]
        print(f"| {name} | " + " | ".join(f"{cell:.2f} ({ratio:.2f} times)" for cell, ratio in zip(cells, beside)) + " |", flush=True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary", type=Path)
    arguments.add_argument("--before", type=Path, metavar="OLD")
    asked = arguments.parse_args()
    binary = asked.binary.resolve()

    def version(binary):
        return subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()

    print(f"{version(binary)}, processor time of one thread\n\n## Gibbs sweeps\n\n| model | wanted | ns per site |\n|---|---|---|")
    for name, words, sites, draws, wanted in GIBBS:
        print(f"| {name} | {wanted} | {nanoseconds(binary, [*words, '--sampler', 'gibbs'], sites, 100, draws):.2f} |", flush=True)
    print("\n## gwg on large lattices\n\n| sites | µs per chain and step |\n|---|---|")
    for side, chains in LATTICES:
        words = ["ising", "--size", f"{side}x{side}", "--coupling", "0.3", "--field", "0", "--sampler", "gwg"]
        steps = nanoseconds(binary, words, 1, chains, 200, thin=1000 if chains < 100 else 100) / 1000
        print(f"| {side * side} | {steps:.2f} |", flush=True)
    print("\n## Many chains of an Ising lattice of 50×50\n\n| chains | dlmc, ns per site and step | gibbs |\n|---|---|---|")
    for chains in (100, 10_000):
        both = [nanoseconds(binary, ["ising", "--sampler", one], 2500, chains, 40_000 // chains) for one in ("dlmc", "gibbs")]
        print(f"| {chains} | {both[0]:.2f} | {both[1]:.2f} |", flush=True)
    print("\n## rwm on an RBM of 784×200\n\n| sites changed | µs per chain and step |\n|---|---|")
    for changed in (1, 10, 100, 300):
        words = ["rbm", "--visible", "784", "--hidden", "200", "--sampler", "rwm", "--scale", str(changed)]
        print(f"| {changed} | {nanoseconds(binary, words, 1, 100, 40, thin=10) / 1000:.2f} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        graphs(binary, Path(folder))
    binaries = [asked.before.resolve(), binary] if asked.before else [binary]
    print("\n## One chain alone, ns per site and step\n\n| model | " + " | ".join(f"{one} {version(b)}" for one in ("gibbs", "dlmc") for b in binaries) + " |")
    print("|---" * (1 + 2 * len(binaries)) + "|")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "edges"
        edges(file)
        for name, words, sites, draws in ONE:
            words = [word.replace("EDGES", str(file)) for word in words]
            cells = []
            for sampler in ("gibbs", "dlmc"):
                # In turns, so that the computer's mood is the same for both.
                rounds = [[nanoseconds(b, [*words, "--sampler", sampler], sites, 1, draws, rounds=1) for b in binaries] for _ in range(3)]
                cells += [f"{min(times):.2f}" for times in zip(*rounds)]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
