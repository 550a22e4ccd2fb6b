"""Scripts for processes of their own, which print the loops of the package that had to be compiled."""

from textwrap import indent

# Calls loops that call others.
JOIN_NEIGHBORS = """
import numpy as np
from graphclust.compiled.graphs import csr_checks
parent, indptr, indices = np.arange(3), np.array([0, 1, 2, 2]), np.array([1, 0])
csr_checks.join_first_neighbors(0, 3, 2, indptr, indices, parent)
csr_checks.flatten(parent)
assert parent.tolist() == [0, 0, 2]
"""
LOOPS = ["flatten", "join", "join_first_neighbors", "root"]


def record_compiles(code: str) -> str:
    """The code as a script that prints what it compiles; a lambda, a plain function to the compiler, has no file."""
    return f"""
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
{indent(code, "    ")}
loops = [record.data["dispatcher"].py_func for _, record in recorder.buffer if record.is_start]
print(*(loop.__name__ for loop in loops if loop.__module__.startswith("graphclust") and loop.__name__ != "<lambda>"))
"""
