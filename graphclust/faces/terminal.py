"""What the commands share with each other: how they print, and the line that shows how far they are."""

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphclust.progress import Progress


class ProgressLine:
    """A line on stderr for work of more than a second, rewritten as it goes on; only where that is a terminal."""

    def __init__(self, stream: Any = None, clock: Any = time.monotonic):
        self.stream = sys.stderr if stream is None else stream
        self.clock = clock
        self.on_terminal = self.stream is not None and self.stream.isatty()
        self.due = clock() + 1.0
        self.shown = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = self.clock()
        if now < self.due or not self.on_terminal:
            return
        self.due = now + 0.1
        bar = "#" * int(24 * done / max(total, 1))
        if stage == "downloading":
            stage += f" {total / 2**20:,.1f} MiB"
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


def clear_line(progress: "Progress") -> None:
    if isinstance(progress.listener, ProgressLine):
        progress.listener.clear()


def show(text: str) -> None:
    """Print at once, so that a reader who has gone is noticed here, and every time."""
    if sys.stdout is None:
        raise BrokenPipeError
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise OSError(problem.errno, f"cannot write to standard output: {problem.strerror}") from problem
