"""How far a run is: a line in a terminal, a bar in a notebook, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol


class View(Protocol):
    """Shows progress."""

    def show(self, progress: dict[str, Any]) -> None: ...

    def close(self) -> None: ...


def view(progress: bool | None) -> View | None:
    """What suits where we are; None shows only where someone watches."""
    if progress is False:
        return None
    if _in_notebook():
        return Notebook()
    if progress or sys.stderr.isatty():
        return Terminal()
    return None


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    current = shell.get_ipython()
    return current is not None and type(current).__name__ == "ZMQInteractiveShell"


def words(progress: dict[str, Any], started: float) -> str:
    """Where a run is, in a line."""
    done, total = progress["steps"], progress["total_steps"]
    rate = done / max(time.monotonic() - started, 1e-9)
    left = (total - done) / rate if rate else float("inf")
    last = f", ESS {progress['ess']:.0f}" if progress["ess"] else ""
    return f"{progress['phase']} {done}/{total} steps, {left:.0f} s left, acceptance {progress['acceptance']:.2f}{last}"


class Terminal:
    """A line that is written over."""

    def __init__(self) -> None:
        self.started = time.monotonic()

    def show(self, progress: dict[str, Any]) -> None:
        share = progress["steps"] / max(progress["total_steps"], 1)
        bar = "█" * int(20 * share)
        sys.stderr.write(f"\r\x1b[K{bar:20} {words(progress, self.started)}")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class Notebook:
    """A bar of HTML that is written over."""

    def __init__(self) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found, unused-ignore]

        self.started, self.html = time.monotonic(), HTML
        self.handle = display(HTML(""), display_id=True)

    def show(self, progress: dict[str, Any]) -> None:
        bar = f'<progress value="{progress["steps"]}" max="{progress["total_steps"]}"></progress>'
        self.handle.update(self.html(f"{bar} {words(progress, self.started)}"))

    def close(self) -> None:
        self.handle.update(self.html(""))
