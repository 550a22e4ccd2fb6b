"""limit_threads: the number of threads on which the functions of this package run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from graphclust.checks import as_whole_number
from graphclust.compiled.runtime.blocks import most_threads, set_threads

__all__ = ["limit_threads"]


def limit_threads(n: int) -> AbstractContextManager[None]:
    """Work on n threads inside a `with` block, in the thread that enters it, and on as many as before afterwards.

    n : 1 to the number of processors, or what NUMBA_NUM_THREADS says. Labels are the same for any n.

    Without it the environment variable GRAPHCLUST_NUM_THREADS counts, else OMP_NUM_THREADS or the quota of a container,
    where one is lower than the number of processors. Inside workers of joblib or Dask, one thread each is enough.

    Raises ParameterError where n is out of range, TypeError where it is no whole number.

    >>> import graphclust, networkx as nx
    >>> with limit_threads(1):
    ...     graphclust.communities(nx.barbell_graph(5, 0), rng=0).k
    2
    """
    return _limit(as_whole_number(n, "n", at_least=1, at_most=most_threads(), why=", the processors there are"))


@contextmanager
def _limit(n: int) -> Iterator[None]:
    before = set_threads(n)
    try:
        yield
    finally:
        set_threads(before)
