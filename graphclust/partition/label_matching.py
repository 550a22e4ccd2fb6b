"""Labels that keep their numbers: clusters matched with those from before, and what became of each."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.checks import as_choice
from graphclust.errors import GraphValidationError
from graphclust.objective.labels import aligned, numbered

__all__ = ["ClusterChange", "remap_labels"]

METHODS = ("auto", "hungarian", "greedy")
MOST_PAIRS = 1_000_000  # of clusters that are matched for the largest overlap; of more, the largest pairs come first
Labels = npt.NDArray[np.int64]


class ClusterChange(NamedTuple):
    """What became of a cluster.

    kind : "kept", "grown" or "shrunk" (one cluster before and after, of as many, more or less nodes), "split" (one
        before, several after), "merged" (several before, one after), "born" (none before) or "died" (none after).
    before, after : the ids; the one that goes on is first.
    size_before, size_after : nodes of all of these.
    """

    kind: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    size_before: int
    size_after: int


def remap_labels(old: Any, new: Any, *, method: str = "auto") -> Any:
    """New labels with the numbers of the old ones: each new cluster gets that of the old one that it has most nodes of.

    old, new : labels of the same nodes, in any form that `adjusted_rand_index` takes; or mappings from nodes to whole
        numbers, of which some nodes may be new or gone.
    method : "hungarian" matches clusters so that the most nodes keep their number, "greedy" takes the largest overlap
        first; "auto" (default) is the first for up to a million pairs of clusters.

    Returns the new labels, as an int64 array, or of mappings as a dict. No two clusters get one number; one without a
    match gets a number above all old ones, larger clusters first. -1, for none, stays.

    Raises GraphValidationError for labels of different nodes, ParameterError for another method.

    >>> remap_labels([0, 0, 1, 1, 1], [2, 2, 0, 0, 1])
    array([0, 0, 1, 1, 2])
    >>> remap_labels({"a": 7, "b": 7, "c": 3}, {"b": 0, "c": 1, "d": 2})
    {'b': 7, 'c': 3, 'd': 8}
    """
    method = as_choice(method, "method", METHODS)
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return _remapped_by_name(old, new, method)
    before, after = aligned(old, new)
    return renumbered(before, after, method)


def _remapped_by_name(old: Mapping[Hashable, Any], new: Mapping[Hashable, Any], method: str) -> dict[Hashable, int]:
    before = np.array([old.get(node, -1) for node in new])
    after = np.array(list(new.values()))
    for name, labels in (("old", before), ("new", after)):
        if labels.dtype.kind not in "iu":
            raise GraphValidationError(f"{name} holds labels of dtype {labels.dtype}, expected whole numbers")
    most = max((int(label) for label in old.values()), default=-1)
    found = renumbered(before, numbered(after, len(after), "new"), method, most + 1)
    return dict(zip(new, found.tolist(), strict=True))


def renumbered(before: Labels, after: Labels, method: str = "auto", first_new: int | None = None) -> Labels:
    """Labels `after` with the numbers of `before`, of the same nodes; -1 for none. See `remap_labels`.

    first_new : the least number for a cluster without a match; by default above all those before.
    """
    if first_new is None:
        first_new = int(before.max(initial=-1)) + 1
    old_ids, old = np.unique(before[before >= 0], return_inverse=True)
    number = np.full(int(after.max(initial=-1)) + 1, -1, np.int64)
    both = (before >= 0) & (after >= 0)
    overlap = sparse.coo_array(
        (np.ones(int(both.sum())), (after[both], old[both[before >= 0]])), shape=(len(number), len(old_ids))
    ).tocsr()
    for cluster, match in zip(*_matched(overlap, method), strict=True):
        number[cluster] = old_ids[match]
    sizes = np.bincount(after[after >= 0], minlength=len(number))
    unmatched = np.flatnonzero((number < 0) & (sizes > 0))
    unmatched = unmatched[np.argsort(-sizes[unmatched], kind="stable")]
    number[unmatched] = first_new + np.arange(len(unmatched))
    found = np.full(len(after), -1, np.int64)
    found[after >= 0] = number[after[after >= 0]]
    return found


def _matched(overlap: sparse.csr_array, method: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows and columns matched one to one where they overlap."""
    if method == "hungarian" or (method == "auto" and overlap.shape[0] * overlap.shape[1] <= MOST_PAIRS):
        from scipy.optimize import linear_sum_assignment  # takes a tenth of a second to import

        dense = overlap.toarray()
        rows, columns = linear_sum_assignment(dense, maximize=True)
        shared = dense[rows, columns] > 0
        return rows[shared], columns[shared]
    pairs = overlap.tocoo()
    order = np.lexsort((pairs.col, pairs.row, -pairs.data))
    taken: tuple[set[int], set[int]] = set(), set()
    found = []
    for row, column in zip(pairs.row[order].tolist(), pairs.col[order].tolist(), strict=True):
        if row not in taken[0] and column not in taken[1]:
            taken[0].add(row)
            taken[1].add(column)
            found.append((row, column))
    matched = np.array(found, np.int64).reshape(-1, 2)
    return matched[:, 0], matched[:, 1]


def changes_between(old: Labels, new: Labels, before: Labels) -> tuple[ClusterChange, ...]:
    """What became of each cluster, by id.

    old : ids of the nodes before. new : ids of the nodes after. before : the row that each of these had, -1 for none.
    """
    stays = (before >= 0) & (new >= 0)
    stays[stays] = old[before[stays]] >= 0
    width = int(new.max(initial=0)) + 1
    keys, counts = np.unique(old[before[stays]] * width + new[stays], return_counts=True)
    pairs = keys // width, keys % width
    size_of = [dict(zip(*(a.tolist() for a in np.unique(ids[ids >= 0], return_counts=True)), strict=True))
               for ids in (old, new)]  # fmt: skip
    comes_from: dict[int, list[int]] = {}
    goes_to: dict[int, list[int]] = {}
    origins = set()
    for o, n, count in zip(*(values.tolist() for values in (*pairs, counts)), strict=True):
        if n not in size_of[0] and 2 * count > size_of[1][n]:
            goes_to.setdefault(o, []).append(n)
            origins.add(n)
        if o not in size_of[1] and 2 * count > size_of[0][o]:
            comes_from.setdefault(n, []).append(o)
    absorbed = {o for parts in comes_from.values() for o in parts}
    found: list[tuple[str, list[int], list[int]]] = []
    for o, size in size_of[0].items():
        parts = ([o] if o in size_of[1] else []) + goes_to.get(o, [])
        if len(parts) > 1 or (parts and o not in size_of[1]):
            found.append(("split", [o], parts))
        elif o in size_of[1] and o not in comes_from:
            found.append((_kind(size, size_of[1][o]), [o], [o]))
        elif not parts and o not in absorbed:
            found.append(("died", [o], []))
    for n in size_of[1]:
        if n in comes_from:
            found.append(("merged", ([n] if n in size_of[0] else []) + comes_from[n], [n]))
        elif n not in size_of[0] and n not in origins:
            found.append(("born", [], [n]))
    return tuple(
        ClusterChange(
            kind, tuple(olds), tuple(news), sum(size_of[0][o] for o in olds), sum(size_of[1][n] for n in news)
        )
        for kind, olds, news in found
    )


def _kind(size: int, now: int) -> str:
    return "kept" if size == now else "grown" if now > size else "shrunk"
