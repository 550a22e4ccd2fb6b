"""One small hook for long work: it times the stages, tells a listener how far it is, and lets the listener stop it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str, int, int], None]


class Progress:
    """Seconds of each stage, and a listener called as `listener(stage, done, total)` between bounded blocks of work.

    An exception raised by the listener ends the work and reaches the caller: that is how a budget or a stop button
    is made. Ctrl-C needs nothing: no block runs longer than about a second.

    Raises TypeError for a listener that cannot be called.

    >>> progress = Progress(lambda stage, done, total: print(stage, done, "of", total))
    >>> with progress.stage("sampling"):
    ...     progress.step(1, 2)
    sampling 1 of 2
    >>> list(progress.seconds)
    ['sampling']
    """

    def __init__(self, listener: Listener | None = None):
        if listener is not None and not callable(listener):
            raise TypeError(f"progress={listener!r} is a {type(listener).__name__}, expected a function or None")
        self.listener = listener
        self.seconds: dict[str, float] = {}
        self._stage = ""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what runs inside under this name; a name used twice adds up."""
        outer, self._stage = self._stage, name
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
            self._stage = outer

    def step(self, done: int, total: int) -> None:
        """Say that `done` of `total` units of the running stage are finished."""
        if self.listener is not None:
            self.listener(self._stage, done, total)


ProgressLike = Listener | Progress | None  # what `as_progress` takes


def as_progress(progress: ProgressLike) -> Progress:
    """A Progress from None, a listener function, or a Progress, which is used as it is."""
    return progress if isinstance(progress, Progress) else Progress(progress)
