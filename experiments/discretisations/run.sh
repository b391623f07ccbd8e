#!/usr/bin/env bash
# What the discretisation buys: accepted changes, effective draws per evaluation and per second of the solvers of DLMC,
# each at its own best acceptance; and the jump process beside samplers that change few sites. About a quarter of an hour.
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
budget="--chains 8 --warmup 300 --draws 1000"
solvers() {
    local name=$1
    shift
    compare "$name" "$@" --samplers dmala,dlmcf,dlmc,dlmc:exact,dlmc:metropolised --best-acceptance $budget
}
for weight in sqrt ratio; do
    solvers potts-8-$weight potts --values 8 --weight $weight
    solvers fhmm-8-$weight fhmm --preset c8 --weight $weight
done
solvers potts-4-sqrt potts --values 4
solvers potts-32-sqrt potts --values 32
solvers fhmm-4-sqrt fhmm --preset c4
solvers rbm-4-sqrt rbm --weights "$machines/fashion-mnist-4-levels-50.safetensors"
solvers rbm-8-sqrt rbm --weights "$machines/fashion-mnist-8-levels-50.safetensors"
budget="--chains 2 --warmup 200 --draws 500"
solvers potts-256-sqrt potts --values 256

# The jump process makes one jump per step, so draws are kept far apart. Weight functions as the targets prefer them.
jumps() {
    compare "$@" --samplers gwg,dld,pas,dlmc --chains 16 --warmup 10000 --draws 1000 --thin 100
}
jumps jumps-ising ising --preset high --weight ratio
jumps jumps-potts-8 potts --preset c8 --weight sqrt
jumps jumps-fhmm fhmm --preset high --weight sqrt
