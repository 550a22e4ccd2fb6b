"""Loops: plain Python functions that are compiled where that pays.

Starting numba and loading the loops of a first call takes half a second, compiling them for the first time some twenty,
and a graph of a few hundred edges is clustered by the plain functions in less. So until numba has started, a loop that
is given few numbers runs as it is written. Once plain loops have taken as long as the compiler would, or a loop is
given many numbers, numba is started and every later call is compiled. Results are the same
either way, but for the last bits of sums whose order a loop leaves to the compiler (`fastmath`).

Loops may call each other and may be given to `run_in_blocks`. NUMBA_DISABLE_JIT=1 in the environment keeps all of them
plain, GRAPHCLUST_COMPILE=always compiles from the first call on.
"""

import contextlib
import ctypes
import functools
import os
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

# numba counts references to every array that a compiled function is given, by atomic instructions, which were half to
# three quarters of the time of merging. The caller holds the arrays until the loop returns; only a loop that makes
# arrays itself needs the counts. The option's name has an underscore; a numba without it compiles loops with counts.
UNCOUNTED: dict[str, Any] = {"_nrt": False}
# A step that is called for every node is compiled into its caller: each array is passed as seven numbers, which for
# those of a graph and a partition took as long as some twenty entries of a row.
INLINED: dict[str, Any] = {"forceinline": True, **UNCOUNTED}


class Limits(NamedTuple):
    """What plain loops may do before numba starts: numbers given to one loop, and seconds of processor time in all."""

    numbers: int
    seconds: float


# Where compiled loops are at hand numba starts and loads those of a clustering in .5 s of processor time; where not,
# they are compiled in 20 s. Plain loops cluster the karate club in .15 s and les miserables, 254 edges, in .4 s. So no
# more is lost by trying than half of what compiling takes, or as much as loading does.
LOADED = Limits(1_200, 0.5)
COMPILED = Limits(60_000, 10.0)

VARIABLE = "GRAPHCLUST_COMPILE"

_AS_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)
_starting = threading.RLock()
_thread = threading.local()  # .is_plain: whether loops that this thread calls are plain


class _Clock:
    """Seconds that plain loops and the compiler have taken in this process, and our module that starts numba, once."""

    plain = 0.0
    compiler = 0.0
    module: Any = None


def working_time() -> float:
    """Seconds from some moment on, without those that went to the compiler: the clock of time budgets."""
    return time.perf_counter() - _Clock.compiler


def add_compiler_time(seconds: float) -> None:
    _Clock.compiler += seconds


class Loop:
    """A function of arrays and numbers, plain or compiled."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        functools.update_wrapper(self, function)
        self.py_func = function
        self._options = options
        self._may_be_interrupted: bool | None = None  # known once it was called: by what it returns

    def __call__(self, *arguments: Any) -> Any:
        """The result of the function: compiled, unless it is called by a plain loop or may stay plain itself.

        Where a named tuple is returned Ctrl-C waits for it.
        """
        if getattr(_thread, "is_plain", False):
            return self.py_func(*arguments)
        if self._may_be_interrupted:
            return self.dispatcher(*arguments)
        is_unknown = (_Clock.module is None or is_disabled()) and "dispatcher" not in vars(self)
        if is_unknown and may_stay_plain(self, arguments):
            with plain():
                return self.py_func(*arguments)
        dispatcher = self.dispatcher
        result = _Clock.module.call_whole(dispatcher, arguments)
        if self._may_be_interrupted is None:
            self._may_be_interrupted = not _Clock.module.returns_named_tuples(dispatcher)
        return result

    @functools.cached_property
    def dispatcher(self) -> Any:
        """What numba makes of the function to be called from Python; starts numba."""
        return start_compiler().compiled(self.py_func, self._options)

    @functools.cached_property
    def inner(self) -> Any:
        """What numba makes of the function to be called by other loops.

        To take arrays apart for a call from Python is half of what most loops take to compile, and none that only
        loops call needs it. Its file in the cache bears another name.
        """
        of = self.py_func
        inner = types.FunctionType(of.__code__, of.__globals__, of.__name__, of.__defaults__, of.__closure__)
        inner.__module__, inner.__qualname__ = of.__module__, f"{of.__qualname__}.inner"
        return start_compiler().compiled(inner, self._options | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True})

    def __reduce__(self) -> str:
        return self.__name__  # pickle finds it in its module, as it does functions


def loop(**options: Any) -> Callable[[Callable[..., Any]], Loop]:
    """Decorate a function as a loop; options are those of `numba.njit` beside `cache` and `nogil`."""
    return lambda function: Loop(function, options)


@contextlib.contextmanager
def plain() -> Iterator[None]:
    """Inside, every loop that this thread calls is plain Python; arithmetic warns no more than when it is compiled."""
    start = time.thread_time()
    _thread.is_plain = True
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _thread.is_plain = False
        _Clock.plain += time.thread_time() - start


def may_stay_plain(loop: Loop, arguments: tuple[Any, ...]) -> bool:
    """Whether running the loop as plain Python is likely to take less than starting numba for it."""
    if is_disabled():
        return True
    if os.environ.get(VARIABLE) == "always":
        return False
    from graphclust.compiled.runtime.loop_cache import are_at_hand

    limits = LOADED if are_at_hand(loop.py_func.__code__.co_filename) else COMPILED
    return _Clock.plain < limits.seconds and count_numbers(arguments) <= limits.numbers


def is_disabled() -> bool:
    """Whether the environment asks numba to compile nothing."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def count_numbers(values: tuple[Any, ...]) -> int:
    """Numbers in all arrays of a tuple and of the tuples in it."""
    total = 0
    for value in values:
        if isinstance(value, np.ndarray):
            total += value.size
        elif isinstance(value, tuple):
            total += count_numbers(value)
    return total


def start_compiler() -> Any:
    """Start numba once, with Ctrl-C held back while it compiles; returns our module that does."""
    with _starting:  # two threads of one call may both come here first
        if _Clock.module is None:
            start = time.perf_counter()
            from graphclust.compiled.runtime import compiler

            _Clock.module = compiler
            add_compiler_time(time.perf_counter() - start)
    return _Clock.module


def is_started() -> bool:
    return _Clock.module is not None


# Plain functions that compiled code has as one instruction or call, see `compiler.py`.


def ask_for(array: Any, place: Any) -> None:
    """Fetch array[place], of one dimension, into the caches: compiled one instruction, and plain Python nothing."""


def next_bits(function: int, state: int) -> np.uint32:
    """The next 32 bits of a generator."""
    return np.uint32(_AS_FUNCTION(int(function))(int(state)))


def read_only(array: Any) -> Any:
    """The same array as one that is not written, as those of every Graph are.

    To compiled code that is another type, and each loop would be compiled for both.
    """
    return array


def where_given(given: Any, value: Any) -> Any:
    """The value, or None where None is given.

    To compiled code each is a type of its own; a loop that returns either would return what may be None, and whatever
    is given that would be compiled for both.
    """
    return None if given is None else value
