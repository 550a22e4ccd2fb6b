"""The arrays of a graph made in a compiled loop, as loops take them."""

from typing import Any

from numba import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload


def read_only(array: Any) -> Any:
    """The same array as one that is not written, as those of every Graph are.

    To compiled code that is another type, and each loop would be compiled for both.
    """
    return array


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
