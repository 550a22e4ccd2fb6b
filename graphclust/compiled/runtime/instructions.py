"""Plain functions that compiled code has as one instruction or call, see `intrinsics.py`."""

import ctypes
from typing import Any

import numpy as np

_AS_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)


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
