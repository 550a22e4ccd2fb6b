"""The changes of the objective of `graphclust.compiled.graphs.objective` for whole arrays of nodes or clusters."""

from functools import partial
from typing import Any

from graphclust.compiled.graphs import objective as loops


def _over_arrays(loop: Any) -> Any:
    """The formula of a compiled loop as it is written, which NumPy applies to arrays; without layers by default."""
    return partial(getattr(loop, "py_func", loop), layers=())


gain_of_union = _over_arrays(loops.gain_of_union)
loss_of_leaving = _over_arrays(loops.loss_of_leaving)
gain_of_joining = _over_arrays(loops.gain_of_joining)
