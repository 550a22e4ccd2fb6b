"""A bar on the terminal that shows how far long work is; nothing where stderr is a file or a pipe."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

PATIENCE, INTERVAL = 1.0, 0.1  # seconds until the first bar, and between two


class ProgressLine:
    """A line on stderr for work of more than a second, rewritten as it goes on; in a terminal or a notebook."""

    def __init__(self, stream: Any = None, clock: Any = time.monotonic, in_notebook: bool = False):
        self.stream = sys.stderr if stream is None else stream
        self.clock = clock
        self.on_terminal = in_notebook or is_terminal(self.stream)
        self.due = clock() + PATIENCE
        self.shown = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Draw the bar again, some times a second at most."""
        now = self.clock()
        if now < self.due or not self.on_terminal:
            return
        self.due = now + INTERVAL
        if stage == "downloading":
            stage += f" {total / 2**20:,.1f} MiB"
        bar = "#" * int(24 * done / max(total, 1))
        text = f"{stage:24s}{done / max(total, 1):4.0%}  [{bar:24s}]"
        self.stream.write(f"\r{text:{self.shown}s}")
        self.shown = len(text)
        self.stream.flush()

    def clear(self) -> None:
        """Wipe the line, so that what follows starts on a clean one."""
        if self.shown:
            self.stream.write("\r" + " " * self.shown + "\r")
            self.stream.flush()
            self.shown = 0


class TqdmBar:
    """A bar of tqdm, of the class `make`, for each stage, in a terminal or a notebook; each leaves nothing behind."""

    def __init__(self, make: Any):
        self.make = make
        self.bar: Any = None
        self.stage = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self.bar is None or stage != self.stage:
            self.clear()
            self.bar, self.stage = self.make(total=total, desc=stage, leave=False, delay=PATIENCE, miniters=1), stage
        self.bar.total = total
        self.bar.n = done
        self.bar.update(0)

    def clear(self) -> None:
        """Close the bar, which wipes it."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None


def is_terminal(stream: Any) -> bool:
    """Whether somebody looks on: a program without a console has no stream at all."""
    return stream is not None and stream.isatty()


def visible_bar() -> ProgressLine | TqdmBar | None:
    """What shows progress here: tqdm where it is installed, else a plain line; None where there is no one to look."""
    in_notebook = "ipykernel" in sys.modules
    if not (is_terminal(sys.stderr) or in_notebook):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tqdm's, that without ipywidgets its bars are of text
            from tqdm.auto import tqdm
    except ImportError:
        return ProgressLine(in_notebook=in_notebook)
    return TqdmBar(tqdm)
