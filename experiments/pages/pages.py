"""Runs the commands of the pages for users of one kind of files, as they stand there, and tells the seconds of each.

    cargo build --release
    python experiments/pages/pages.py target/release/saltus ../shared/data/formats > times.md

The folder has `dca/RF00379.fasta`, `gset/G11.txt`, `bif/asia.bif.gz` and `uai/uai2022-1.uai` with its evidence; the other files that the pages begin
with are made here. Commands use all processors.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ["dca.md", "qubo.md", "physics.md", "graphical-models.md"]


def commands(page):
    """The lines of the blocks of a page that are commands of saltus."""
    blocks = re.findall(r"```sh\n(.*?)```", (DOCS / page).read_text(), re.S)
    return [line for block in blocks for line in block.splitlines() if line.startswith("saltus ")]


def write_quadratic(path, head, entries):
    path.write_text(head + "".join(f"{i} {j} {w:.6g}\n" for i, j, w in entries))


def prepare(folder, data):
    """The files that the pages begin with."""
    shutil.copy(data / "dca" / "RF00379.fasta", folder / "family.fasta")
    shutil.copy(data / "gset" / "G11.txt", folder / "G11.txt")
    shutil.copy(data / "bif" / "asia.bif.gz", folder / "asia.bif.gz")
    shutil.copy(data / "uai" / "uai2022-1.uai", folder / "network.uai")
    shutil.copy(data / "uai" / "uai2022-1.uai.evid", folder / "network.uai.evid")
    chance = random.Random(1)
    size = 200
    dense = [(i, j, chance.gauss(0, 0.3)) for i in range(size) for j in range(i, size)]
    couplers = sum(i != j for i, j, _ in dense)
    write_quadratic(folder / "problem.qubo", f"p qubo 0 {size} {size} {couplers}\n", dense)
    # Three vertices, all joined, to be coloured with three colours: bit 3 v + c says that v has colour c.
    joined = [(3 * v + c, 3 * w + c, 4.0) for v in range(3) for w in range(v + 1, 3) for c in range(3)]
    write_quadratic(folder / "colours.coo", "", joined)
    size = 60
    covariances = [(i, j, chance.gauss(0, 0.2)) for i in range(size) for j in range(i, size)]
    write_quadratic(folder / "portfolio.coo", "", covariances)


def run(binary, line, folder):
    """Seconds of a command."""
    words = line.split("#")[0].split()
    began = time.perf_counter()
    done = subprocess.run([binary, *words[1:]], cwd=folder, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        raise SystemExit(f"{line}: exit code {done.returncode}\n{done.stderr}")
    return seconds


def main():
    binary, data = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    version = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()
    print(f"{version}, {os.cpu_count()} processors\n\n| page | command | seconds |\n|---|---|---|")
    for page in PAGES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            prepare(folder, data)
            lines = commands(page)
            # Parameters are what training gives, and may stand on the page before it.
            lines.sort(key=lambda line: not line.startswith("saltus train"))
            for line in lines:
                seconds = run(binary, line, folder)
                print(f"| {page} | `{line}` | {seconds:.2f} |", flush=True)
                if line.startswith("saltus train"):
                    shutil.copy(folder / "family.dat", folder / "parameters.dat")


main()
