"""Opens a store with xarray and with ArviZ, and compares it with what saltus exported."""

import csv
import json
import sys
import warnings

import numpy as np

with warnings.catch_warnings():
    # ArviZ announces its next version on import.
    warnings.simplefilter("ignore")
    import arviz
    import xarray

store, csv_file, npz_file, states = sys.argv[1:]

# Nothing about opening a store deserves a warning.
warnings.simplefilter("error")
tree = xarray.open_datatree(store, engine="zarr")
for name, variable in [("posterior", "hamming"), ("sample_stats", "lp")]:
    group = tree[name]
    chains, draws = group.sizes["chain"], group.sizes["draw"]
    assert group[variable].dims == ("chain", "draw"), group[variable].dims
    assert group["chain"].values.tolist() == list(range(chains))
    assert group["draw"].values.tolist() == list(range(draws))
    assert group[variable].dtype == np.float64
run = json.loads(tree.attrs["run"])
assert tree.attrs["saltus_version"] and run["settings"]["seed"] == tree.attrs["seed"]
# What netCDF has room for: numbers, text, lists of these.
assert all(isinstance(value, (str, int, float, list)) for value in tree.attrs.values()), tree.attrs
assert np.array_equal(tree["sample_stats"]["energy"], -tree["sample_stats"]["lp"])
assert set(tree["warmup"].data_vars) == {"steps", "scale", "acceptance"}
assert tree["warmup"]["steps"].sum() == run["settings"]["warmup"]

with open(csv_file, newline="") as file:
    rows = list(csv.DictReader(file))
assert len(rows) == chains * draws
assert list(rows[0])[:3] == ["chain", "draw", "log_prob"]
assert [int(row["draw"]) for row in rows] == list(range(draws)) * chains
arrays = np.load(npz_file)
assert sorted(arrays) == sorted(set(rows[0]) - {"chain", "draw"})
for column in arrays:
    path = {"log_prob": "lp"}.get(column, column)
    group = "posterior" if path in tree["posterior"].data_vars else "sample_stats"
    stored = tree[group][path].values
    exported = np.array([float(row[column]) for row in rows]).reshape(chains, draws)
    assert np.array_equal(stored, exported), column
    assert np.array_equal(stored, arrays[column]), column
    assert np.isfinite(stored).all(), column

sites = run["sites"]
if states == "bits":
    assert "state_bits" not in tree["posterior"]
    packed = tree["packed"]["state_bits"]
    assert packed.dims == ("chain", "draw", "byte")
    state = np.unpackbits(packed.values, axis=-1)[..., :sites]
elif states == "states":
    drawn = tree["posterior"]["state"]
    assert drawn.dims == ("chain", "draw", "site")
    assert drawn["site"].values.tolist() == list(range(sites))
    if len(run.get("shape", [])) == 2:
        rows, columns = run["shape"]
        assert drawn["row"].dims == ("site",) and "row" in drawn.coords
        assert (drawn["row"] * columns + drawn["column"] == drawn["site"]).all()
    state = tree["posterior"]["state"].values
else:
    state = None
if state is not None:
    assert state.shape == (chains, draws, sites)
    assert state.max() < run["values"]
    # A draw after which no site changed is the draw before it.
    same = (state[:, 1:] == state[:, :-1]).all(-1)
    assert same[tree["sample_stats"]["sites_changed"].values[:, 1:] == 0].all()

data = arviz.InferenceData.from_datatree(tree)
ess = arviz.ess(data, var_names=["hamming"])["hamming"].item()
assert 1 < ess <= 2 * chains * draws, ess
assert arviz.summary(data, var_names=["hamming"]).loc["hamming", "r_hat"] < 1.5
print(f"{chains} chains of {draws} draws, worth {ess:.0f}")
