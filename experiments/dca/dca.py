"""A Potts model of an aligned family by pseudo-likelihood (Ekeberg et al. 2013), sampled by saltus and checked against a long run.

    python experiments/dca/dca.py RF00379.fasta parameters.dat      # fits, writes adabmDCA's format, samples, reports

One- and two-site frequencies of many short chains must be those of a long run, and the overlap of sequences a lag apart
must not be above that of twice the lag (adabmDCA's test of mixing).
"""

import sys
import time

import numpy as np

ALPHABETS = ("-ACGU", "-ACGT", "-ACDEFGHIKLMNPQRSTVWY")


def read_fasta(path):
    """Sequences as rows of numbers, and the alphabet; letters outside it are gaps."""
    words, lines = [], []
    with open(path) as file:
        for line in file:
            if line.startswith(">"):
                words.append("".join(lines))
                lines = []
            else:
                lines.append(line.strip().upper())
    words = [word for word in [*words, "".join(lines)] if word]
    letters = set("".join(words))
    alphabet = max(ALPHABETS, key=lambda one: (len(letters & set(one)), -len(one)))
    table = np.zeros(256, dtype=np.uint8)
    for value, letter in enumerate(alphabet):
        table[ord(letter)] = value
    rows = np.frombuffer("".join(words).encode(), dtype=np.uint8).reshape(len(words), -1)
    return table[rows], alphabet


def weights(sequences, identity=0.8):
    """One over the number of sequences that share at least that much with each."""
    count, length = sequences.shape
    near = np.empty(count)
    for first in range(0, count, 256):
        part = sequences[first : first + 256]
        same = sum((part[:, None, site] == sequences[None, :, site]).astype(np.int16) for site in range(length))
        near[first : first + 256] = (same >= identity * length).sum(axis=1)
    return 1 / near


def one_hot(sequences, values):
    return np.eye(values, dtype=np.float32)[sequences]


def frequencies(sequences, values, weight=None):
    """f_i(a), and f_ij(a, b) as a matrix over (i a), (j b)."""
    weight = np.ones(len(sequences)) if weight is None else weight
    flat = one_hot(sequences, values).reshape(len(sequences), -1)
    scaled = flat * (weight / weight.sum())[:, None].astype(np.float32)
    return scaled.sum(axis=0), scaled.T @ flat


def fit(sequences, values, *, steps=100, penalty=0.01, rate=0.05, seed=0):
    """Fields (L, q) and couplings (L, q, L, q), symmetric: Adam on the weighted pseudo-likelihood of all sites at once."""
    count, length = sequences.shape
    weight = weights(sequences)
    weight = (weight / weight.sum()).astype(np.float32)
    flat = one_hot(sequences, values).reshape(count, -1)
    size = length * values
    allowed = np.kron(1 - np.eye(length), np.ones((values, values))).astype(np.float32)
    single = (weight @ flat).reshape(length, values)
    field = np.log(single + 1 / weight.size).astype(np.float32)
    field -= field.mean(axis=1, keepdims=True)
    coupling = np.zeros((size, size), dtype=np.float32)
    moments = [np.zeros_like(one) for one in (field, field, coupling, coupling)]
    for step in range(1, steps + 1):
        logits = (flat @ coupling).reshape(count, length, values) + field
        logits -= logits.max(axis=2, keepdims=True)
        chance = np.exp(logits)
        chance /= chance.sum(axis=2, keepdims=True)
        error = (flat.reshape(chance.shape) - chance) * weight[:, None, None]
        gradient = flat.T @ error.reshape(count, size)
        gradient = (gradient + gradient.T) * allowed - penalty * coupling
        of_field = error.sum(axis=0) - penalty * field
        for at, (parameter, slope) in enumerate(((field, of_field), (coupling, gradient))):
            mean, square = moments[2 * at], moments[2 * at + 1]
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            unbiased = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
            parameter += rate * (1 - step / (steps + 1)) * unbiased
        coupling *= allowed
    return field, coupling.reshape(length, values, length, values)


def write_parameters(path, field, coupling, alphabet):
    """adabmDCA's text format."""
    length, values = field.shape
    with open(path, "w") as file:
        for i in range(length):
            for j in range(i + 1, length):
                for a in range(values):
                    for b in range(values):
                        file.write(f"J {i} {j} {alphabet[a]} {alphabet[b]} {coupling[i, a, j, b]:.6f}\n")
        for i in range(length):
            for a in range(values):
                file.write(f"h {i} {alphabet[a]} {field[i, a]:.6f}\n")


def compare(short, long, values):
    """Pearson correlations of one-site frequencies, of two-site frequencies and of connected ones, and the largest
    difference of a one-site frequency."""
    (one, two), (one_long, two_long) = frequencies(short, values), frequencies(long, values)
    length = len(one) // values
    upper = np.kron(np.triu(np.ones((length, length)), 1), np.ones((values, values))) > 0
    connected, connected_long = two - np.outer(one, one), two_long - np.outer(one_long, one_long)
    return {
        "one_site": float(np.corrcoef(one, one_long)[0, 1]),
        "two_site": float(np.corrcoef(two[upper], two_long[upper])[0, 1]),
        "connected": float(np.corrcoef(connected[upper], connected_long[upper])[0, 1]),
        "largest": float(np.abs(one - one_long).max()),
    }


def overlaps(states):
    """Mean share of equal sites between draws of a chain half a run apart, and a quarter: (chains, draws, sites)."""
    draws = states.shape[1]

    def at(lag):
        return float((states[:, lag:] == states[:, :-lag]).mean())

    return at(draws // 4), at(draws // 2)


def main(fasta, parameters):
    import saltus

    sequences, alphabet = read_fasta(fasta)
    values = len(alphabet)
    start = time.perf_counter()
    field, coupling = fit(sequences, values)
    write_parameters(parameters, field, coupling, alphabet)
    print(f"fit of {len(sequences)} sequences of {sequences.shape[1]} sites: {time.perf_counter() - start:.1f} s")
    model = saltus.Model.from_file(parameters)
    start = time.perf_counter()
    short = saltus.sample(model, sampler="gibbs", chains=500, warmup=500, draws=4, thin=50, seed=1)
    took = time.perf_counter() - start
    long = saltus.sample(model, sampler="gibbs", chains=20, warmup=2000, draws=2000, thin=10, seed=2)
    drawn = np.asarray(short["posterior"]["state"]).reshape(-1, sequences.shape[1])
    reference = np.asarray(long["posterior"]["state"])
    print(f"2000 sequences in {took:.1f} s; correlations with a long run: "
          f"{compare(drawn, reference.reshape(-1, sequences.shape[1]), values)}")  # fmt: skip
    quarter, half = overlaps(reference)
    print(f"overlap at a lag of a quarter of the run {quarter:.4f}, of half {half:.4f}")
    print(saltus.verdict(long))


if __name__ == "__main__":
    main(*sys.argv[1:])
