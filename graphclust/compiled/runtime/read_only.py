"""The arrays of a graph made in a compiled loop, as loops take them."""

from typing import Any


def read_only(array: Any) -> Any:
    """The same array as one that is not written, as those of every Graph are.

    To compiled code that is another type, and each loop would be compiled for both.
    """
    return array
