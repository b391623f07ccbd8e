"""A deep energy-based model in torch, sampled by saltus and by a plain torch DMALA loop as papers write it, in one run.

    python experiments/python/torch_ebm.py [CHAINS] [STEPS]

The network is the residual network of saltus-nn: 28 × 28 bits, a convolution, residual blocks with swish, a sum. Skips
where torch is not installed.
"""

import sys
import time

import numpy as np

try:
    import torch
except ImportError:
    sys.exit("torch is not installed: nothing is compared")

import saltus


class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.one = torch.nn.Conv2d(channels, channels, 3, padding=1)
        self.two = torch.nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        swish = torch.nn.functional.silu
        return x + self.two(swish(self.one(swish(x))))


class Energy(torch.nn.Module):
    """log π of rows of 784 bits."""

    def __init__(self, channels=64, blocks=8):
        super().__init__()
        self.first = torch.nn.Conv2d(1, channels, 3, padding=1)
        self.blocks = torch.nn.Sequential(*(Block(channels) for _ in range(blocks)))
        self.last = torch.nn.Linear(channels, 1)

    def forward(self, x):
        x = self.first(2 * x.reshape(-1, 1, 28, 28) - 1)
        return self.last(torch.nn.functional.silu(self.blocks(x)).mean(dim=(2, 3))).squeeze(-1)


def dmala(net, x, steps, scale):
    """Discrete MALA as its authors write it (Zhang, Liu and Liu 2022): two evaluations with gradients per step."""

    def logits(x):
        x = x.detach().requires_grad_()
        value = net(x)
        (gradient,) = torch.autograd.grad(value.sum(), x)
        return value.detach(), -0.5 * gradient * (2 * x - 1) - 1 / (2 * scale)

    for _ in range(steps):
        here, forward = logits(x)
        flips = torch.bernoulli(torch.sigmoid(forward))
        proposal = (1 - flips) * x + flips * (1 - x)
        there, reverse = logits(proposal)
        log_forward = torch.distributions.Bernoulli(logits=forward).log_prob(flips).sum(dim=1)
        log_reverse = torch.distributions.Bernoulli(logits=reverse).log_prob(flips).sum(dim=1)
        accepted = torch.log(torch.rand_like(here)) < there - here + log_reverse - log_forward
        x = torch.where(accepted[:, None], proposal, x).detach()
    return x


def main(chains=100, steps=20):
    torch.manual_seed(0)
    net = Energy().eval()
    model = saltus.Model.from_log_prob(net, 2, sites=784, backend="torch")
    start = np.random.default_rng(0).integers(0, 2, size=(chains, 784), dtype=np.uint8)

    def by_saltus(count):
        saltus.sample(model, sampler="dmala", scale=0.2, chains=chains, warmup=0, draws=count, init=start, keep="none", seed=0)

    def by_torch(count):
        dmala(net, torch.tensor(start, dtype=torch.float32), count, 0.2)

    for name, run in (("saltus", by_saltus), ("plain torch loop", by_torch)):
        run(1)
        begun = time.perf_counter()
        run(steps)
        print(f"{name}: {(time.perf_counter() - begun) / steps * 1e3:.1f} ms per step of {chains} chains")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
