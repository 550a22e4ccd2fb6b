"""What a few plain functions are to the compiler. Imported when numba starts."""

from llvmlite import ir
from numba import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload

from graphclust.compiled.runtime.instructions import ask_for, next_bits, read_only, where_given

READ, KEPT, DATA = 0, 3, 1  # llvm.prefetch: for reading, to stay in all caches, not code
BYTE, NUMBER = ir.IntType(8).as_pointer(), ir.IntType(32)


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
