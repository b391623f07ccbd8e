"""Digests of what saltus computes at fixed seeds, to see whether a change of its inside changed a result.

    python experiments/digests/digests.py target/release/saltus > now.tsv
    python experiments/digests/digests.py target/release/saltus --against experiments/digests/recorded-0.2.tsv

One line per run: its name, the digest of the draws (every chunk of every array of its store) and the digest of
what its JSON object says of them (of all of it, without what the clock decides, in recorded-0.1.tsv). Exits with 1 if
one of them is another one. The digests belong to one kind of processor: they are compared
before and after a change on the same machine, not between machines.
"""

import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

RUN = "--chains 6 --warmup 60 --seed 11 --model-seed 5 --threads 2 --draws"
SMALL = f"{RUN} 90"
# What was the default when digests were first recorded: dlmc, and every step a draw.
DEFAULTS = {"--sampler": "dlmc", "--thin": "1"}
ISING = "ising --size 7x9 --coupling 0.35 --field 0.2"
PRESET = "ising --preset high --size 12"
POTTS = "potts --preset c4 --size 6x5"
FHMM = "fhmm --length 12 --factors 3"
FHMM_VALUES = "fhmm --length 8 --factors 2 --values 3"
RBM = "rbm --visible 40 --hidden 9"
RBM_VALUES = "rbm --visible 20 --hidden 6 --values 4"
BITS = "bernoulli --sites 300"
VALUES = "categorical --preset c8 --sites 60"

# What JSON says of the draws themselves; the rest may be put in other words.
OF_DRAWS = ["acceptance", "scale", "log_prob", "observables", "draws", "chains"]

SAMPLERS = ["rwm", "hb", "bg", "gibbs", "lb1", "gwg", "dld", "pas", "dmala", "dlmcf", "dlmc"]


def runs():
    """Name and command line of every run."""
    for sampler in SAMPLERS:
        yield f"ising {sampler}", f"sample {PRESET} --sampler {sampler} {SMALL} --keep bits"
        yield f"potts {sampler}", f"sample {POTTS} --sampler {sampler} {SMALL} --keep states"
        yield f"rbm {sampler}", f"sample {RBM} --sampler {sampler} {SMALL}"
    for weight in ["ratio", "min", "max", "sum"]:
        yield f"bits dlmc {weight}", f"sample {BITS} --weight {weight} {SMALL} --keep bits"
        yield f"fhmm pas {weight}", f"sample {FHMM} --sampler pas --weight {weight} {SMALL}"
        yield f"potts gwg {weight}", f"sample {POTTS} --sampler gwg --weight {weight} {SMALL}"
    for solver in ["euler", "exact"]:
        yield f"values dlmc {solver}", f"sample {VALUES} --solver {solver} {SMALL} --keep states"
    yield "values dlmc ordinal", f"sample {VALUES} --ordinal 2 {SMALL} --keep states"
    yield "values gwg ordinal", f"sample {VALUES} --sampler gwg --ordinal 2 {SMALL} --keep states"
    yield "fhmm values dmala exact", f"sample {FHMM_VALUES} --sampler dmala --differences exact {SMALL} --keep states"
    yield "rbm values dlmc", f"sample {RBM_VALUES} {SMALL} --keep states"
    yield "torus gibbs", f"sample {ISING} --periodic --sampler gibbs {SMALL} --thin 3 --keep bits"
    yield "ising dlmc fixed", f"sample {ISING} --scale 0.1 {SMALL} --thin 2 --keep bits"
    yield "ising dlmc until", f"sample {ISING} {RUN} 800 --until-ess 300"
    yield "ising long gwg", f"sample {ISING} --sampler gwg {RUN} 2500"
    yield "ising long rwm", f"sample {ISING} --sampler rwm {RUN} 2500"


def digest(parts):
    total = hashlib.sha256()
    for part in parts:
        total.update(part)
    return total.hexdigest()[:16]


# What says nothing that other arrays do not say: places of sites, and −log π.
SAID_ELSEWHERE = ["site", "row", "column", "value", "energy"]


def chunks(store):
    """The chunks of all arrays, in order of their names, which are those of stores without shards. Bits of states count
    among the posterior, where they were once kept."""
    for group in ["posterior", "sample_stats", "warmup", "sites"]:
        found = []
        bits = list((store / "packed" / "state_bits").rglob("*")) if group == "posterior" else []
        for path in [*(store / group).rglob("*"), *bits]:
            if path.is_file() and "/c/" in path.as_posix() and path.relative_to(store).parts[1] not in SAID_ELSEWHERE:
                found += inner(store, path)
        found = [(pathlib.Path(group, *name.parts[1:]), content) for name, content in found]
        for name, content in sorted(found):
            yield name.as_posix().encode()
            yield content


def inner(store, path):
    """Name and content of every chunk in a file."""
    name = path.relative_to(store)
    array = pathlib.Path(*name.parts[: name.parts.index("c")])
    metadata = json.loads((store / array / "zarr.json").read_text())
    content, [codec, *_] = path.read_bytes(), metadata["codecs"]
    if codec["name"] != "sharding_indexed":
        return [(name, content)]
    outer = metadata["chunk_grid"]["configuration"]["chunk_shape"]
    grows = 1 if len(outer) > 1 else 0
    chunks_in_file = outer[grows] // codec["configuration"]["chunk_shape"][grows]
    place = [int(part) for part in name.parts[name.parts.index("c") + 1 :]]
    found = []
    for number in range(chunks_in_file):
        start, length = struct.unpack_from("<QQ", content, 16 * number)
        if length != 2**64 - 1:
            index = list(place)
            index[grows] = place[grows] * chunks_in_file + number
            found.append((pathlib.Path(array, "c", *map(str, index)), content[start : start + length]))
    return found


def ask(command):
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")
    return done.stdout


def of_draws(text):
    found = json.loads(text)
    return json.dumps({key: found[key] for key in OF_DRAWS if key in found}, sort_keys=True).encode()


def annealed(binary, folder):
    """Name and digest of every annealing, of a small RBM trained here."""
    images = folder / "images"
    images.mkdir()
    rows, columns, count = 6, 6, 200
    pixels = bytes(255 * ((n * n + 7 * n * i + i * i // 3) % 5 < 2) for n in range(count) for i in range(rows * columns))
    for part in ["train", "t10k"]:
        header = b"".join(number.to_bytes(4, "big") for number in [0x803, count, rows, columns])
        (images / f"{part}-images-idx3-ubyte").write_bytes(header + pixels)
        header = b"".join(number.to_bytes(4, "big") for number in [0x801, count])
        (images / f"{part}-labels-idx1-ubyte").write_bytes(header + bytes(count))
    weights = folder / "rbm.safetensors"
    train = f"train rbm --data {images} --dataset mnist --hidden 8 --epochs 2 --steps 5 --batch 20 --seed 3 --quiet"
    ask([binary, *train.split(), "--out", weights])
    yield "train rbm", digest([weights.read_bytes()])
    options = "--chains 20 --temperatures 60 --seed 4 --json --quiet --threads 2 --exact"
    for sampler in ["alternating", *(name for name in SAMPLERS if name != "dld")]:
        text = ask([binary, "ais", weights, "--sampler", sampler, *options.split()])
        found = json.loads(text)
        kept = {key: found[key] for key in ["log_z", "forward", "reverse", "log_z_exact", "scale", "acceptance"] if key in found}
        yield f"ais {sampler}", digest([json.dumps(kept, sort_keys=True).encode()])


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, (name, command) in enumerate(runs()):
            store = folder / str(number)
            usual = [word for option in DEFAULTS.items() if option[0] not in command for word in option]
            text = ask([binary, *command.split(), *usual, "--json", "--quiet", "--out", store])
            found.append((name, digest(chunks(store)), digest([of_draws(text)])))
        found += [(name, mark, "") for name, mark in annealed(binary, folder)]
    lines = ["\t".join(row).rstrip() for row in found]
    if "--against" not in sys.argv:
        print("\n".join(lines))
        return
    recorded = pathlib.Path(sys.argv[sys.argv.index("--against") + 1]).read_text().splitlines()
    recorded = {line.split("\t")[0]: line.split("\t")[1:] for line in recorded}
    same = 0
    for name, *marks in (line.split("\t") for line in lines):
        before = recorded.get(name)
        what = [part for part, was, now in zip(["draws", "json"], before or [], marks) if was != now]
        same += before is not None and not what
        if before is None or what:
            print(f"{name}: {'new' if before is None else 'other ' + ' and '.join(what)}")
    print(f"{same} of {len(lines)} are the same")
    sys.exit(same != len(lines))


main()
