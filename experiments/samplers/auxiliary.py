"""Is a Gaussian auxiliary sampler worth keeping beside Gibbs sweeps on dense spin models?

    python experiments/samplers/auxiliary.py

Spins with log π = ½ sᵀJs. With A = J + λI positive definite, z | s ~ N(As, A), and all spins given z are independent with fields z
(Hubbard 1959; Martens and Sutskever 2010; Margossian et al. 2021): a step redraws everything and rejects nothing. It costs two products with dense matrices (A^½ times a normal vector,
A times s) where a sweep of Gibbs adds a row of J for every spin that flips, which is less. So the sampler can only win by mixing faster per step. Both are run in
numpy on Sherrington–Kirkpatrick models and on a dense ferromagnet, and the integrated autocorrelation time of the energy is compared, in steps.
"""

import numpy as np

N, CHAINS, STEPS = 64, 64, 3000


def gibbs(s, J, rng):
    for i in range(N):
        field = 2 * (s @ J[i])
        s[:, i] = np.where(rng.random(CHAINS) < 1 / (1 + np.exp(-field)), 1.0, -1.0)
    return s


def auxiliary(s, A, root, rng):
    z = s @ A + rng.normal(size=s.shape) @ root
    return np.where(rng.random(s.shape) < 1 / (1 + np.exp(-2 * z)), 1.0, -1.0)


def time_of(series):
    x = series - series.mean(axis=0)
    spectrum = np.abs(np.fft.rfft(x, 2 * len(x), axis=0)) ** 2
    rho = np.fft.irfft(spectrum, axis=0)[: len(x)].mean(axis=1)
    rho /= rho[0]
    pairs = rho[0::2][: len(rho) // 2] + rho[1::2][: len(rho) // 2]
    stop = np.argmax(pairs < 0) or len(pairs)
    return 2 * pairs[:stop].sum() - 1


def main():
    rng = np.random.default_rng(0)
    glass = np.triu(rng.normal(size=(N, N)), 1) / np.sqrt(N)
    glass += glass.T
    magnet = (np.ones((N, N)) - np.eye(N)) / N
    print("| model | β | Gibbs, sweeps | auxiliary, steps | ratio |\n|---|---:|---:|---:|---:|")
    for name, pairs, betas in [("SK", glass, (0.3, 0.6, 1.0)), ("all-to-all magnet", magnet, (0.5, 0.9))]:
        for beta in betas:
            J = beta * pairs
            values, vectors = np.linalg.eigh(J)
            shift = 1e-6 - values[0]
            A = J + shift * np.eye(N)
            root = (vectors * np.sqrt(values + shift)) @ vectors.T
            times = []
            for move in (lambda s: gibbs(s, J, rng), lambda s: auxiliary(s, A, root, rng)):
                s = rng.choice([-1.0, 1.0], size=(CHAINS, N))
                energies = []
                for step in range(STEPS + 300):
                    s = move(s)
                    if step >= 300:
                        energies.append(0.5 * np.einsum("ci,ij,cj->c", s, J, s))
                times.append(time_of(np.array(energies)))
            print(f"| {name} | {beta} | {times[0]:.2f} | {times[1]:.2f} | {times[1] / times[0]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
