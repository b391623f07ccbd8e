"""Memory and files of stored runs of four chains of sixteen sites, by the number of draws.

    python experiments/long-runs/long_runs.py target/release/saltus 10000 100000 1000000 10000000

Prints a table: draws, the most memory that the process had at any time, files, bytes on disk, seconds.
"""

import os
import pathlib
import shutil
import sys
import tempfile
import time

RUN = "sample ising --size 4 --sampler gibbs --chains 4 --warmup 1000 --threads 2 --quiet --json --out"


def run(binary, draws, folder):
    """Peak memory in MiB and wall time of a run."""
    words = [binary, *RUN.split(), str(folder), "--draws", str(draws)]
    begun = time.monotonic()
    process = os.posix_spawn(binary, words, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(process, 0)
    if status != 0:
        sys.exit(f"{' '.join(words)} ended with {status}")
    return usage.ru_maxrss / 1024, time.monotonic() - begun


def main():
    binary, *numbers = sys.argv[1:]
    print("| draws of each chain | memory | files | on disk | time |\n|---|---|---|---|---|")
    for draws in map(int, numbers):
        parent = pathlib.Path(tempfile.mkdtemp())
        memory, seconds = run(binary, draws, parent / "run")
        files = [path for path in (parent / "run").rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) / 2**20
        print(f"| {draws:,} | {memory:.0f} MiB | {len(files)} | {size:.1f} MiB | {seconds:.1f} s |", flush=True)
        shutil.rmtree(parent)


main()
