"""Ctrl-C waits until numba has finished a loop, or has made Python's objects of what a loop returns.

LLVM calls back into Python while it compiles or loads machine code. A KeyboardInterrupt raised in such a callback is
swallowed there, the loop stays without code, and the process dies when it is called. To return a named tuple numba runs
Python code too, and an exception there ends the process. So meanwhile the main thread only remembers a SIGINT, and the
signals of timers and of the end; they are delivered as soon as that is over, to whatever handlers were set.
"""

import _signal  # type: ignore[import-not-found]  # as signal, without names for numbers, which take longer
import signal
import threading
from collections.abc import Callable
from typing import Any

from numba.core import event, types

NUMBERS = [int(getattr(signal, name)) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)]


class _Defer(event.Listener):
    """Remembers signals from a start to its end, which may lie within others."""

    def __init__(self) -> None:
        self.depth = 0
        self.handlers: dict[int, Any] = {}  # that were set before
        self.pending: list[int] = []

    def on_start(self, event) -> None:
        """Hold the signals back, unless they are held already; nothing is held where that is interrupted."""
        if not _in_main_thread():
            return
        try:
            for number in NUMBERS:
                handler = _signal.getsignal(number)
                if callable(handler) and handler != self.remember:
                    self.handlers[number] = handler
                    _signal.signal(number, self.remember)
            self.depth += 1
        except BaseException:  # of a signal that is not held yet
            if not self.depth:
                self._let_go()
            raise

    def on_end(self, event) -> None:
        if not self.depth or not _in_main_thread():
            return
        self.depth -= 1
        if not self.depth:
            self._let_go()

    def _let_go(self) -> None:
        """Set the handlers as they were, whichever of them strikes meanwhile, and deliver what came."""
        stopped: BaseException | None = None
        while True:
            try:
                for number, handler in list(self.handlers.items()):
                    if _signal.getsignal(number) == self.remember:
                        _signal.signal(number, handler)
                    self.handlers.pop(number, None)
                break
            except BaseException as why:
                stopped = why
        pending, self.pending = self.pending, []
        try:
            if stopped is not None:
                raise stopped
        finally:
            _deliver(pending)

    def remember(self, signum, frame) -> None:
        self.pending.append(signum)


def _deliver(numbers: list[int]) -> None:
    """Raise each signal, though the handler of one before it raises."""
    if numbers:
        try:
            signal.raise_signal(numbers[0])
        finally:
            _deliver(numbers[1:])


def _in_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


_defer = _Defer()


def defer_interrupts() -> None:
    """From now on signals are held back while numba compiles or loads a loop in the main thread."""
    event.register("numba:compiler_lock", _defer)


def call_whole(dispatcher: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What numba's dispatcher returns, signals being held back until it is returned."""
    _defer.on_start(None)
    try:
        return dispatcher(*arguments)
    finally:
        _defer.on_end(None)


def returns_named_tuples(dispatcher: Any) -> bool:
    """Whether what was compiled for some call returns a named tuple, or a tuple that holds one.

    NUMBA_DISABLE_JIT leaves plain functions, for which nothing was compiled.
    """
    return any(_has_names(signature.return_type) for signature in getattr(dispatcher, "nopython_signatures", ()))


def _has_names(returned: Any) -> bool:
    if isinstance(returned, types.BaseNamedTuple):
        return True
    return isinstance(returned, types.BaseTuple) and any(_has_names(each) for each in returned)
