"""Ctrl-C waits until numba has finished a loop, or has made Python's objects of what a loop returns.

LLVM calls back into Python while it compiles or loads machine code. A KeyboardInterrupt raised in such a callback is
swallowed there, the loop stays without code, and the process dies when it is called. To return a named tuple numba runs
Python code too, and an exception there ends the process. So meanwhile the main thread only remembers a SIGINT; it is
delivered as soon as that is over, to whatever handler was set.
"""

import _signal  # type: ignore[import-not-found]  # as signal, without names for numbers, which take longer
import signal
import threading
from collections.abc import Callable
from typing import Any

from numba.core import event, types

SIGINT = int(signal.SIGINT)


class _Defer(event.Listener):
    depth = 0
    pending = False
    handler: Any = None

    def on_start(self, event) -> None:
        handler = _signal.getsignal(SIGINT)
        if not callable(handler) or not _in_main_thread():
            return
        if self.depth and handler == self.remember:
            self.depth += 1
        else:
            _signal.signal(SIGINT, self.remember)
            self.handler, self.depth = handler, 1

    def on_end(self, event) -> None:
        if not self.depth or not _in_main_thread() or _signal.getsignal(SIGINT) != self.remember:
            return
        self.depth -= 1
        if self.depth == 0:
            pending, self.pending = self.pending, False
            _signal.signal(SIGINT, self.handler)
            if pending:
                signal.raise_signal(signal.SIGINT)

    def remember(self, signum, frame) -> None:
        self.pending = True


def _in_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident


_defer = _Defer()


def defer_interrupts() -> None:
    """From now on SIGINT is held back while numba compiles or loads a loop in the main thread."""
    event.register("numba:compiler_lock", _defer)


def call_whole(dispatcher: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What numba's dispatcher returns, a SIGINT being held back until it is returned."""
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
