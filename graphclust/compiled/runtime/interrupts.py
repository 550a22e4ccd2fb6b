"""Ctrl-C waits until numba has finished a loop.

LLVM calls back into Python while it compiles or loads machine code. A KeyboardInterrupt raised in such a callback is
swallowed there, the loop stays without code, and the process dies when it is called. So while numba holds its compiler
lock the main thread only remembers a SIGINT; it is delivered as soon as the lock is free, to whatever handler was set.
"""

import signal
import threading

from numba.core import event


class _Defer(event.Listener):
    depth = 0
    pending = False
    handler = None

    def on_start(self, event) -> None:
        handler = signal.getsignal(signal.SIGINT)
        if not _in_main_thread() or not callable(handler):
            return
        if handler == self.remember:
            self.depth += 1
        else:
            signal.signal(signal.SIGINT, self.remember)
            self.handler, self.depth = handler, 1

    def on_end(self, event) -> None:
        if not _in_main_thread() or signal.getsignal(signal.SIGINT) != self.remember:
            return
        self.depth -= 1
        if self.depth == 0:
            pending, self.pending = self.pending, False
            signal.signal(signal.SIGINT, self.handler)
            if pending:
                signal.raise_signal(signal.SIGINT)

    def remember(self, signum, frame) -> None:
        self.pending = True


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def defer_interrupts() -> None:
    """From now on SIGINT is held back while numba compiles or loads a loop in the main thread."""
    event.register("numba:compiler_lock", _Defer())
