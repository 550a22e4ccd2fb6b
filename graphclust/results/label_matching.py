"""Labels that keep their numbers: clusters are matched with earlier ones, and changes are listed."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.cached import cached_property
from graphclust.checks import as_choice
from graphclust.engine.levels import number_used
from graphclust.errors import GraphValidationError
from graphclust.objective.labels import number_labels, order_alike

FEW_PAIRS = 4  # per node, of clusters before and after: up to so many, a dense table counts fastest
MOST_ID = 1 << 62  # new ids are larger than all old ones
MOST_PAIRS = 1_000_000  # of clusters, up to which the matching has the largest total overlap; beyond, it is greedy
Labels = npt.NDArray[np.int64]
NONE: Labels = np.empty(0, np.int64)


class ClusterChange(NamedTuple):
    """What became of a cluster.

    kind : "kept" (one cluster before and after, of the same nodes), "changed", "grown" or "shrunk" (of others, as many,
        more or less), "split" (one before, several after), "merged" (several before, one after), "born" (none before)
        or "died" (none after). A cluster that gave a part away and took another in is told twice, as split and as
        merged.
    before, after : the ids; the one that goes on is first.
    size_before, size_after : nodes of all of these.
    """

    kind: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    size_before: int
    size_after: int


class Told(NamedTuple):
    """The clusters that were kept, by id and with their sizes; and the other changes by the id that goes on."""

    kept: Labels
    sizes: Labels
    of_old: dict[int, ClusterChange]
    of_new: dict[int, ClusterChange]


@dataclass(frozen=True, eq=False)
class ChangeLog:
    """What became of clusters, on one level or several; clusters that were kept are listed once somebody asks."""

    levels: tuple[Told, ...] = ()

    @cached_property
    def changes(self) -> tuple[ClusterChange, ...]:
        """Of the clusters before, by id, then of others; each once."""
        listed: dict[ClusterChange, None] = {}
        for level in self.levels:
            pairs = zip(level.kept.tolist(), level.sizes.tolist(), strict=True)
            of_old = {o: ClusterChange("kept", (o,), (o,), size, size) for o, size in pairs} | level.of_old
            for of in (of_old, level.of_new):
                listed |= dict.fromkeys(of[one] for one in sorted(of))
        return tuple(listed)


def remap_labels(old: Any, new: Any, *, method: str = "auto") -> Any:
    """New labels with the numbers of the old ones: each new cluster is matched with an old one, by overlap.

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
    method = as_choice(method, "method", ("auto", "hungarian", "greedy"))
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return _remap_by_name(old, new, method) if new else {}
    before, after = order_alike(old, new, ("old", "new"))
    before = as_ids(before, "old") if before.dtype.kind in "iu" else number_labels(before, before.size, "old")
    return renumber(before, number_labels(after, before.size, "new"), method)


def _remap_by_name(old: Mapping[Hashable, Any], new: Mapping[Hashable, Any], method: str) -> dict[Hashable, int]:
    ids, after = (as_ids(np.array(list(of.values())), name) for of, name in ((old, "old"), (new, "new")))
    id_of = dict(zip(old, ids.tolist(), strict=True))
    before = np.array([id_of.get(node, -1) for node in new], np.int64)
    labels = renumber(before, number_labels(after, len(after), "new"), method, int(ids.max(initial=-1)) + 1)
    return dict(zip(new, labels.tolist(), strict=True))


def as_ids(labels: np.ndarray, name: str) -> Labels:
    """Labels of clusters as they are, int64, however large; GraphValidationError for others."""
    if labels.size and labels.dtype.kind not in "iu":
        raise GraphValidationError(f"{name} holds labels of dtype {labels.dtype}, expected whole numbers")
    if labels.ndim != 1 or (labels.size and (labels.min() < -1 or labels.max() >= MOST_ID)):
        raise GraphValidationError(
            f"{name} holds labels of shape {labels.shape} from {labels.min()} to {labels.max()}, expected one number a "
            f"node, -1 for none, below {MOST_ID}"
        )
    return labels.astype(np.int64)


def renumber(before: Labels, after: Labels, method: str = "auto", first_new: int | None = None) -> Labels:
    """Labels `after` with the numbers of `before`, of the same nodes; -1 for none. See `remap_labels`.

    first_new : the least number for a cluster without a match; by default above all those before.
    """
    if first_new is None:
        first_new = int(before.max(initial=-1)) + 1
    old_ids, old = number_ids(before)
    n_after = int(after.max(initial=-1)) + 1
    sizes = np.bincount(after[after >= 0], minlength=n_after)
    number = match_ids(overlap_of(old, len(old_ids), after, n_after), old_ids, sizes, first_new, method)
    return np.append(number, -1)[after]


def number_ids(ids: Labels) -> tuple[Labels, Labels]:
    """The used ids, increasing, and for each node the place of its id among them, -1 for none."""
    taken = ids >= 0
    place, n_used = number_used(ids, taken)
    used = np.empty(n_used, np.int64)
    used[place[taken]] = ids[taken]
    return used, place


def overlap_of(
    before: Labels, n_before: int, after: Labels, n_after: int, unchanged: Labels | None = None
) -> sparse.csr_array:
    """How many nodes each new cluster shares with each earlier one, shape (n_after, n_before); label -1 is for none.

    unchanged : as of `find_unchanged`, if it is known.
    """
    both = (before >= 0) & (after >= 0)
    if not both.all():
        before, after = before[both], after[both]
    if unchanged is None and n_before * n_after <= FEW_PAIRS * len(before):
        counts = np.bincount(after * np.int64(n_before) + before, minlength=n_before * n_after)
        return sparse.csr_array(counts.reshape(n_after, n_before))
    unchanged = find_unchanged(before, n_before, after, n_after) if unchanged is None else unchanged
    whole, others = np.flatnonzero(unchanged >= 0), np.flatnonzero(unchanged[after] < 0)
    sizes = np.bincount(after, minlength=n_after)[whole]
    counts = np.concatenate([sizes, np.ones(len(others), np.int64)])
    places = np.concatenate([whole, after[others]]), np.concatenate([unchanged[whole], before[others]])
    return sparse.coo_array((counts, places), shape=(n_after, n_before)).tocsr()


def find_unchanged(
    before: npt.NDArray[np.integer], n_before: int, after: npt.NDArray[np.integer], n_after: int
) -> Labels:
    """The earlier cluster of the same nodes for each new one, int64, shape (n_after,), -1 for none.

    before : may have -1, for none. after : has not.
    """
    unchanged, differs = np.full(n_after, -1, np.int64), np.zeros(n_after, bool)
    unchanged[after] = before  # of the last of its nodes
    differs[after[np.flatnonzero(unchanged[after] != before)]] = True
    sizes, sizes_before = np.bincount(after, minlength=n_after), np.bincount(before + 1, minlength=n_before + 1)[1:]
    unchanged[differs | (sizes == 0) | (sizes != np.append(sizes_before, 0)[unchanged])] = -1
    return unchanged


def match_ids(
    overlap: sparse.csr_array, old_ids: Labels, sizes: Labels, first_new: int, method: str = "auto"
) -> Labels:
    """The id of each new cluster: that of the earlier cluster matched with it, or a new one; -1 if it has no nodes.

    overlap : as of `overlap_of`. sizes : of the new clusters; larger ones get lower new ids.
    """
    number = np.full(overlap.shape[0], -1, np.int64)
    clusters, matches = _match(overlap, method)
    number[clusters] = old_ids[matches]
    unmatched = np.flatnonzero((number < 0) & (sizes > 0))
    unmatched = unmatched[np.argsort(-sizes[unmatched], kind="stable")]
    number[unmatched] = first_new + np.arange(len(unmatched))
    return number


def carry_ids(
    old: Labels, old_ids: Labels, old_sizes: Labels, labels: Labels, k: int, n_ids: int
) -> tuple[Labels, int, ChangeLog]:
    """The ids of clusters 0..k-1, each from the earlier one it is matched with, and what became of the earlier ones.

    old : the earlier cluster of each node, a place in the ids and sizes of these; -1 for none. n_ids : ids given
    before; those given now are returned, between the other two.
    """
    sizes, overlap = np.bincount(labels + 1, minlength=k + 1)[1:], overlap_of(old, len(old_ids), labels, k)
    ids = match_ids(overlap, old_ids, sizes, n_ids)
    first, order = np.argsort(old_ids), np.argsort(ids)
    log = list_changes(overlap[order][:, first], old_ids[first], ids[order], old_sizes[first], sizes[order])
    return ids, max(n_ids, int(ids.max()) + 1), log


def _match(overlap: sparse.csr_array, method: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows and columns matched one to one where they overlap; those that overlap with each other alone are at once."""
    pairs = overlap.tocoo()
    alone = (np.bincount(pairs.row)[pairs.row] == 1) & (np.bincount(pairs.col)[pairs.col] == 1)
    first = pairs.row[alone].astype(np.int64), pairs.col[alone].astype(np.int64)
    rows, row = np.unique(pairs.row[~alone], return_inverse=True)
    columns, column = np.unique(pairs.col[~alone], return_inverse=True)
    rest = sparse.coo_array((pairs.data[~alone], (row, column)), shape=(len(rows), len(columns)))
    matched = _match_rest(rest, method) if len(rows) else (row, column)
    return np.append(first[0], rows[matched[0]]), np.append(first[1], columns[matched[1]])


def _match_rest(pairs: sparse.coo_array, method: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The same of clusters that overlap with several."""
    if method == "hungarian" or (method == "auto" and pairs.shape[0] * pairs.shape[1] <= MOST_PAIRS):
        from scipy.optimize import linear_sum_assignment  # takes a tenth of a second to import

        dense = pairs.toarray()
        rows, columns = linear_sum_assignment(dense, maximize=True)
        shared = dense[rows, columns] > 0
        return rows[shared], columns[shared]
    order = np.lexsort((pairs.col, pairs.row, -pairs.data))
    taken: tuple[set[int], set[int]] = set(), set()
    matches = []
    for row, column in zip(pairs.row[order].tolist(), pairs.col[order].tolist(), strict=True):
        if row not in taken[0] and column not in taken[1]:
            taken[0].add(row)
            taken[1].add(column)
            matches.append((row, column))
    matched = np.array(matches, np.int64).reshape(-1, 2)
    return matched[:, 0], matched[:, 1]


def list_changes(
    overlap: sparse.csr_array, old_ids: Labels, new_ids: Labels, old_sizes: Labels, new_sizes: Labels,
    told: Labels = NONE,
) -> ChangeLog:  # fmt: skip
    """What became of each cluster. A new cluster comes from the earlier one that had most of its nodes.

    overlap : as of `overlap_of`. The ids, increasing, and sizes of the clusters, all of which have nodes.
    told : ids of clusters that are left out where they went on, came or went by themselves.
    """
    pairs = overlap.tocoo()
    stays, place = np.isin(old_ids, new_ids), np.searchsorted(new_ids, old_ids)
    is_born = ~np.isin(new_ids, old_ids) & ~np.isin(new_ids, told)
    is_gone = ~stays & ~np.isin(old_ids, told)
    from_one = is_born[pairs.row] & (2 * pairs.data > new_sizes[pairs.row])
    to_one = is_gone[pairs.col] & (2 * pairs.data > old_sizes[pairs.col])
    goes_to = _group(old_ids[pairs.col[from_one]], new_ids[pairs.row[from_one]])
    comes_from = _group(new_ids[pairs.row[to_one]], old_ids[pairs.col[to_one]])
    goes_to = {o: parts for o, parts in goes_to.items() if len(parts) + (o in new_ids) > 1}
    comes_from = {n: parts for n, parts in comes_from.items() if len(parts) + (n in old_ids) > 1}
    size_of = [dict(zip(ids.tolist(), sizes.tolist(), strict=True))
               for ids, sizes in ((old_ids, old_sizes), (new_ids, new_sizes))]  # fmt: skip

    def change(kind: str, olds: list[int], news: list[int]) -> ClusterChange:
        sizes = (sum(of[one] for one in ones) for of, ones in zip(size_of, (olds, news), strict=True))
        return ClusterChange(kind, tuple(olds), tuple(news), *sizes)

    on = stays & ~np.isin(old_ids, told)
    goes_on, shared = new_ids[pairs.row] == old_ids[pairs.col], np.zeros(len(old_ids), np.int64)
    shared[pairs.col[goes_on]] = pairs.data[goes_on]
    is_kept = on & (old_sizes == shared) & (np.append(new_sizes, 0)[place] == shared)
    kept = old_ids[is_kept], old_sizes[is_kept]
    on &= ~is_kept
    of_old: dict[int, ClusterChange] = {}
    figures = old_ids[on], old_sizes[on], new_sizes[place[on]]
    for o, size, now in zip(*(values.tolist() for values in figures), strict=True):
        kind = "changed" if now == size else "grown" if now > size else "shrunk"
        of_old[o] = ClusterChange(kind, (o,), (o,), size, now)
    for n in comes_from:
        of_old.pop(n, None)  # what it takes in is told with it
    for o, parts in goes_to.items():
        of_old[o] = change("split", [o], ([o] if o in size_of[1] else []) + parts)
    absorbed = {o for parts in comes_from.values() for o in parts}
    for o in old_ids[is_gone].tolist():
        if o not in goes_to and o not in absorbed:
            of_old[o] = change("died", [o], [])
    origins, of_new = {n for parts in goes_to.values() for n in parts}, {}
    for n, olds in comes_from.items():
        of_new[n] = change("merged", ([n] if n in size_of[0] else []) + olds, [n])
    for n in new_ids[is_born].tolist():
        if n not in comes_from and n not in origins:
            of_new[n] = change("born", [], [n])
    return ChangeLog((Told(*kept, of_old, of_new),))


def _group(keys: Labels, values: Labels) -> dict[int, list[int]]:
    """For each key its values, increasing."""
    groups: dict[int, list[int]] = {}
    for key, value in sorted(zip(keys.tolist(), values.tolist(), strict=True)):
        groups.setdefault(key, []).append(value)
    return groups
