"""Rows of matrix exponentials to hundreds of digits, against which the exact rows are tested.

    pip install python-flint
    python make.py > ../../crates/saltus/src/balancing/exact_row/rows.tsv

A line holds the weight function, the number of values, the spread of the log-probabilities, h, the
current value, and for some values their number and probability. Log-probabilities are
-spread * ((j * 0.61803398875) mod 1), in double precision.
"""

from flint import arb, arb_mat, ctx

ctx.prec = 700


def weight(name, t):
    if name == "sqrt":
        return t.sqrt()
    if name == "ratio":
        return t / (1 + t)
    if name == "min":
        return t if t < 1 else arb(1)
    if name == "max":
        return t if t > 1 else arb(1)
    return 1 + t


def cases():
    for values in (3, 8, 32):
        for spread in (0.0, 4.0, 20.0, 60.0):
            for h in (1e-6, 1e-3, 0.1, 1.0, 100.0):
                yield values, spread, h
    yield 256, 60.0, 0.1
    yield 256, 4.0, 0.01


for name in ("sqrt", "ratio", "min", "max", "sum"):
    for values, spread, h in cases():
        logs = [arb(-spread * ((j * 0.61803398875) % 1.0)) for j in range(values)]
        rates = [[arb(0)] * values for _ in range(values)]
        for i in range(values):
            for j in range(values):
                if i != j:
                    rates[i][j] = weight(name, (logs[j] - logs[i]).exp())
            rates[i][i] = -sum(rates[i], arb(0))
        exponential = (arb_mat(rates) * arb(h)).exp()
        order = sorted(range(values), key=lambda j: float(logs[j]))
        shown = sorted({order[0], order[1], order[values // 2], order[-2], order[-1]})
        for current in (order[0], order[-1]):
            entries = " ".join(f"{j}:{float(exponential[current, j].mid()):.17e}" for j in shown)
            print(f"{name}\t{values}\t{spread}\t{h}\t{current}\t{entries}", flush=True)
