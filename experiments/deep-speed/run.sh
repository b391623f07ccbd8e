#!/usr/bin/env bash
# How fast the networks are, in one run: our loops, burn, and PyTorch if Python has it.
# Usage: experiments/deep-speed/run.sh [FOLDER]; nothing else should run meanwhile.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-experiments/results/$(date +%F)-deep-speed}
mkdir -p "$out"
cargo bench --quiet --package saltus-nn --features burn --bench speed | tee "$out/saltus.md"
python=${PYTHON:-python3}
if "$python" -c 'import torch' 2>/dev/null; then
    "$python" experiments/deep-speed/torch_speed.py | tee "$out/pytorch.md"
else
    echo "PyTorch is not installed: its rows are left out"
fi
# Again, because machines change their pace.
cargo bench --quiet --package saltus-nn --features burn --bench speed | tee "$out/saltus-again.md"
