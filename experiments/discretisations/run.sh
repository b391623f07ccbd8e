#!/usr/bin/env bash
# What the discretisation buys: accepted changes, effective draws per evaluation and per second of the solvers of DLMC,
# each at its own best acceptance; and the jump process beside samplers that change few sites. About half an hour.
#
# experiments/discretisations/run.sh FOLDER MACHINES, where MACHINES holds fashion-mnist-{4,8}-levels-50.safetensors
set -euo pipefail
folder=$1 machines=$2
mkdir -p "$folder"
saltus=${SALTUS:-target/release/saltus}

compare() {
    local name=$1
    shift
    "$saltus" compare "$@" --plot "$folder/$name.svg" --quiet > "$folder/$name.txt"
    printf '%s\n' "$name"
}
solvers() {
    compare "$@" --samplers dmala,dlmcf,dlmc,dlmc:exact,dlmc:metropolised --best-acceptance
}
for weight in sqrt ratio; do
    for values in 4 8 32; do
        solvers potts-$values-$weight potts --values $values --weight $weight --chains 16 --warmup 300 --draws 2000
    done
    solvers fhmm-4-$weight fhmm --preset c4 --weight $weight --chains 16 --warmup 500 --draws 2000
    solvers fhmm-8-$weight fhmm --preset c8 --weight $weight --chains 16 --warmup 500 --draws 2000
    for values in 4 8; do
        solvers rbm-$values-$weight rbm --weights "$machines/fashion-mnist-$values-levels-50.safetensors" \
            --weight $weight --chains 16 --warmup 500 --draws 2000
    done
done
# Exact rows of ratio cost the square of the number of values: here only the square root.
solvers potts-256-sqrt potts --values 256 --weight sqrt --chains 4 --warmup 200 --draws 500

# The jump process: one jump per step, so that draws are kept far apart.
jumps() { compare "$@" --samplers gwg,dld,pas,dlmc --chains 16 --warmup 20000 --draws 1000 --thin 200; }
for weight in sqrt ratio; do
    jumps jumps-ising-$weight ising --preset high --weight $weight
    jumps jumps-potts-8-$weight potts --preset c8 --weight $weight
    jumps jumps-fhmm-$weight fhmm --preset high --weight $weight
done
