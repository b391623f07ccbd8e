"""Draws the answers of peers.py: `python picture.py peers.json peers.svg`."""

import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

whole = json.load(open(sys.argv[1]))
parts = [("updates", "ns", "ns per site update"), ("waits", "seconds", "seconds to 1,000 effective draws")]
parts = [part for part in parts if whole[part[0]]]
# A library has one colour in both.
colours = {}
for part, _, _ in parts:
    for row in whole[part].values():
        for name in row:
            colours.setdefault(name, f"C{len(colours)}")
figure, panels = plt.subplots(1, len(parts), figsize=(5.5 * len(parts), 4.2), squeeze=False)
panels = panels[0]
for panel, (part, key, words) in zip(panels, parts):
    models = list(whole[part])
    libraries = [name for name in colours if any(key in row.get(name, {}) for row in whole[part].values())]
    width = 0.8 / max(len(libraries), 1)
    for number, library in enumerate(libraries):
        bars = [(at, row[library][key]) for at, row in enumerate(whole[part].values()) if key in row.get(library, {})]
        places = [at + (number - (len(libraries) - 1) / 2) * width for at, _ in bars]
        panel.bar(places, [height for _, height in bars], width, label=library, color=colours[library])
    panel.set_yscale("log")
    panel.set_xticks(range(len(models)), models, rotation=30, ha="right")
    panel.set_title(words, fontsize=10)
    panel.grid(axis="y", alpha=0.3)
    panel.spines[["top", "right"]].set_visible(False)
panels[0].legend(fontsize=8)
figure.tight_layout()
figure.savefig(sys.argv[2])
