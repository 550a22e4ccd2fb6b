"""A word at a terminal, in a notebook and in the log, once, that loops are being compiled.

No garbage is looked for meanwhile: the compiler makes so many objects that this is a tenth of its time.
"""

import gc
import logging
import sys
import time
from typing import Any

from numba.core import event

from graphclust.compiled.runtime.loops import add_compiler_time

log = logging.getLogger("graphclust")

SENTENCE = "graphclust: compiling its loops, once: half a minute of processor time; `graphclust compile` does it ahead"
PATIENCE = 0.5  # seconds of compiling before it is worth a word: a new type of array compiles one loop


class Announcement(event.Listener):
    """Counts the loops of this package that are compiled in this process, and the seconds it takes."""

    collects = False  # whether the process looks for garbage by itself

    def __init__(self) -> None:
        self.n_loops, self.seconds, self.started, self.depth = 0, 0.0, 0.0, 0
        self.is_ours = self.said = False

    def on_start(self, event: Any) -> None:
        """Once compiling takes long, say so."""
        self.depth += 1  # a loop compiles those that it calls
        if self.depth == 1:
            self.started = time.perf_counter()
            self.collects = gc.isenabled()
            gc.disable()
            self.is_ours = event.data["dispatcher"].py_func.__module__.startswith("graphclust.")
        if self.is_ours and self.seconds > PATIENCE and not self.said:
            self.said = True
            log.info(SENTENCE)
            if sys.stderr is not None and (sys.stderr.isatty() or "ipykernel" in sys.modules):
                print(f"\r{SENTENCE}", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """Count the loop that is compiled now, with those that it called."""
        self.depth -= 1
        if self.depth == 0 and self.collects:
            gc.enable()
        if self.depth == 0 and self.is_ours:
            self.n_loops += 1
            seconds = time.perf_counter() - self.started
            self.seconds += seconds
            add_compiler_time(seconds)


compilation = Announcement()


def announce_compilation() -> None:
    """From now on the first compilation of some length is told."""
    event.register("numba:compile", compilation)
