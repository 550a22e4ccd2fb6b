"""Known communities of a graph, which may overlap: as sets of nodes, and as one label a node for comparisons.

Overlapping communities as ground truth: J. Yang and J. Leskovec, "Defining and evaluating network communities based on
ground-truth", ICDM 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

__all__ = ["Communities"]


class Communities(Sequence[frozenset[int]]):
    """Sets of nodes, in the order of their file; a node may be in several or in none.

    starts : int64, shape (n_communities + 1,).
    members : int32, shape (starts[-1],), the nodes of community c are members[starts[c] : starts[c + 1]].
    names : of the communities, where the file has them.

    Only the two arrays are kept: a set is made when it is asked for.

    >>> known = Communities(np.array([0, 3, 5]), np.array([0, 1, 2, 2, 3], np.int32))
    >>> len(known), known[1], known.labels(5)
    (2, frozenset({2, 3}), array([ 0,  0,  1,  1, -1]))
    """

    def __init__(
        self, starts: npt.NDArray[np.int64], members: npt.NDArray[np.int32], names: Sequence[str] | None = None
    ):
        self.starts, self.members, self.names = starts, members, names

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, index: int) -> frozenset[int]: ...
    @overload
    def __getitem__(self, index: slice) -> list[frozenset[int]]: ...
    def __getitem__(self, index: int | slice) -> frozenset[int] | list[frozenset[int]]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"community {index} of {len(self)}")
        index %= len(self)
        return frozenset(self.members[self.starts[index] : self.starts[index + 1]].tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Communities):
            return NotImplemented
        return np.array_equal(self.starts, other.starts) and np.array_equal(self.members, other.members)

    def __repr__(self) -> str:
        return f"Communities({len(self)} of {len(self.members)} members)"

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Number of nodes of each community, shape (n_communities,)."""
        return np.diff(self.starts)

    def labels(self, n_nodes: int) -> npt.NDArray[np.int64]:
        """One label a node, shape (n_nodes,): the smallest of its communities, of equal ones the first; -1 for none.

        The smallest says the most of a node. Agreement with such labels (the adjusted Rand index, say, over the
        nodes that have one) is only indicative where communities overlap much: no partition can reach 1.
        """
        by_size = np.argsort(self.sizes, kind="stable")
        rank = np.empty(len(self), np.int64)
        rank[by_size] = np.arange(len(self))
        best = np.full(n_nodes, len(self))
        np.minimum.at(best, self.members, np.repeat(rank, self.sizes))
        return np.append(by_size, -1)[best]

    def renumbered(self, position: np.ndarray) -> Communities:
        """The same communities of a graph whose node `position[u]` was node u; -1 leaves a node out."""
        return _without_strangers(self.starts, position[self.members], self.names)


def communities_of_columns(matrix: Any) -> Communities:
    """A SciPy matrix of shape (n_nodes, n_communities), whose entries say who is where."""
    columns = matrix.tocsc()
    columns.sum_duplicates()
    columns.sort_indices()
    return Communities(columns.indptr.astype(np.int64), columns.indices.astype(np.int32))


def communities_of_ids(
    starts: np.ndarray, ids: np.ndarray, nodes: np.ndarray | None, n_nodes: int, names: Sequence[str] | None = None
) -> Communities:
    """Communities listed by the names of nodes, which are increasing whole numbers; ids of no node are left out."""
    if nodes is None:
        position = np.where((ids >= 0) & (ids < n_nodes), ids, -1)
    else:
        place = np.minimum(np.searchsorted(nodes, ids), n_nodes - 1)
        position = np.where(nodes[place] == ids, place, -1)
    return _without_strangers(starts, position, names)


def _without_strangers(starts: np.ndarray, members: np.ndarray, names: Sequence[str] | None) -> Communities:
    """The communities without the members that are -1, which are no nodes."""
    known = members >= 0
    counts = np.concatenate([[0], np.cumsum(known)])
    return Communities(counts[starts], members[known].astype(np.int32), names)
