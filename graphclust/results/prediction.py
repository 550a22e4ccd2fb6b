"""Clusters of nodes that come later, from their links to the nodes that were clustered."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.cached import cached_property
from graphclust.checks import as_array
from graphclust.compiled.graphs.objective import ADDITIVE, RATIO, Objective
from graphclust.engine.levels import level_of, stays_and_sums
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.matrices import LARGEST, as_checked_csr
from graphclust.io.atomic_write import whole_file
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, OBJECTIVE_SPECS, gain_of_joining, weigh
from graphclust.results.base import SavedModel
from graphclust.results.file_header import header_of

if TYPE_CHECKING:
    from graphclust.results.clustering import Clustering

ROUND_OFF = 1e-10  # of the volume of a graph
ARRAYS = ("labels", "inside", "mass", "ids", "node_sizes")  # of a file


@dataclass(frozen=True, eq=False)
class ClusterModel(SavedModel["Clustering"]):
    """What is needed of a clustering to label nodes that were not there; `Clustering.model` makes it.

    labels : int64, shape (n,), of the nodes that were clustered, -1 for none.
    nodes : their names, or None for 0..n-1.
    objective, resolution : as those of the clustering; ParameterError for one that needs a resolution and has none.
    inside, mass : float64, shape (k,), the sums of the clusters that the objective is made of.
    total : the graph's volume.
    origin : as `Clustering.origin`.
    ids, n_ids, node_sizes : as those of the clustering; None where they are what they are by default.
    """

    labels: npt.NDArray[np.int64]
    nodes: tuple[Hashable, ...] | None
    objective: str
    resolution: float | None
    inside: npt.NDArray[np.float64]
    mass: npt.NDArray[np.float64]
    total: float
    origin: dict[str, Any] = field(default_factory=dict)
    ids: npt.NDArray[np.int64] | None = None
    n_ids: int | None = None
    node_sizes: npt.NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        """Refuse a model whose objective is not complete: it would predict for another, and no file could hold it."""
        if self.resolution is None and self.objective in ADDITIVE_OBJECTIVES:
            raise ParameterError(
                f"resolution=None leaves objective={self.objective!r} without the number it needs; pass the resolution "
                "that the clusters were made at, resolution=1.0 for the usual modularity"
            )

    def __repr__(self) -> str:
        return f"ClusterModel({len(self.labels)} nodes in {len(self.mass)} clusters, {self.objective})"

    def predict(self, rows: Any) -> npt.NDArray[np.int64]:
        """The cluster of each new node, int64, shape (m,): the one that gains most by it, among those it is linked to.

        rows : weights of the links of m new nodes to the n old ones, shape (m, n), dense or SciPy sparse, >= 0; or a
            mapping from each new node to its neighbors among the old, names in a list or set, or a mapping to weights.

        What is compared is the objective of the graph with the one node more, exactly: its links raise the degrees of
        its neighbors too. Ties go to the lowest cluster; a node that is linked to no cluster gets -1. Links between new
        nodes are not known here; if many come at once, cluster the whole graph again.

        Raises GraphValidationError for rows of another shape, negative or infinite weights and unknown neighbors,
        TypeError for what is no matrix of numbers.

        >>> import networkx as nx
        >>> from graphclust import coreset_sc
        >>> model = coreset_sc(nx.barbell_graph(4, 0), 2, rng=0).model()
        >>> model.predict({"one": [0, 1], "other": {6: 2.0, 0: 0.5}, "none": []})
        array([ 0,  1, -1])
        """
        given = self._links_by_name(rows) if isinstance(rows, Mapping) else as_rows(rows, len(self.labels))
        n_new, k = given.shape[0], len(self.mass)
        members = np.flatnonzero(self.labels >= 0)
        member = sparse.csr_array((np.ones(len(members)), (members, self.labels[members])), shape=(len(self.labels), k))
        links = sparse.csr_array(given @ member)
        links.sort_indices()
        degrees = np.asarray(given.sum(axis=1), np.float64)
        new, to, link = np.repeat(np.arange(n_new), np.diff(links.indptr)), links.indices, links.data
        gains = self._gains(degrees[new], to, link)
        order = np.lexsort((to, -gains, new))
        firsts = order[np.unique(new[order], return_index=True)[1]]
        labels = np.full(n_new, -1, np.int64)
        labels[new[firsts]] = to[firsts]
        return labels

    @property
    def n_nodes(self) -> int:
        return len(self.labels)

    def restore(self, graph: Graph, rows: Any = None) -> Clustering:
        """See `SavedModel`."""
        from graphclust.results.clustering import Clustering

        at = slice(None) if rows is None else rows
        clustering = Clustering(
            self.labels[at], int(self.origin.get("k") or len(self.mass)), graph, self.objective, self.resolution,
            parameters=dict(self.origin.get("options", {})), stable_ids=self.ids, n_ids=self.n_ids,
            node_sizes=None if self.node_sizes is None else self.node_sizes[at],
        )  # fmt: skip
        if rows is not None:
            volume = clustering.volume
            cut = OBJECTIVE_SPECS[self.objective].inside(self.inside, volume)
            vars(clustering)["_cut_and_volume"] = cut, volume  # as they were: other rounding settles ties otherwise
        return clustering

    def find_changes(
        self, graph: Graph, place: npt.NDArray[np.int64], is_whole: bool
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
        """See `SavedModel`: all nodes or none, for no links.

        One edge more among ten million is detected: rounding alone changes less than `ROUND_OFF` of the volume.
        """
        is_same, volume = is_whole, graph.total_volume
        if is_same:
            level = level_of(weigh(graph, self.objective))
            sums = stays_and_sums(level, self.labels[place].astype(np.int32), len(self.mass))[1]
            is_same = np.allclose(sums.inside, self.inside, rtol=0.0, atol=ROUND_OFF * volume)
            pairs = (volume, self.total), (sums.mass, self.mass)
            is_same &= all(np.allclose(one, other, rtol=ROUND_OFF, atol=0.0) for one, other in pairs)
        return np.full(graph.n_nodes, not is_same), np.zeros(graph.n_nodes, np.int64)

    def _gains(
        self, degrees: npt.NDArray[np.float64], to: npt.NDArray[np.int32], link: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """The change of the objective when new nodes of these degrees join clusters, against staying by themselves."""
        inside, mass = self.inside[to], self.mass[to]
        loop, own = np.zeros(len(to)), np.ones(len(to))
        made_of = OBJECTIVE_SPECS[self.objective]
        if made_of.less_degree:
            inside, loop = inside - link, -degrees  # minus the cut: what is new leaves the cluster until the node is in
        if made_of.by_degree:
            mass, own = mass + link, degrees
        if made_of.is_ratio:
            return np.asarray(gain_of_joining(Objective(RATIO, 0.0, 1.0), link, loop, own, inside, mass))
        penalty: Any = self.resolution or 0.0  # a number, or one for each pair: every node makes a volume of its own
        if made_of.pairs is not None:
            volume = self.total + 2.0 * degrees
            penalty = penalty * volume / made_of.pairs(volume if made_of.by_degree else self.mass.sum() + 1.0)
        return np.asarray(gain_of_joining(Objective(ADDITIVE, penalty, 1.0), link, loop, own, inside, mass))

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        names = range(len(self.labels)) if self.nodes is None else self.nodes
        return {node: place for place, node in enumerate(names)}

    def _links_by_name(self, rows: Mapping[Hashable, Any]) -> sparse.csr_array:
        """A matrix of links, from a mapping of new nodes to their neighbors by name."""
        new, old, weights = [], [], []
        for row, (name, neighbors) in enumerate(rows.items()):
            if isinstance(neighbors, str):
                raise TypeError(f"rows[{name!r}] is a str, expected a list of neighbors, as [{neighbors!r}]")
            for node in neighbors:
                place = self._places.get(node)
                if place is None:
                    raise GraphValidationError(f"rows[{name!r}] holds {node!r}, which is not a node that was clustered")
                new.append(row)
                old.append(place)
                weights.append(neighbors[node] if isinstance(neighbors, Mapping) else 1.0)
        try:
            values = np.array(weights, np.float64)
        except OverflowError:
            raise GraphValidationError("rows holds a whole number that no float64 holds, expected weights") from None
        entries = values, (np.array(new, np.int64), np.array(old, np.int64))
        return as_rows(sparse.csr_array(entries, shape=(len(rows), len(self.labels))), len(self.labels))

    def save(self, path: str | os.PathLike, *, overwrite: bool = False) -> None:
        """Write the model to a .npz file, whole or not at all: arrays, and a header in JSON; nothing is pickled.

        Raises FileExistsError unless `overwrite`; ParameterError for another ending; GraphValidationError for names of
        nodes other than strings and whole numbers; OSError as `open` does.
        """
        if not os.fsdecode(path).endswith(".npz"):
            raise ParameterError(f"path={os.fsdecode(path)!r} has another ending, expected .npz")
        header: dict[str, Any] = header_of("model", self.origin) | {"objective": self.objective}
        header |= {"resolution": self.resolution, "total": self.total, "n_ids": self.n_ids}
        names = [name.item() if isinstance(name, np.generic) else name for name in self.nodes or ()]
        for name in names:
            if type(name) not in (str, int):
                what = f"a node is named {name!r}, a {type(name).__name__}"
                raise GraphValidationError(f"{what}; a file of a model holds strings and whole numbers")
        header["nodes"] = None if self.nodes is None else names
        text = json.dumps(header, ensure_ascii=False).encode(errors="backslashreplace")  # a lone surrogate as in JSON
        arrays = {name: getattr(self, name) for name in ARRAYS if getattr(self, name) is not None}
        with whole_file(path, overwrite, lambda: len(text) + self.labels.nbytes) as file:
            np.savez_compressed(file, header=np.frombuffer(text, np.uint8), **arrays)


def as_rows(rows: Any, n_old: int) -> sparse.csr_array:
    """New nodes' links as float64 CSR, checked."""
    array = rows if sparse.issparse(rows) else as_array(rows, "rows")
    if array.ndim != 2 or array.shape[1] != n_old:
        raise GraphValidationError(
            f"rows has shape {array.shape}, expected a row for each new node and a column for each of the {n_old} "
            "nodes that were clustered"
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(f"rows has dtype {array.dtype}, expected numbers: the weights of links")
    matrix = as_checked_csr(array, "rows") if sparse.issparse(array) else sparse.csr_array(array)
    matrix = matrix.astype(np.float64, copy=False)
    bad = np.flatnonzero(~(np.isfinite(matrix.data) & (matrix.data >= 0.0)))
    if len(bad):
        raise GraphValidationError(f"rows holds the weight {matrix.data[bad[0]]}, expected finite weights >= 0")
    if matrix.data.max(initial=0.0) > LARGEST:
        raise GraphValidationError(
            f"rows holds the weight {matrix.data.max():.3g}, expected at most {LARGEST:g}, as in graphs"
        )
    if not matrix.data.all():
        matrix = matrix.copy()  # of a caller's matrix nothing is changed
        matrix.eliminate_zeros()
    return matrix
