"""Traces the numbers of REPRODUCTION.md to the stored files they came from, and fails where one is another.

python3 experiments/trace.py [REPRODUCTION.md]

Tables must be those of the stored files, line by line, or follow from stored JSON. Sentences are traced quote by quote: a
quote must stand in the text, and the numbers in it must be those that the stored results give, rounded as they are written.
Every number in digits from the first results on is accounted for: it stands in a traced quote, it is given (a setting, a
definition, or the paper's), or it is marked in the text by a dagger as one that no stored file has. Any other fails.
"""

import csv
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUDY = ROOT / "experiments/results/2026-11-16-study"
LEARNING = ROOT / "experiments/results/2026-11-16-learning"
DOCUMENT = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "REPRODUCTION.md"
TEXT = DOCUMENT.read_text()
# One line, so that quotes do not depend on how the text is broken.
FLAT = " ".join(TEXT.split())
# Columns of the learning tables whose histories were not kept.
NOT_STORED = ["energy gap", "sites per step", "minutes"]

sys.dont_write_bytecode = True
failures, traced, quotes = [], 0, []


def check(what, holds):
    global traced
    traced += 1
    if not holds:
        failures.append(what)


# Tables of the study, line by line.


def rows_of(path):
    return [line for line in path.read_text().splitlines() if line.startswith("| ") and "---" not in line]


for name in ["running-time.md", "claims.md", "gibbs.md"]:
    for line in rows_of(STUDY / name):
        check(f"{name}: not in the document: {line[:80]}", line in TEXT)


# Sentences about the study.

with open(STUDY / "results.csv") as file:
    RESULTS = list(csv.DictReader(file))
TARGETS = list(dict.fromkeys(row["target"] for row in RESULTS))
BALANCED = ["gwg", "pas", "dmala", "dlmcf", "dlmc"]


def cells(target, sampler, weight=None):
    return [
        row
        for row in RESULTS
        if row["target"] == target and row["sampler"] == sampler and not row["fixed_scale"]
        and (weight is None or row["weight"] == weight)
    ]


def best(target, sampler, column="ess_per_evaluation"):
    """The better of two weight functions."""
    return max(float(row[column]) for row in cells(target, sampler))


def number(target, sampler, weight, column):
    (row,) = cells(target, sampler, weight)
    return float(row[column])


def over(target, one, other):
    return best(target, one) / best(target, other)


def rounded(text):
    """Half a unit of the last written digit."""
    digits = text.lstrip("−-").replace(",", "")
    places = len(digits.split(".")[1]) if "." in digits else 0
    return 0.5 * 10.0 ** -places + 1e-9


def quote(text, *values):
    """The text stands in the document, and its marked numbers, {…}, are these values."""
    written = re.findall(r"\{([^}]*)\}", text)
    plain = re.sub(r"\{([^}]*)\}", r"\1", text)
    quotes.append(plain)
    if plain not in FLAT:
        failures.append(f"not in the document: {plain}")
        return
    assert len(written) == len(values), text
    for digits, value in zip(written, values):
        found = float(digits.replace("−", "-").replace(",", ""))
        check(f"{plain}: {digits}, but stored is {value:.4g}", abs(found - value) <= rounded(digits))


FULL = [target for target in TARGETS if all(int(row["draws"]) == 50_000 for row in cells(target, "gwg"))]
gwg = [float(row["ess_mean"]) for target in FULL for row in cells(target, "gwg")]
quote("50,000 steps of GWG are worth {10} to {58} effective draws", min(gwg), max(gwg))
rwm = cells("bernoulli-high", "rwm")[0]
quote("RWM, which tries to change {24} of {10,000} sites at once", float(rwm["scale"]), float(rwm["sites"]))
quote("On coupled targets DLMCf comes to {0.8} (ising-high) to {1.08} (rbm-200) of DLMC",
      over("ising-high", "dlmcf", "dlmc"), over("rbm-200", "dlmcf", "dlmc"))
moved = ["ising-high", "potts-4", "potts-8"]
lead = [over(target, "dlmc", "pas") for target in moved]
quote("DLMC leads by {1.37} to {1.43} but on ising-low", min(lead), max(lead))
quote("Over its own DLMCf it leads by {1.23} on ising-high and by {1.04} on potts-8",
      over("ising-high", "dlmc", "dlmcf"), over("potts-8", "dlmc", "dlmcf"))
stuck = cells("ising-low", "dlmcf", "sqrt")[0]
quote("On ising-low {6} of {100} chains of DLMCf with the square root stand in states that they never leave (R-hat {47})",
      float(stuck["stuck_chains"]), float(stuck["chains"]), float(stuck["rhat"]))
quote("{56} effective draws of {50,000} on fhmm-8", max(number("fhmm-8", "dlmc", w, "ess_mean") for w in ["sqrt", "ratio"]),
      number("fhmm-8", "dlmc", "sqrt", "draws"))
quote("there {0.67} (rbm-200) to {0.91} (rbm-8) of the draws from the conditional distributions are accepted",
      number("rbm-200", "dlmc", "sqrt", "acceptance"), number("rbm-8", "dlmc", "sqrt", "acceptance"))
misplaced = [number("fhmm-8", "dlmc", w, "interpolation_error") for w in ["sqrt", "ratio"]]
quote("and {4} to {8} % on fhmm-8", 100 * min(misplaced), 100 * max(misplaced))
euler = [number(t, "dlmc", w, "euler_error") for t in ["potts-4", "potts-8"] for w in ["sqrt", "ratio"]]
hmms = [number(t, "dlmc", w, "euler_error") for t in ["fhmm-4", "fhmm-8"] for w in ["sqrt", "ratio"]]
quote("clipped Euler rows misplace {8} to {14} % on Potts and {3} to {9} % on the factorial HMMs",
      *(100 * f(rows) for rows in [euler, hmms] for f in [min, max]))


def seconds(target, sampler):
    weight = "sqrt" if sampler in BALANCED else None
    return sum(float(row["seconds_per_100k"]) for row in cells(target, sampler, weight)) / len(cells(target, sampler, weight))


faster = [t for t in TARGETS if seconds(t, "pas") <= max(seconds(t, s) for s in BALANCED if s != "pas")]
words = {"nine": 9, "sixteen": 16}
check("PAS is not the slowest on nine of sixteen targets", (len(faster), len(TARGETS)) == (words["nine"], words["sixteen"]))
spread = {t: [number(t, "pas", w, "total_rate_cv") for w in ["sqrt", "ratio"]] for t in TARGETS}
quote("the total rate varies by {0.3} % (bernoulli-high) to {25} % (ising-low)",
      100 * max(spread["bernoulli-high"]), 100 * max(spread["ising-low"]))


ahead = {t: [best(t, s) / max(best(t, o) for o in ["gwg", "hb", "bg", "rwm"]) for s in BALANCED[1:]] for t in TARGETS}
behind = ["rbm-25", "rbm-200", "fhmm-4", "fhmm-8"]
quote("by {1.4} to {3.6} on the binary RBMs and the factorial HMMs with several values and by {2.8} and more elsewhere",
      min(min(ahead[t]) for t in behind), max(max(ahead[t]) for t in behind),
      min(min(ahead[t]) for t in TARGETS if t not in behind))
few = [t for t in TARGETS if t.startswith(("ising", "potts", "fhmm")) or t in ["rbm-25", "rbm-200"]]
gain = [over(t, "dlmcf", "dmala") for t in few]
quote("and it is {1.2} to {1.7} times DMALA", min(gain), max(gain))
quote("on rbm-8, where they differ by {1.6}", over("rbm-8", "dlmcf", "dlmc"))
binary, levels, ours = ["rbm-25", "rbm-200"], ["rbm-4", "rbm-8"], ["dlmc", "dlmcf"]
of = lambda targets, others: [over(t, a, b) for t in targets for a in ours for b in others]
quote("ahead of PAS by {1.3} to {1.5} and of DMALA by {1.6} to {1.8} on the binary RBMs, and of both by {3.9} to {8.6} on those with several levels",
      *(f(of(*part)) for part in [(binary, ["pas"]), (binary, ["dmala"]), (levels, ["pas", "dmala"])] for f in [min, max]))
modes = [float(row["rhat"]) for t in levels for s in BALANCED + ["hb", "bg", "rwm"] for row in cells(t, s)]
quote("R-hat being {2} to {4} for all", min(modes), max(modes))
of_rows = [number(t, "dlmc", w, "interpolation_error") for t in ["potts-4", "potts-8", "fhmm-4"] for w in ["sqrt", "ratio"]]
for end in [min(of_rows), max(of_rows)]:
    quote("At DLMC's own step {2} % of the probability of a change is misplaced on the Potts models and fhmm-4", 100 * end)
start = max(number("ising-low", "pas", w, "total_rate_start_over_end") for w in ["sqrt", "ratio"])
quote("where chains start it is up to {333} times larger (ising-low)", start)
quote("on all lattices ({25} times on ising-high)", best("ising-high", "gibbs", "ess_per_second") / best("ising-high", "dlmc", "ess_per_second"))


# The learning study.


def stored(name):
    return json.loads((LEARNING / f"{name}.json").read_text())


def table_rows(head):
    """The rows of every table with that heading."""
    lines = TEXT.splitlines()
    for at, line in enumerate(lines):
        if line.startswith(head):
            for row in lines[at + 2:]:
                if not row.startswith("|"):
                    break
                yield [cell.strip() for cell in row.strip("|").split("|")]


untraced = 0
for row in table_rows("| data | sampler | steps | log-likelihood |"):
    data, sampler, steps, likelihood, reverse, effective, bits = row[:7]
    judged = stored(f"{data}-{sampler}-{steps}")
    found, error = likelihood.split(" ± ")
    gap = judged["log_z_reverse"] - judged["log_z"]
    for digits, value in [
        (found, judged["log_likelihood"]),
        (error, judged["log_z_se"]),
        (reverse, judged["log_likelihood"] - gap),
        (effective, judged["effective_chains"]),
        (bits, judged["bits_per_dim"]),
    ]:
        near = abs(float(digits) - value) <= rounded(digits)
        check(f"{data} {sampler} {steps}: {digits}, but stored is {value:.4g}", near)
    untraced += len(NOT_STORED)

for name, data, likelihood, _minutes in table_rows("| model | data | log-likelihood | minutes of training† |"):
    kind = name.split(",")[0].split(" ")[0]
    found, error = likelihood.split(" ± ")
    if kind == "VAE":
        bound = stored(f"vae-{data}")["bound"]
        values = bound["mean"], bound["standard_error"]
    else:
        judged = stored({"RBM": "rbm-500", "DBN": "dbn-500-2000"}[kind])
        values = judged["log_likelihood"], judged["log_z_se"]
    for digits, value in zip((found, error), values):
        check(f"{name} on {data}: {digits}, but stored is {value:.4g}", abs(float(digits) - value) <= rounded(digits))
    untraced += kind != "VAE"

sys.path.append(str(ROOT / "experiments/learning"))
import claim  # noqa: E402

check("C14 is not what the stored likelihoods say", claim.row(LEARNING) in TEXT)

belief = stored("dbn-500-2000")
quote("{−133.4} ± {0.04} and {−133.3} in reverse with {289} of {500} chains counting", belief["log_likelihood"], belief["log_z_se"],
      belief["log_likelihood"] - belief["log_z_reverse"] + belief["log_z"], belief["effective_chains"], belief["chains"])
counting = [stored(f"caltech-{sampler}-10")["effective_chains_reverse"] for sampler in ["dlmc", "pas", "dmala", "gwg"]]
check(f"one to two of a hundred reverse chains count on Caltech, but stored are {counting}",
      "one to two of a hundred reverse chains count there" in FLAT and 0.5 <= min(counting) and max(counting) < 2.5)

nats = [stored(f"static-mnist-{sampler}-10")["log_likelihood"] for sampler in ["dlmc", "pas", "dmala", "gwg"]]
quote("the one seed: {−101.8} to {−102.9}", max(nats), min(nats))


def reverse(name):
    judged = stored(name)
    return judged["log_likelihood"] - judged["log_z_reverse"] + judged["log_z"]


best_reverse = max(reverse(f"caltech-{sampler}-10") for sampler in ["dlmc", "pas", "dmala"])
quote("GWG, which changes one pixel per step, {14} behind", best_reverse - reverse("caltech-gwg-10"))
quote("the model has {5.8} bits per pixel", stored("frey-dlmc-10")["bits_per_dim"])
coder = stored("vae-caltech")
batches = -(-coder["training_images"] // coder["batch"])
quote("it stopped after {83} epochs and {27} seconds because {20} epochs had brought nothing",
      coder["updates"] / batches, coder["seconds"], coder["patience"])
coder = stored("vae-static-mnist")
quote("the autoencoder ({300} gated units in each of two layers, {40} latent numbers, {100} epochs", coder["hidden"], coder["latent"], coder["epochs"])
judging = stored("static-mnist-dlmc-10")
quote("with {100} chains and {4,000} temperatures", judging["chains"], judging["temperatures"])


# Every number from the first results on. These are settings, definitions and the paper's numbers: nothing that was measured.

GIVEN = [
    "Seconds for 100,000 steps of 100 chains", "fewer than 20 effective draws each, R-hat above 1.1", "more than the 0.574 asked for",
    "at most 1.45 times DMALA", "width 16 instead of 64 (38,000 parameters instead of 600,000), 2,000 iterations instead of 50,000",
    "instead of some 30 to 100, a replay buffer of 500 chains instead of 10,000 or 1,000 and a learning rate of 0.0003 instead of 0.0001",
    "means over the last 500 iterations", "(−79.13 to −80.01)", "16 times the parameters and were trained 25 times as long",
    "256 grays, trained for 1,500 iterations with a learning rate of 0.0001", "the paper ends with 4.33", "and make 3,000 steps",
    "Among 1, 3 and 10 steps", "with 40 either", "the RBM (500 hidden units, persistent chains of ten steps, 50 epochs", "the paper quotes −86.39",
    "VAE-MLP has −86.05", "(the paper: −112.08)", "a second RBM of 2,000 units", "the paper's is (−85.67)", "a learning rate of 0.0001 (ten steps",
]  # fmt: skip
DAGGER = "†"
NUMBER = re.compile(r"(?<![\w.−-])−?\d[\d,]*(?:\.\d+)?(?!\w)")

prose = TEXT[TEXT.index("## Running time"):].splitlines()
prose = " ".join(line for line in prose if not line.startswith(("|", "    ", "![", "#")))
# Commands and addresses are no sentences.
prose = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", " ", prose))
prose = " ".join(re.sub(r"\[experiments/[^]]*\]", " ", prose).split())
for text in GIVEN:
    if text not in FLAT:
        failures.append(f"given, but not in the document: {text}")
for text in quotes + GIVEN:
    prose = prose.replace(text, " ")
for found in NUMBER.finditer(prose):
    if prose[found.end():].startswith(DAGGER):
        untraced += 1
    else:
        failures.append(f"a number from nowhere: {prose[max(0, found.start() - 50):found.end() + 20]}")
for head in re.findall(r"^\| (?:data|model) \|.*$", TEXT, re.MULTILINE):
    for column in NOT_STORED:
        check(f"the column of {column} is not marked by {DAGGER}: {head}", re.search(rf"{column}(?! of training \||{DAGGER})[^|]*\|", head) is None
              or f"{column} of training{DAGGER}" in head)

print(f"{traced} numbers and lines traced; {untraced} numbers are marked by {DAGGER} as those that no stored file has")
for failure in failures:
    print(f"MISMATCH  {failure}")
sys.exit(1 if failures else 0)
