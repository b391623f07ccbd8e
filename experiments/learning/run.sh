#!/usr/bin/env bash
# Deep energy-based models and their rivals, learnt and judged on two cores, in the order of what one wants to know first.
# Usage: experiments/learning/run.sh FOLDER DATA [NAME…], with DATA the folder that has the datasets' folders.
#
# Every line leaves FOLDER/NAME.json (its likelihood) and is skipped where that exists; a training that was stopped goes on from
# its checkpoint. So the same command goes on after a kill at any moment, and several of them, one per core, share the work: who
# begins a line holds its lock. With names, only those lines. `saltus` must be built with `--features deep`, and `saltus-lab` be there.
set -euo pipefail
folder=$1 data=$2
names=" ${*:3} "
saltus=${SALTUS:-target/release/saltus}
lab=${SALTUS_LAB:-target/release/saltus-lab}
threads=${THREADS:-1}
mkdir -p "$folder"

# Whether a line is wanted, not done, and nobody else's; if so it is ours until the script ends or begins another.
begins() { # NAME
    [[ $names =~ ^\ *$ || $names == *" $1 "* ]] || return 1
    [ ! -e "$folder/$1.json" ] || return 1
    exec 9> "$folder/$1.lock"
    flock -n 9 || return 1
    date "+%T $1"
}
# What a command prints appears whole or not at all.
whole() { # FILE COMMAND…
    "${@:2}" > "$1.part" &&
        mv "$1.part" "$1"
}
judge() { # NAME MODEL-FILE DATASET OPTION…
    whole "$folder/$1.json" "$saltus" ais "$folder/$2" --data "$data" --dataset "$3" "${@:4}" --threads "$threads" \
        --checkpoint "$folder/$1.ais" --json --quiet
}
# A deep model. What is not said is the preset `laptop`.
deep() { # NAME DATASET TEMPERATURES OPTION…
    local name=$1 dataset=$2 temperatures=$3
    shift 3
    begins "$name" || return 0
    if [ -e "$folder/$name/checkpoint.safetensors" ]; then
        set -- --resume "$folder/$name"
    else
        set -- --dataset "$dataset" "$@" --force --out "$folder/$name"
    fi
    if [ ! -e "$folder/$name-training.json" ] && ! whole "$folder/$name-training.json" "$saltus" train resnet --data "$data" \
        "$@" --save-every 100 --threads "$threads" --json --quiet 2> "$folder/$name-training.txt"; then
        grep -q diverged "$folder/$name-training.txt" || exit 1
        # A training that diverges is a result, too.
        printf '{"diverged": true}\n' > "$folder/$name.json"
        return 0
    fi
    # What did best on the validation images, if they were looked at.
    local model=$name/best.safetensors
    [ -e "$folder/$model" ] || model=$name/model.safetensors
    judge "$name" "$model" "$dataset" --chains 100 --temperatures "$temperatures"
}
# An RBM, or with a bottom RBM the network on it.
layers() { # NAME TEMPERATURES rbm|dbn OPTION…
    local name=$1 temperatures=$2 model=$3 from=--force
    shift 3
    begins "$name" || return 0
    [ -e "$folder/$name-checkpoint.safetensors" ] && from=--resume
    [ -e "$folder/$name-training.json" ] || whole "$folder/$name-training.json" "$saltus" train "$model" --data "$data" \
        --dataset static-mnist "$@" $from --save-every 500 --threads "$threads" --out "$folder/$name.safetensors" --json --quiet
    judge "$name" "$name.safetensors" static-mnist --temperatures "$temperatures"
}
autoencoder() { # NAME DATASET OPTION…
    local name=$1 dataset=$2
    shift 2
    begins "$name" || return 0
    whole "$folder/$name.json" "$lab" train vae --data "$data" --dataset "$dataset" "$@" --warmup 5 --samples 500 --threads "$threads" \
        --force --out "$folder/$name.safetensors" --json --quiet
}
# Chains that start from independent pixels and go on for long, and where they came to.
long_run() { # NAME
    [ -e "$folder/$1.json" ] && [ -e "$folder/$1/model.safetensors" ] || return 0
    begins "$1-long-run" || return 0
    whole "$folder/$1-long-run.json" "$saltus" sample resnet --weights "$folder/$1/model.safetensors" --chains 100 --warmup 2000 \
        --draws 100 --threads "$threads" --mosaic "$folder/$1-long-run.png" --force --json --quiet
}

# What all trainings of deep models share.
common=(--batch 50 --buffer 250 --final-learning-rate 0.00001 --fall cosine)
short=("${common[@]}" --steps 3 --learning-rate 0.0003 --warmup 300 --iterations 1500 --decay 0.99)

# What the tables ask for first.
deep static-mnist-dlmc static-mnist 3000 "${common[@]}" --sampler dlmc --width 32 --steps 3 --max-steps 12 --learning-rate 0.0002 \
    --warmup 1000 --iterations 18000 --decay 0.999 --validate-every 3000 --validation-chains 40 --validation-temperatures 500
layers rbm-500 10000 rbm --hidden 500 --method pcd --steps 5 --epochs 120 --buffer 500 --decay 0.999 --fall cosine \
    --final-learning-rate 0.00001
deep caltech-dlmc caltech 3000 "${common[@]}" --sampler dlmc --steps 5 --max-steps 20 --learning-rate 0.0002 --warmup 1000 \
    --iterations 8000 --decay 0.999 --validate-every 1000 --validation-temperatures 500
[ ! -e "$folder/rbm-500.json" ] || layers dbn-500-2000 10000 dbn --bottom "$folder/rbm-500.safetensors" --hidden 2000 --method pcd \
    --steps 5 --epochs 5 --decay 0.999 --learning-rate 0.0001 --final-learning-rate 0.000001
# Five samplers at the same small budget.
for dataset in static-mnist dynamic-mnist omniglot caltech; do
    for sampler in dlmc pas dmala gwg gibbs; do
        deep "$dataset-$sampler-short" "$dataset" 1000 "${short[@]}" --sampler "$sampler"
    done
done
for sampler in dlmc gwg pas; do
    deep "frey-$sampler" frey 1000 "${short[@]}" --sampler "$sampler"
done
autoencoder hvae-static-mnist static-mnist --levels 2 --epochs 20
autoencoder hvae-frey frey --levels 2 --epochs 100
autoencoder convhvae-static-mnist static-mnist --levels 2 --channels 8 --epochs 2
for name in static-mnist-dlmc caltech-dlmc dynamic-mnist-dlmc-short omniglot-dlmc-short frey-dlmc; do long_run "$name"; done
