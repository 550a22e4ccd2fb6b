"""What numba is told when it starts: this module is imported then.

*Signals.* Ctrl-C waits until numba has finished a loop, or has made Python's objects of what a loop returns. LLVM calls
back into Python while it compiles or loads machine code. A KeyboardInterrupt raised in such a callback is swallowed
there, the loop stays without code, and the process dies when it is called. To return a named tuple numba runs Python
code too, and an exception there ends the process. So meanwhile the main thread only remembers a SIGINT, and the signals
of timers and of the end; they are delivered as soon as that is over, to whatever handlers were set.

*A word* at a terminal, in a notebook and in the log, once, that loops are being compiled. No garbage is looked for
meanwhile: the compiler makes so many objects that this is a tenth of its time.

*Instructions*: what the plain functions at the end of `loops.py` are to the compiler.
"""

import _signal  # type: ignore[import-not-found]  # as signal, without names for numbers, which take longer
import gc
import logging
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba.core import event, options, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload, typeof_impl

from graphclust.compiled.runtime.loop_cache import LoopCache
from graphclust.compiled.runtime.loops import (
    Loop,
    add_compiler_time,
    ask_for,
    is_disabled,
    next_bits,
    read_only,
    where_given,
)

log = logging.getLogger("graphclust")

SENTENCE = "graphclust: compiling its loops, once: half a minute of processor time; `graphclust compile` does it ahead"
PATIENCE = 0.5  # seconds of compiling before it is worth a word: a new type of array compiles one loop
NUMBERS = [int(getattr(signal, name)) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)]
READ, KEPT, DATA = 0, 3, 1  # llvm.prefetch: for reading, to stay in all caches, not code
BYTE, NUMBER = ir.IntType(8).as_pointer(), ir.IntType(32)


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
event.register("numba:compiler_lock", _defer)  # held while a loop is compiled or loaded
event.register("numba:compile", compilation)
typeof_impl.register(Loop)(lambda called, context: types.Dispatcher(called.inner))


def compiled(function: Callable[..., Any], of_loop: dict[str, Any]) -> Any:
    """What numba makes of a function, kept on the disk; an option that this numba has not is left out."""
    known = {name: value for name, value in of_loop.items() if name != "_nrt" or hasattr(options.DefaultOptions, name)}
    dispatcher = numba.njit(nogil=True, **known)(function)
    if not is_disabled():
        dispatcher._cache = LoopCache(function)
    return dispatcher


@intrinsic
def _prefetch(typing_context, array, place):
    """Fetch array[place], of one dimension, into the caches; `place` is not checked against its length."""

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), BYTE)
        kind = ir.FunctionType(ir.VoidType(), [BYTE, NUMBER, NUMBER, NUMBER])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [BYTE], kind)
        builder.call(prefetch, [address, NUMBER(READ), NUMBER(KEPT), NUMBER(DATA)])
        return context.get_dummy_value()

    return types.void(array, place), generate


@overload(ask_for, inline="always")
def _compiled_ask_for(array, place):
    return lambda array, place: _prefetch(array, place)


@intrinsic
def _of_read_only_type(typing_context, array):
    def unchanged(context, builder, signature, arguments):
        return impl_ret_borrowed(context, builder, signature.return_type, arguments[0])

    return array.copy(readonly=True)(array), unchanged


@overload(read_only)
def _compiled_read_only(array):
    if isinstance(array, types.Array):
        return lambda array: _of_read_only_type(array)
    if isinstance(array, types.NoneType):
        return lambda array: None
    return None


@overload(where_given, inline="always")
def _compiled_where_given(given, value):
    if isinstance(given, types.NoneType):
        return lambda given, value: None
    return lambda given, value: value


@intrinsic
def _call_for_bits(typing_context, function, state):
    """Call a C function `uint32 function(void *state)`, both given as addresses."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(NUMBER, [BYTE]).as_pointer()
        function, state = builder.inttoptr(arguments[0], kind), builder.inttoptr(arguments[1], BYTE)
        return builder.call(function, [state])

    return types.uint32(types.uintp, types.uintp), generate


@overload(next_bits, inline="always")
def _compiled_next_bits(function, state):
    return lambda function, state: _call_for_bits(function, state)
