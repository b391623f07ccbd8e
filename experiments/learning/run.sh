#!/usr/bin/env bash
# Deep energy-based models and their rivals, learnt and judged on two cores.
# Usage: experiments/learning/run.sh FOLDER DATA, with DATA the folder that has the datasets' folders.
#
# Every cell leaves FOLDER/NAME.json (its likelihood) and is skipped where that exists, so that the same command goes on
# after a stop. `saltus` must be built with `--features deep`, and `saltus-lab` be there.
set -euo pipefail
folder=$1 data=$2
saltus=${SALTUS:-target/release/saltus}
lab=${SALTUS_LAB:-target/release/saltus-lab}
mkdir -p "$folder"

judge() { # NAME MODEL-FILE DATASET OPTION…
    "$saltus" ais "$folder/$2" --data "$data" --dataset "$3" "${@:4}" --json --quiet > "$folder/$1.json.part"
    mv "$folder/$1.json.part" "$folder/$1.json"
}
# Everything but sampler, steps and options is the preset `laptop`.
deep() { # DATASET SAMPLER STEPS OPTION…
    local name=$1-$2-$3
    [ -e "$folder/$name.json" ] && return
    date "+%T $name"
    rm -rf "${folder:?}/$name"
    if "$saltus" train resnet --data "$data" --dataset "$1" --sampler "$2" --steps "$3" "${@:4}" --out "$folder/$name" \
        --json --quiet > "$folder/$name-training.json" 2> "$folder/$name-training.txt"; then
        judge "$name" "$name/model.safetensors" "$1" --chains 100 --temperatures 4000
    else
        # A training that diverges is a result, too.
        printf '{"diverged": true}\n' > "$folder/$name.json"
    fi
}
machine() {
    local name=rbm-500
    [ -e "$folder/$name.json" ] && return
    date "+%T $name"
    "$saltus" train rbm --data "$data" --dataset static-mnist --hidden 500 --method pcd --steps 10 --epochs 50 \
        --final-learning-rate 0.00001 --force --out "$folder/$name.safetensors" --json --quiet > "$folder/$name-training.json"
    judge "$name" "$name.safetensors" static-mnist --temperatures 20000
}
network() {
    local name=dbn-500-2000
    [ -e "$folder/$name.json" ] && return
    date "+%T $name"
    "$saltus" train dbn --bottom "$folder/rbm-500.safetensors" --data "$data" --dataset static-mnist --hidden 2000 \
        --method pcd --steps 10 --epochs 10 --learning-rate 0.0001 --final-learning-rate 0.00001 --force --out "$folder/$name.safetensors" \
        --json --quiet > "$folder/$name-training.json"
    judge "$name" "$name.safetensors" static-mnist --temperatures 10000
}
autoencoder() { # DATASET
    local name=vae-$1
    [ -e "$folder/$name.json" ] && return
    date "+%T $name"
    "$lab" train vae --data "$data" --dataset "$1" --epochs 100 --warmup 20 --patience 20 --samples 500 --force \
        --out "$folder/$name.safetensors" --json --quiet > "$folder/$name.json.part"
    mv "$folder/$name.json.part" "$folder/$name.json"
}

# Equal budgets: ten steps of every sampler per iteration.
for dataset in static-mnist caltech; do
    for sampler in dlmc pas dmala gwg gibbs; do deep "$dataset" "$sampler" 10; done
done
deep omniglot dlmc 10
deep frey dlmc 10 --iterations 1500
# The fewest steps that still do.
for steps in 3 1; do
    for sampler in dlmc gwg pas dmala; do deep static-mnist "$sampler" "$steps"; done
done
deep static-mnist gibbs 40
# Rivals.
for dataset in static-mnist caltech; do autoencoder "$dataset"; done
machine
network
