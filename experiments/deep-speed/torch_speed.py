"""How fast PyTorch is at the same network: a row of the table that `cargo bench -p saltus-nn` prints.

The energy of 100 images and its gradient with respect to the input, eager mode, as many threads as there
are cores; also in channels_last order, and a whole step of DLMC around it. The least of several rounds.
"""

import math
import os
import time

import torch
from torch import nn

BATCH = 100
ROUNDS = 7


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1)
        self.skip = nn.Identity() if stride == 1 else nn.Conv2d(inputs, outputs, 1, stride, 0)
        self.swish = nn.SiLU()

    def forward(self, image):
        return self.swish(self.second(self.swish(self.first(image))) + self.skip(image))


class Energy(nn.Module):
    def __init__(self, width):
        super().__init__()
        blocks = [Block(width, width, 2) for _ in range(2)] + [Block(width, width, 1) for _ in range(6)]
        self.body = nn.Sequential(nn.Conv2d(1, width, 3, 1, 1), *blocks)
        self.last = nn.Linear(width, 1)

    def forward(self, states):
        return self.last(self.body(states.view(-1, 1, 28, 28)).mean((2, 3))).squeeze(1)


def least(call):
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return min(times) * 1e3


def energy_and_gradient(model, states, base):
    states = states.detach().requires_grad_()
    energy = model(states) + (states * base).sum(1)
    (gradient,) = torch.autograd.grad(energy.sum(), states)
    return energy.detach(), gradient


def rows(states, gradient, step):
    """The probabilities of a flip, and both logarithms that the acceptance needs."""
    difference = (1 - 2 * states) * gradient
    conditional = torch.sigmoid(difference)
    rate = torch.exp(difference / 2) + torch.exp(-difference / 2)
    flip = conditional * (1 - torch.exp(-step * rate))
    return flip.clamp(1e-12, 1 - 1e-7)


def dlmc_step(model, base, current, step):
    """A step that, like saltus's, evaluates the network once: at the proposal."""
    states, energy, gradient = current
    flip = rows(states, gradient, step)
    flipped = torch.bernoulli(flip)
    proposal = (states + flipped) % 2
    new_energy, new_gradient = energy_and_gradient(model, proposal, base)
    back = rows(proposal, new_gradient, step)
    forward_log = (flipped * flip.log() + (1 - flipped) * (1 - flip).log()).sum(1)
    back_log = (flipped * back.log() + (1 - flipped) * (1 - back).log()).sum(1)
    accepted = torch.rand(BATCH).log() < new_energy - energy + back_log - forward_log
    mask = accepted.unsqueeze(1)
    return (
        torch.where(mask, proposal, states),
        torch.where(accepted, new_energy, energy),
        torch.where(mask, new_gradient, gradient),
    )


def main():
    torch.set_num_threads(os.cpu_count())
    torch.manual_seed(0)
    print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads\n")
    print("| network | width | value | value and gradient | step of dlmc |")
    print("|---|---|---|---|---|")
    base = torch.full((784,), math.log(0.25))
    states = (torch.arange(BATCH * 784) * 7919 % 5 == 0).float().view(BATCH, 784)
    for width in (16, 64):
        for name, order in (("eager", torch.contiguous_format), ("channels_last", torch.channels_last)):
            model = Energy(width).to(memory_format=order)
            for parameter in model.parameters():
                parameter.requires_grad_(False)
            with torch.no_grad():
                value = least(lambda: model(states))
            both = least(lambda: energy_and_gradient(model, states, base))
            current = (states, *energy_and_gradient(model, states, base))
            step = least(lambda: dlmc_step(model, base, current, 0.1))
            print(f"| PyTorch {name} | {width} | {value:.1f} | {both:.1f} | {step:.1f} |")


main()
