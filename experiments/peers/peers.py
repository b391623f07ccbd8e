"""saltus beside other samplers of spins, in one run on one computer.

    cargo build --release
    python experiments/peers/peers.py target/release/saltus --out experiments/results/DATE-peers

Installs dwave-samplers, OpenJij, thrml, hamon, torch and adabmDCA from PyPI into target/peers. Every
sampler makes Gibbs or heat-bath sweeps of 100 chains on one thread of one processor. Three questions are asked:

* what a site update costs: nanoseconds, from sweeps after everything is compiled and warm;
* what a step of dlmc and of pas costs on each graph: nanoseconds per edge;
* how long somebody waits: seconds from the start of a process to 1,000 effective draws, by ArviZ, of the slower of log π and the
  magnetisation, with start, compilation, reading the model and warm-up.

The answers are printed as tables and written as JSON and as a picture, with `--docs` also into the pages that show them. `--quick` asks for less, to
see whether it works.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENV = ROOT / "target" / "peers"
PACKAGES = ["numpy", "arviz<1", "matplotlib", "dwave-samplers", "openjij", "thrml", "hamon", "torch", "adabmDCA"]
CHAINS = 100
WANTED = 1000
# Seconds that a peer has for an answer.
PATIENCE = 60
STEPS = ["dlmc", "dmala", "pas"]
PEERS = ["dwave", "openjij", "thrml", "hamon", "torch", "adabmDCA"]
README = """
![Nanoseconds per site update, and seconds from nothing to 1,000 effective draws, of saltus and others](docs/pictures/peers.svg)

Measured in one run on one computer, one thread, 100 chains ([tables and program](docs/speed.md#on-any-graph)).

"""
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}


def install():
    """The environment of the peers; what cannot be installed is left out."""
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    for package in PACKAGES:
        done = subprocess.run([python, "-m", "pip", "install", "-q", package])
        if done.returncode != 0:
            print(f"{package} cannot be installed and is left out", file=sys.stderr)
    return python


def peer(python, question, library, model, patience, **options):
    """What a process of a peer answers; none if it cannot."""
    options = {**options, "patience": patience}
    command = [python, HERE / "peer.py", question, library, model, json.dumps(options)]
    began = time.time()
    environment = {**os.environ, **ONE_THREAD, "SALTUS_PEER_BEGAN": repr(began)}
    try:
        done = subprocess.run(pinned(command), capture_output=True, text=True, env=environment, timeout=patience + 30)
    except subprocess.TimeoutExpired:
        return {"missing": f"no answer in {patience + 30} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        return {"missing": (done.stderr.strip().splitlines() or ["no answer"])[-1][:200]}
    return json.loads(lines[-1])


def pinned(command):
    """The same on one processor, where that can be asked for."""
    return ["taskset", "-c", "0", *map(str, command)] if platform.system() == "Linux" else list(map(str, command))


def saltus(binary, words, **options):
    """One run of saltus: its JSON and the seconds it took."""
    command = [binary, "sample", *words, "--chains", CHAINS, "--threads", 1, "--json", "--quiet"]
    for name, value in options.items():
        command += ["--" + name.replace("_", "-"), value]
    began = time.time()
    done = subprocess.run(pinned(command), capture_output=True, text=True)
    seconds = time.time() - began
    if done.returncode not in (0, 4):
        return {"missing": done.stderr.strip()[:200]}, seconds
    return json.loads(done.stdout), seconds


def update_of_saltus(binary, words, sampler, quick):
    """Nanoseconds per site update, the least of three runs that take about a second each."""
    draws, least = 20, None
    for _ in range(1 if quick else 4):
        ran, _ = saltus(binary, words, sampler=sampler, warmup=10, draws=draws, thin=1)
        if "missing" in ran:
            return ran
        pace = ran["ns_per_site_step"]
        least = pace if least is None or pace < least else least
        second = 1e9 / (pace * CHAINS * ran["sites"])
        draws = int(min(max(second, 20), 5000))
    return {"ns": least}


def step_of_saltus(binary, words, sampler, model, quick):
    """Nanoseconds per edge and step."""
    pace = update_of_saltus(binary, words, sampler, quick)
    return pace if "missing" in pace else {"ns": pace["ns"] * model["sites"] / model["edges"]}


def wait_for_saltus(python, binary, words, sampler, quick):
    """Seconds to 1,000 effective draws: of the shortest run, in steps of two, that has them."""
    draws = 16
    while draws <= (64 if quick else 1 << 16):
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "run")
            ran, seconds = saltus(binary, words, sampler=sampler, draws=draws, out=store)
            if "missing" in ran:
                return ran
            draws_file = os.path.join(folder, "run.npz")
            subprocess.run([binary, "export", store, "--npz", draws_file], capture_output=True, check=True)
            checked = subprocess.run(
                [python, HERE / "peer.py", "ess", draws_file, "-", "{}"], capture_output=True, text=True, check=True
            )
            ess = json.loads(checked.stdout.splitlines()[-1])["ess"]
        if ess >= WANTED:
            return {"seconds": seconds, "draws": draws, "ess": ess}
        draws *= 2
    return {"missing": f"ESS {ess:.0f} after {draws // 2} draws"}


def computer():
    names = [line for line in open("/proc/cpuinfo") if line.startswith("model name")] if os.path.exists("/proc/cpuinfo") else []
    name = names[0].split(":", 1)[1].strip() if names else platform.processor()
    return f"{name}, {os.cpu_count()} processors, {platform.system()}"


def table(title, answers, key, libraries, unit):
    """A part of the report: a line per model and a column per library that answered for any."""
    columns = [one for one in libraries if any(key in row.get(one, {}) for row in answers.values())]
    lines = [f"### {title}", "", "| model | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for model, row in answers.items():
        cells = [row.get(library, {}) for library in columns]
        lines.append(f"| {model} | " + " | ".join(f"{cell[key]:.3g}" if key in cell else "–" for cell in cells) + " |")
    missing = [
        f"* {library} on {model}: {cell['missing']}"
        for model, row in answers.items()
        for library, cell in row.items()
        if "missing" in cell and cell["missing"] != "cannot"
    ]
    return "\n".join([*lines, "", unit, *([""] if missing else []), *missing, ""])


def beside_lattice(steps):
    """What an edge costs, and of spins what it costs beside one of the lattice."""
    rows = {}
    for name, row in steps.items():
        rows[name] = dict(row)
        for one, cell in row.items():
            lattice = steps.get("lattice", {}).get(one, {})
            if name not in ("potts", "dca", "rbm") and "ns" in cell and "ns" in lattice:
                rows[name][f"{one}, × lattice"] = {"ns": cell["ns"] / lattice["ns"]}
    return rows


def report(whole):
    """All answers in words."""
    libraries = ["saltus", *PEERS]
    steps = [word for one in STEPS for word in (one, f"{one}, × lattice")]
    parts = [f"{whole['version']}; {whole['computer']}; one thread, {CHAINS} chains\n"]
    parts.append(table("A site update", whole["updates"], "ns", libraries, "Nanoseconds per site and sweep; – where a library has no such model."))
    parts.append(table("A step of samplers that look at all sites", beside_lattice(whole["steps"]), "ns", steps, "Nanoseconds per edge and step of saltus (on the RBM per weight), and times that of the lattice."))
    if whole["waits"]:
        parts.append(table("From nothing to 1,000 effective draws", whole["waits"], "seconds", libraries, "Seconds, from the start of the process."))
    return "\n".join(parts)


def into_page(path, name, text):
    """Puts a text between the marks of a page that bear a name."""
    first, last = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, rest = path.read_text().split(first)
    path.write_text(before + first + text + last + rest.split(last)[1])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("binary")
    arguments.add_argument("--out", type=Path)
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--docs", action="store_true", help="put tables and picture into docs/speed.md and README.md; with --out")
    arguments.add_argument("--no-install", action="store_true")
    arguments.add_argument("--no-waits", action="store_true", help="only what updates and steps cost")
    arguments.add_argument("--patience", type=int, default=PATIENCE, metavar="SECONDS", help="that a peer has for an answer")
    arguments.add_argument("--libraries", nargs="*", metavar="LIBRARY", help="these peers alone")
    arguments.add_argument("--only", nargs="+", metavar="MODEL", help="these models; answers join those that are there")
    asked = arguments.parse_args()
    if asked.docs and not asked.out:
        arguments.error("--docs goes with --out")
    binary = Path(asked.binary).resolve()
    python = VENV / "bin" / "python" if asked.no_install else install()

    def ask(question, library, file, row, **options):
        # It has the words of thrml and the same ways: where one has no answer, nobody waits for the other's.
        if library == "hamon" and "missing" in row.get("thrml", {}):
            return row["thrml"]
        return peer(python, question, library, file, asked.patience, chains=CHAINS, **options)

    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(
            [python, HERE / "models.py", folder, "quick" if asked.quick else "whole"],
            capture_output=True, text=True, check=True,
        )
        models = json.loads(made.stdout)
        models = {name: model for name, model in models.items() if not asked.only or name in asked.only}
        libraries = ["saltus", *(one for one in PEERS if asked.libraries is None or one in asked.libraries)]
        updates, steps, waits = {}, {}, {}
        for name, model in models.items():
            words = [word.replace("FOLDER", folder) for word in model["saltus"]]
            file, sampler = os.path.join(folder, model["file"]), model["sampler"]
            row = updates[name] = {"saltus": update_of_saltus(binary, words, sampler, asked.quick)}
            for library in libraries[1:]:
                row[library] = ask("update", library, file, row, quick=asked.quick)
            print(f"{name}: " + ", ".join(f"{k} {v['ns']:.3g} ns" for k, v in row.items() if "ns" in v), file=sys.stderr)
            steps[name] = {one: step_of_saltus(binary, words, one, model, asked.quick) for one in STEPS if model["edges"]}
            print(f"{name}: " + ", ".join(f"{k} {v['ns']:.3g} ns per edge" for k, v in steps[name].items() if "ns" in v), file=sys.stderr)
            if asked.no_waits or not model["waits"]:
                continue
            row = waits[name] = {"saltus": wait_for_saltus(python, binary, words, model["waiting"], asked.quick)}
            for library in libraries[1:]:
                row[library] = ask("wait", library, file, row, wanted=WANTED)
            print(f"{name}: " + ", ".join(f"{k} {v['seconds']:.3g} s" for k, v in row.items() if "seconds" in v), file=sys.stderr)
    version = subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()
    answers = {"updates": updates, "steps": steps, "waits": waits}
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        file = asked.out / "peers.json"
        before = json.loads(file.read_text()) if asked.only and file.exists() else {}
        answers = {part: {**before.get(part, {}), **new} for part, new in answers.items()}
        whole = {"version": version, "computer": computer(), **answers}
        file.write_text(json.dumps(whole, indent=1) + "\n")
        picture = asked.out / "peers.svg"
        subprocess.run([python, HERE / "picture.py", file, picture], check=True)
    whole = {"version": version, "computer": computer(), **answers}
    print(report(whole))
    if asked.out:
        (asked.out / "peers.md").write_text(report(whole))
    if asked.docs:
        shutil.copy(picture, ROOT / "docs" / "pictures" / "peers.svg")
        into_page(ROOT / "docs" / "speed.md", "peers", "\n" + report(whole) + "\n")
        into_page(ROOT / "README.md", "peers", README)


main()
