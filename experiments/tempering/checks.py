"""Ladders against exact values: log Z of tori, of an RBM and of a spin glass, both signs of a cold magnet, and factor graphs whose
chains at one temperature disagree.

    python experiments/tempering/checks.py target/release/saltus [--data DIR]

Tori: Kaufman's sum (1949). RBM: all states of its 25 hidden units (`saltus ais --exact`). Spin glass of 20 spins: enumerated (`saltus exact`). UAI files:
DIR/formats/uai/truth.json. What needs DIR is left out without it. Beside log Z by bridges stand the mean of the two stepping stones from the same draws, as
Pigeons has it, and AIS, with the processor seconds that each would take until three standard errors are 0.05 nats. Exits with 1 if something is off.
"""

import argparse
import json
import math
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

BETA_C = math.log(1 + math.sqrt(2)) / 2


def kaufman(side, beta):
    """ln Z of the side × side torus."""
    h = 2 * beta
    first = 2 * beta + math.log(math.tanh(beta))
    gamma = [first]
    for k in range(1, 2 * side):
        c = math.cosh(h) / math.tanh(h) - math.cos(math.pi * k / side)
        gamma.append(math.log(c + math.sqrt(c * c - 1)))
    half = side / 2

    def log_cosh(x):
        return abs(x) + math.log1p(math.exp(-2 * abs(x))) - math.log(2)

    def log_sinh(x):
        return abs(x) + math.log1p(-math.exp(-2 * abs(x))) - math.log(2) if x else -math.inf

    odd, even = range(1, 2 * side, 2), range(0, 2 * side, 2)
    parts = [
        (1, sum(math.log(2) + log_cosh(half * gamma[k]) for k in odd)),
        (1, sum(math.log(2) + log_sinh(half * gamma[k]) for k in odd)),
        (1, sum(math.log(2) + log_cosh(half * gamma[k]) for k in even)),
        (
            math.copysign(1, gamma[0]) if gamma[0] else 0,
            sum(math.log(2) + log_sinh(half * gamma[k]) for k in even) if gamma[0] else 0,
        ),
    ]
    # Kaufman has a minus before the last term above the critical temperature, where γ₀ < 0.
    largest = max(part for _, part in parts)
    total = sum(sign * math.exp(part - largest) for sign, part in parts)
    return -math.log(2) + side * side / 2 * math.log(2 * math.sinh(h)) + largest + math.log(total)


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def told(command):
    began = processor_seconds()
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode not in (0, 4):
        sys.exit(f"{' '.join(command)}\n{ran.stderr}")
    return json.loads(ran.stdout), processor_seconds() - began


WRONG = []


def judge(what, error, bound, words):
    fine = abs(error) <= bound
    WRONG.extend([] if fine else [what])
    print(f"{'ok   ' if fine else 'WRONG'} {what}: {words}", flush=True)


def until_known(seconds, se):
    """Seconds until three standard errors are 0.05 nats."""
    return f"{seconds * (3 * se / 0.05) ** 2:.2g} s" if se else "?"


def log_z(saltus, what, model, exact):
    """By defaults, but that nothing is exact."""
    found, seconds = told([saltus, "log-z", *model, "--method", "temper", "--json", "--quiet"])
    error, se = found["log_z"] - exact, found["log_z_se"]
    words = f"{found['log_z']:.4f} ± {se:.4f}, exact {exact:.4f}, off by {error:+.4f}, {seconds:.1f} s; to be known: {until_known(seconds, se)}"
    stones, stones_se = found["tempering"]["log_z_stones"], found["tempering"]["log_z_stones_se"]
    words += f"; stepping stones off by {stones - exact:+.4f} ± {stones_se:.4f}, {until_known(seconds, stones_se)}"
    other, other_seconds = told([saltus, "log-z", *model, "--method", "ais", "--json", "--quiet"])
    words += f"; AIS off by {other['log_z'] - exact:+.4f} ± {other['log_z_se']:.4f}, {other_seconds:.1f} s, {until_known(other_seconds, other['log_z_se'])}"
    # Secured: four standard errors are no more than what is asked for.
    judge(what, max(abs(error), 4 * se), 0.05, words)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
    parser.add_argument("--data", type=Path, default=Path("data"))
    arguments = parser.parse_args()
    saltus, data = arguments.saltus, arguments.data
    # The table of the exact density of states.
    assert abs(kaufman(8, BETA_C) - 60.141781) < 1e-4 and abs(kaufman(4, 0.4) - 14.561093) < 1e-5
    for side in [16, 32]:
        model = ["ising", "--size", str(side), "--periodic", "--coupling", f"{BETA_C:.9f}"]
        log_z(saltus, f"{side}×{side} at β_c", model, kaufman(side, BETA_C))
    with tempfile.TemporaryDirectory() as folder:
        glass = Path(folder) / "sk20.coo"
        random.seed(20)
        pairs = [(i, j) for i in range(20) for j in range(i)]
        glass.write_text("# vartype=SPIN\n" + "".join(f"{j} {i} {random.gauss(0, 1) / math.sqrt(20):.6f}\n" for i, j in pairs))
        exact = told([saltus, "exact", str(glass), "--json"])[0]["log_z"]
        log_z(saltus, "SK of 20 spins", [str(glass)], exact)
    rbm = data / "rbm-reference" / "mnist-binary-25.safetensors"
    if rbm.exists():
        exact = told([saltus, "ais", str(rbm), "--exact", "--json", "--quiet"])[0]["log_z_exact"]
        model = ["rbm", "--weights", str(rbm)]
        log_z(saltus, "RBM of 25 units", model, exact)
    command = [saltus, "sample", "ising", "--size", "32", "--periodic", "--coupling", "0.6", "--temper", "--chains", "8"]
    found, seconds = told([*command, "--sampler", "gibbs", "--draws", "20000", "--warmup", "10000", "--json", "--quiet"])
    m = next(one for one in found["observables"] if one["name"] == "magnetisation")
    words = f"mean magnetisation {m['mean']:+.4f} ± {m['mcse']:.4f}, {found['tempering']['round_trips']} round trips, {seconds:.0f} s"
    judge("32×32 at β = 0.6, 8 ladders", m["mean"], 3 * m["mcse"], words)
    truth = data / "formats" / "uai" / "truth.json"
    if truth.exists():
        for name, exact in json.loads(truth.read_text()).items():
            command = [saltus, "sample", str(truth.parent / f"{name}.uai"), "--temper", "--marginals", "--json", "--quiet"]
            evidence = truth.parent / f"{name}.uai.evid"
            command += ["--evidence", str(evidence)] if evidence.exists() else []
            found, seconds = told([*command, "--draws", "20000", "--warmup", "5000"])
            off = [
                abs(p - q) / max(se, 1e-4)
                for row, errors, right in zip(found["marginals"], found["marginals_se"], exact["marginals"])
                for p, se, q in zip(row, errors, right)
            ]
            words = f"marginals off by at most {max(off):.1f} of their errors, ln Z by {found['tempering']['log_z'] - exact['ln_z']:+.4f}, {seconds:.0f} s"
            judge(f"{name}.uai", max(off), 4, words)
    sys.exit(1 if WRONG else 0)


if __name__ == "__main__":
    main()
