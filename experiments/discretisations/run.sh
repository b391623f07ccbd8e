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
solvers() {
    local name=$1
    shift
    compare "$name" "$@" --samplers dmala,dlmcf,dlmc,dlmc:exact --best-acceptance
}
short="--chains 8 --warmup 300 --draws 1000"
solvers potts-4-sqrt potts --values 4 $short
solvers potts-8-sqrt potts --values 8 $short
solvers potts-8-ratio potts --values 8 --weight ratio $short
solvers potts-32-sqrt potts --values 32 $short
solvers potts-256-sqrt potts --values 256 --chains 2 --warmup 200 --draws 500
# These take longer to come to their target.
solvers fhmm-4-sqrt fhmm --preset c4 --chains 8 --warmup 1500 --draws 2000
solvers fhmm-8-sqrt fhmm --preset c8 --chains 8 --warmup 1500 --draws 2000
solvers rbm-4-sqrt rbm --weights "$machines/fashion-mnist-4-levels-50.safetensors" $short
solvers rbm-8-sqrt rbm --weights "$machines/fashion-mnist-8-levels-50.safetensors" $short

# The jump process makes one jump per step, so steps are many. Weight functions as the targets prefer them.
jumps() {
    compare "$@" --samplers gwg,dld,pas,dlmc --chains 16 --warmup 10000 --draws 10000 --thin 10
}
jumps jumps-ising ising --preset high --weight ratio
jumps jumps-potts-8 potts --preset c8 --weight sqrt
jumps jumps-fhmm fhmm --preset high --weight sqrt
