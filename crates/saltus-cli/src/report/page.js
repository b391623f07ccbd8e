"use strict";
// Light or dark: as the system says, until the button is used.
const root = document.documentElement;
const theme = document.getElementById("theme");
const system = matchMedia("(prefers-color-scheme: dark)");
function show(dark) {
  root.dataset.theme = dark ? "dark" : "light";
  theme.setAttribute("aria-pressed", String(dark));
  theme.textContent = dark ? "Light" : "Dark";
}
let chosen = false;
show(system.matches);
system.addEventListener("change", (event) => { if (!chosen) show(event.matches); });
theme.addEventListener("click", () => { chosen = true; show(root.dataset.theme !== "dark"); });

// Tabs: one panel at a time, arrow keys move between them.
const tabs = [...document.querySelectorAll('[role="tab"]')];
function select(tab) {
  for (const other of tabs) {
    const selected = other === tab;
    other.setAttribute("aria-selected", String(selected));
    other.tabIndex = selected ? 0 : -1;
    document.getElementById(other.getAttribute("aria-controls")).hidden = !selected;
  }
}
tabs.forEach((tab, number) => {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", (event) => {
    const next = { ArrowRight: number + 1, ArrowLeft: number - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const target = tabs[(next + tabs.length) % tabs.length];
    select(target);
    target.focus();
  });
});
if (tabs.length) select(tabs[0]);
