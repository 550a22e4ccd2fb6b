"""One small hook for long work: it times the stages, tells a listener how far it is, and knows when time is up.

It also keeps the best that there is so far, for a caller who presses Ctrl-C, and draws a bar where somebody looks.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from graphclust.checks import as_number
from graphclust.compiled.runtime.loops import working_time
from graphclust.errors import Interrupted, ResourceLimitError, in_mebibytes, log
from graphclust.io.container_limits import container_memory, resident_bytes

LARGE, SAFE = 1 << 19, 0.9  # entries of a graph whose levels are watched; of the memory that is left
SECONDS_BETWEEN_LOOKS = 0.05  # at memory: no more than some 100 MB are written meanwhile
Listener = Callable[[str, int, int], None]


class Progress:
    """Seconds of each stage, a listener called as `listener(stage, done, total)` between bounded blocks, and a budget.

    listener : a function; True for a bar where there is a terminal; None or False for none.
    time_budget : seconds from now, > 0, or None. When they are over, work that is there to improve the result is left
        out: what is returned is the best so far, complete and valid. What has to be done takes the time it takes, and
        seconds that go to compiling loops are not counted.

    `seconds` holds stage -> seconds, `cut_short` the stage in which the budget ran out and work was left out, or "".

    Each stage is logged when it ends, at level INFO, by the logger "graphclust".

    An exception raised by the listener ends the work and reaches the caller: that is how a stop button is made. Ctrl-C
    needs nothing: no block runs longer than about a second. Where there are labels by then it becomes an `Interrupted`,
    a KeyboardInterrupt that carries them.

    Raises TypeError for a listener that cannot be called, TypeError or ParameterError for an impossible budget.

    >>> progress = Progress(lambda stage, done, total: print(stage, done, "of", total))
    >>> with progress.stage("sampling"):
    ...     progress.step(1, 2)
    sampling 1 of 2
    >>> list(progress.seconds)
    ['sampling']
    """

    def __init__(self, listener: Listener | bool | None = None, *, time_budget: float | None = None):
        if isinstance(listener, bool):
            listener = visible_bar() if listener else None
        if listener is not None and not callable(listener):
            raise TypeError(f"progress={listener!r} is a {type(listener).__name__}, expected a function, True or None")
        self.listener = listener
        self.seconds: dict[str, float] = {}
        self.cut_short = ""
        self.time_budget: float | None = None
        self._deadline = float("inf")
        self._reads: list[tuple[str, int]] = []  # appended to, by several threads: sums would get lost between them
        self._watched: object = None
        self._most_resident: float = float("inf")  # bytes
        self._next_look = 0.0
        self._stage = ""
        self._best: Callable[[], Any] | None = None
        self._made_whole: list[Callable[[Any], Any] | None] = []  # outermost first
        self._is_outermost = True
        if time_budget is not None:
            self.limit(time_budget)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what runs inside under this name; a name used twice adds up."""
        outer, self._stage = self._stage, name
        start = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - start
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
            self._stage = outer
            self._clear()
            log.info("%s: %.3f s", name, seconds)

    def watch(self, graph: object) -> None:
        """From now on `reads` counts the entries that are read of this graph, and of no other.

        Where it is large and a control group has a limit, each step looks whether the process is about to be killed.
        """
        self._watched = graph
        left = container_memory() if getattr(graph, "n_entries", 0) > LARGE else None
        self._most_resident = float("inf") if left is None else resident_bytes() + SAFE * left

    def reads(self, graph: object, n_entries: int) -> None:
        """Say that so many entries of the rows of a graph are read in the running stage."""
        if graph is self._watched:
            self._reads.append((self._stage, int(n_entries)))

    @property
    def entries_read(self) -> dict[str, int]:
        """How many entries were read of the watched graph, stage by stage."""
        sums: dict[str, int] = {}
        for stage, n_entries in self._reads:
            sums[stage] = sums.get(stage, 0) + n_entries
        return sums

    def step(self, done: int, total: int) -> None:
        """Say that `done` of `total` units of the running stage are finished.

        Raises ResourceLimitError where nearly all memory that there was when the work began is taken.
        """
        is_watched = self._most_resident < float("inf") and time.monotonic() >= self._next_look
        if is_watched:  # each look takes as long as thousands of entries
            self._next_look = time.monotonic() + SECONDS_BETWEEN_LOOKS
        if is_watched and self._most_resident < resident_bytes():
            raise ResourceLimitError(
                f"nearly all memory of the container is taken in the stage {self._stage!r}, by this process "
                f"{in_mebibytes(resident_bytes())}; give it more, or cluster from a store, by open_store"
            )
        if self.listener is not None:
            self.listener(self._stage, done, total)

    def limit(self, time_budget: float) -> None:
        """From now on there are so many seconds left, or fewer where there were."""
        self.time_budget = as_number(time_budget, "time_budget", above=0.0)
        self._deadline = min(self._deadline, working_time() + self.time_budget)

    def aside(self) -> Progress:
        """A Progress for a part of the work, with its own seconds and the same listener and deadline."""
        other = Progress(self.listener)
        other.time_budget, other._deadline = self.time_budget, self._deadline
        other._most_resident = self._most_resident
        return other

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of the result should know of the budget: one remark, or none where nothing was left out."""
        if not self.cut_short:
            return ()
        stage = f"the time budget of {self.time_budget:g} s ran out in the stage {self.cut_short!r}"
        return (f"{stage}: this is the best so far, more time may find a better one",)

    def out_of_time(self) -> bool:
        """Whether the budget is used up. Ask only where work is then left out, since the remark will say so."""
        late = working_time() >= self._deadline
        if late and not self.cut_short:
            self.cut_short = self._stage or "improving"
            log.info("the time budget of %g s ran out in stage: %s", self.time_budget, self.cut_short)
        return late

    def offer(self, make: Callable[[], Any]) -> None:
        """Register how to make the best result so far, in case the work is interrupted."""
        if self._is_outermost:
            return  # nobody would ask for it
        for made_whole in reversed(self._made_whole):
            if made_whole is None:
                return
            make = _chain(made_whole, make)
        self._best = make

    @contextmanager
    def within(self, made_whole: Callable[[Any], Any] | None) -> Iterator[None]:
        """Results offered inside are of a part; `made_whole` turns them into results of the whole, None: impossible."""
        self._made_whole.append(made_whole)
        try:
            yield
        finally:
            self._made_whole.pop()

    @contextmanager
    def interruptible(self, finished: Callable[[Any], Any] | None = None) -> Iterator[None]:
        """Ctrl-C inside carries the best result so far, if there is one.

        finished : turns the offered result into what the caller returns; None: it is that already.
        """
        with self.within(finished or (lambda result: result)):
            if self._is_outermost:
                self._is_outermost, self._best = False, None
                try:
                    yield
                except KeyboardInterrupt as stop:
                    if self._best is None or isinstance(stop, Interrupted):
                        raise
                    raise Interrupted(self._best()) from stop
                finally:
                    self._is_outermost, self._best = True, None
                    self._clear()
            else:  # the outermost call handles Ctrl-C
                yield

    def _clear(self) -> None:
        """Take a bar off the terminal."""
        if isinstance(self.listener, ProgressLine | TqdmBar):
            self.listener.clear()


ProgressLike = Listener | Progress | bool | None  # what `as_progress` takes


def as_progress(progress: ProgressLike, time_budget: float | None = None) -> Progress:
    """A Progress from None or False, True, a listener function, or a Progress, which is used as it is."""
    progress = progress if isinstance(progress, Progress) else Progress(progress)
    if time_budget is not None:
        progress.limit(time_budget)
    return progress


def _chain(after: Callable[[Any], Any], make: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: after(make())


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
