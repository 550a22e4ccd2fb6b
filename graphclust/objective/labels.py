"""Labels of nodes, in any usual form, as one whole number a node.

A result with `labels`, a mapping from nodes, communities (a collection of sets of nodes, as NetworkX has them), or one
label a node in the order of the rows: whole numbers, or names of classes.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_array, as_labels, as_names, fits_numbers
from graphclust.errors import GraphValidationError, amount
from graphclust.graph.container import Graph


class HasLabels(Protocol):
    """A result of clustering: one label a row."""

    @property
    def labels(self) -> npt.NDArray[Any]: ...


LabelsLike = Iterable[Any] | HasLabels


def labels_on(graph: Graph, labels: LabelsLike, name: str = "labels") -> npt.NDArray[np.int64]:
    """The labels of the graph's nodes in the order of its rows, int64, shape (n_nodes,), -1 for none.

    labels : a `Clustering` or another result with `labels`, of this graph or of one with the same nodes; a mapping from
        every node to its label; communities, numbered as they come, that hold every node once; igraph's
        `VertexClustering`; or one label a node: an array, list or Series (by its index, if that is not 0, 1, 2, ... and
        holds the nodes).
        Whole numbers up to about four times the nodes stay as they are. Larger ones, and names of classes of one type,
        are numbered from 0: whole numbers and strings in increasing order, others as they appear.

    Raises GraphValidationError for a wrong number of labels, labels below -1, nodes that are missing, unknown or in
    two communities; TypeError for what are no labels, such as floats.
    """
    return number_labels(node_labels(labels, graph.nodes, graph.n_nodes, name), graph.n_nodes, name)


def labels_of_some(graph: Graph, labels: LabelsLike, name: str = "labels") -> np.ndarray:
    """The labels of the graph's nodes as they are or, of names of classes, numbered; -1 where there is none.

    labels : as `labels_on` takes them, but nodes may be missing, or unknown to the graph, where they are named.

    Raises what `labels_on` does; GraphValidationError where no node of the graph is named.
    """
    listed: Any = _as_lists(labels)
    if _is_indexed(listed) and not _is_numbered(listed.index):
        listed = _as_mapping(listed, name)
    elif _are_communities(listed):
        n_listed = sum(len(part) for part in listed)
        listed = {node: c for c, part in enumerate(listed) for node in part}
        if len(listed) < n_listed:
            raise GraphValidationError(f"{name} holds a node in two sets, expected every node in one")
    if not isinstance(listed, Mapping):
        return node_labels(listed, graph.nodes, graph.n_nodes, name)
    rows = {node: row for node, row in _rows(graph.nodes, graph.n_nodes).items() if node in listed}
    if not rows:
        some = next(iter(listed), None)
        raise GraphValidationError(f"{name} holds no node of the graph but others, such as {some!r}")
    given, numbers = _as_array([listed[node] for node in rows], name), np.full(graph.n_nodes, -1, np.int64)
    is_number = given.dtype.kind in "iu"
    numbers[[*rows.values()]] = given if is_number else number_labels(given, len(given), name)
    return numbers


def number_labels(labels: np.ndarray, n_nodes: int, name: str = "labels") -> npt.NDArray[np.int64]:
    """Labels of any type as int64; small whole numbers stay, others and names are numbered from 0."""
    if labels.ndim == 1 and labels.size:
        if labels.dtype.kind in "USb":
            labels = np.unique(labels, return_inverse=True)[1]
        elif labels.dtype.kind == "O":
            labels = _number_objects(labels, name)
        elif labels.dtype.kind in "iu" and labels.min() >= -1 and not fits_numbers(labels, n_nodes):
            distinct, labels = np.unique(labels, return_inverse=True)
            labels = labels - int(distinct[0] == -1)
    return as_labels(labels, n_nodes, name)


def align_labels(labels: LabelsLike, other: LabelsLike) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Two labelings as int64 arrays in the same order of the nodes: by name where both name them, else by place."""
    first, second = order_alike(labels, other, ("labels", "other"))
    return number_labels(first, first.size), number_labels(second, first.size, "other")


def order_alike(labels: LabelsLike, other: LabelsLike, names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Two labelings in the same order of the nodes, neither numbered nor checked; names : of the two, for messages."""
    both = _by_index(_as_lists(labels), _as_lists(other), names)
    by_name = [isinstance(one, Mapping) or _are_communities(one) for one in both]
    of_graphs = [hasattr(one, "labels") and hasattr(one, "graph") for one in both]
    if any(by_name) and not all(named or of for named, of in zip(by_name, of_graphs, strict=True)):
        raise TypeError(
            f"one of {names[0]} and {names[1]} names its nodes and the other does not, expected both to, or neither; "
            "pass labels in one order of the nodes"
        )
    nodes: Sequence[Hashable] | np.ndarray | None = None
    n_named = 0
    if any(of_graphs):
        result = both[of_graphs.index(True)]
        nodes, n_named = result.graph.nodes, len(result.labels)
    elif any(by_name):
        nodes = list(both[0]) if isinstance(both[0], Mapping) else [node for part in both[0] for node in part]
    first, second = (node_labels(one, nodes, n_named, name) for one, name in zip(both, names, strict=True))
    return first, second


def _by_index(labels: Any, other: Any, names: tuple[str, str]) -> tuple[Any, Any]:
    """pandas Series as mappings from their indices, if the other labeling names its nodes too."""
    series = [_is_indexed(one) for one in (labels, other)]
    if all(series):
        numbered = any(_is_numbered(one.index) for one in (labels, other))
        if labels.index.equals(other.index) or (numbered and {*labels.index} != {*other.index}):
            return labels.to_numpy(), other.to_numpy()
        return _as_mapping(labels, names[0]), _as_mapping(other, names[1])
    pair = []
    for one, rest, name in ((labels, other, names[0]), (other, labels, names[1])):
        by_name = (
            _is_indexed(one) and not _is_numbered(one.index) and (isinstance(rest, Mapping) or _are_communities(rest))
        )
        pair.append(_as_mapping(one, name) if by_name else one)
    return pair[0], pair[1]


def _is_indexed(labels: Any) -> bool:
    return hasattr(labels, "to_numpy") and hasattr(labels, "index") and hasattr(labels.index, "equals")


def _is_numbered(index: Any) -> bool:
    """Whether an index is that of a Series without one: 0, 1, 2, ..."""
    return type(index).__name__ == "RangeIndex" and (getattr(index, "start", 0), getattr(index, "step", 1)) == (0, 1)


def _as_mapping(series: Any, name: str) -> dict[Hashable, Any]:
    if not series.index.is_unique:
        twice = series.index[series.index.duplicated()][0]
        raise GraphValidationError(
            f"the index of {name} holds {twice!r} twice, expected every node once; {name}.to_numpy() goes by place"
        )
    return dict(zip(series.index.tolist(), series.tolist(), strict=True))


def node_labels(
    labels: LabelsLike, nodes: Sequence[Hashable] | np.ndarray | None, n_nodes: int, name: str
) -> np.ndarray:
    """One label a node in the order of `nodes`, None being 0..n_nodes-1; not yet numbers, nor counted."""
    labels = _as_lists(labels)
    if hasattr(labels, "labels"):
        own = getattr(getattr(labels, "graph", None), "nodes", None)
        if own is None or nodes is None or as_names(own) == as_names(nodes):
            return as_array(labels.labels, name)
        labels = dict(zip(as_names(own), labels.labels.tolist(), strict=True))
    if isinstance(labels, Mapping):
        return _of_mapping(labels, _rows(nodes, n_nodes), name)
    if _are_communities(labels):
        return _of_communities(labels, _rows(nodes, n_nodes), name)
    if hasattr(labels, "to_numpy"):
        return _of_series(labels, nodes, n_nodes)
    return as_array(labels, name) if isinstance(labels, np.ndarray) else _as_array(labels, name)


def _as_lists(labels: Any) -> Any:
    """The same, but for a generator or view of communities or labels, and igraph's clusterings, which become lists."""
    if hasattr(labels, "membership"):
        return list(labels.membership)
    kept = np.ndarray | Mapping | list | str | bytes
    if isinstance(labels, kept) or hasattr(labels, "labels") or hasattr(labels, "to_numpy"):
        return labels
    return list(labels) if isinstance(labels, Iterable) else labels


def _are_communities(labels: Any) -> bool:
    return isinstance(labels, list) and len(labels) > 0 and all(isinstance(part, Set | list) for part in labels)


def _rows(nodes: Sequence[Hashable] | np.ndarray | None, n_nodes: int) -> dict[Hashable, int]:
    names = range(n_nodes) if nodes is None else as_names(nodes)
    return {node: row for row, node in enumerate(names)}


def _of_mapping(labels: Mapping[Hashable, Any], rows: dict[Hashable, int], name: str) -> np.ndarray:
    for node in rows:
        if node not in labels:
            raise GraphValidationError(f"{name} has no label for node {node!r}, expected one for each; -1 means none")
    if len(labels) > len(rows):
        stranger = next(node for node in labels if node not in rows)
        raise GraphValidationError(f"{name} has a label for {stranger!r}, which is not a node of the graph")
    return _as_array([labels[node] for node in rows], name)


def _of_communities(labels: Iterable[Iterable[Hashable]], rows: dict[Hashable, int], name: str) -> np.ndarray:
    """A label for each row, from sets of nodes that hold each once."""
    community = [-1] * len(rows)
    for c, members in enumerate(labels):
        for node in members:
            row = rows.get(node)
            if row is None:
                raise GraphValidationError(f"{name}[{c}] holds {node!r}, which is not a node of the graph")
            if community[row] >= 0:
                raise GraphValidationError(
                    f"node {node!r} is in {name}[{community[row]}] and in {name}[{c}], expected every node in one set"
                )
            community[row] = c
    if -1 in community:
        missing = next(node for node, row in rows.items() if community[row] < 0)
        raise GraphValidationError(
            f"node {missing!r} is in no set of {name}, expected every node in one; a node on its own is a set of one"
        )
    return np.array(community, np.int64)


def _of_series(series: Any, nodes: Sequence[Hashable] | np.ndarray | None, n_nodes: int) -> np.ndarray:
    """The values of a pandas or Polars Series, in the order of the nodes where its index holds them."""
    values, index = series.to_numpy(), getattr(series, "index", None)
    if index is None or _is_numbered(index) or len(values) != n_nodes:
        return values
    rows = _rows(nodes, n_nodes)
    order = [rows.get(node, -1) for node in index.tolist()]
    return values[np.argsort(order)] if sorted(order) == list(range(n_nodes)) else values


def _as_array(labels: Any, name: str) -> np.ndarray:
    """A list of labels as an array in which each is what it was: NumPy would make text of numbers beside text."""
    if labels == []:
        return np.empty(0, np.int64)
    if not isinstance(labels, list) or {str, tuple}.isdisjoint(map(type, labels)):
        return as_array(labels, name)
    if all(isinstance(label, str) for label in labels):
        return np.asarray(labels)
    array = np.empty(len(labels), object)
    array[:] = labels
    return array


def _number_objects(labels: np.ndarray, name: str) -> np.ndarray:
    """A number for each label of any hashable type, -1 for those that mean none."""
    values = [value.item() if isinstance(value, np.generic) else value for value in labels.tolist()]
    kinds = {type(value) for value in values}
    if len(kinds) > 1 or type(None) in kinds:
        n_missing = sum(value is None or value != value for value in values)
        remedy = f"; leave the {amount(n_missing, 'node')} without one out of both" if n_missing else ""
        raise TypeError(f"{name} mixes types, expected whole numbers or names, and none missing{remedy}")
    (kind,) = kinds
    if kind is float:
        return labels  # refused as what it is
    try:
        distinct = list(dict.fromkeys(values))
    except TypeError:
        raise TypeError(f"{name} holds a {kind.__name__}, expected whole numbers or hashable names") from None
    if kind in (int, str, bool):
        distinct.sort()
    if kind is int and distinct[0] < -1:
        raise GraphValidationError(f"{name} holds {distinct[0]}, expected cluster numbers >= 0, or -1 for none")
    number = {value: place for place, value in enumerate(distinct, -1 if distinct[0] == -1 else 0)}
    return np.array([number[value] for value in values])
