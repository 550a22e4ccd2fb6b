"""How loops, and the steps inside them, are compiled that get all their arrays from their caller.

numba counts references to every array that a compiled function is given, by atomic instructions, and in functions that
call others in a loop these were half to three quarters of the time of merging. The caller holds the arrays until the
loop returns, so that nothing is lost without the counts; a loop that makes arrays itself needs them. The option has an
underscore to its name; a numba without it compiles the same loops with counts.

A step that is called for every node is compiled into the loop that calls it: each array is passed as seven numbers, and
for the arrays of a graph and a partition that took as long as some twenty entries of a row.
"""

from typing import Any

UNCOUNTED: dict[str, Any] = {"_nrt": False}
INLINED: dict[str, Any] = {"forceinline": True, **UNCOUNTED}
