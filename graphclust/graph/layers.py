"""Layers: graphs whose clusters are judged by several null models, or by one that tells sources from targets.

A layer is one null model. The score of a cluster c is

    inside(c) - sum over layers l of resolution_l pull_l outward_l(c) inward_l(c)

where `inside` adds the entries of a symmetric matrix of combined weights between nodes of c, every edge twice, and
`outward` and `inward` add over the nodes of c. So a score follows from sums over nodes, as that of an undirected graph
does, and contraction keeps it. With m the total weight of the edges, or arcs, of a graph:

    graph        combined     layers                                              source
    undirected   A            one: degrees, penalty 1 / 2m                        Reichardt & Bornholdt 2006
    directed     (A + A') / 2 one: out- and in-degrees, penalty 1 / m             Leicht & Newman 2008
    bipartite    (B + B') / 2 one: rows have out-, columns in-degrees, 1 / m      Barber 2007
    signed       A+ - A-      two: degrees of A+, 1 / 2m+, and of A-, -1 / 2m-    Gomez, Jensen & Arenas 2009
    several      sum of w A   those of all graphs, penalties times w              Mucha et al. 2010
    slices       blocks       those of all slices; links between them have none   Mucha et al. 2010

A self-loop counts once in the degree of its node, or in both of its degrees, and once in the weight inside.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graphclust.graph.container import Graph, plain

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layer:
    """One null model: penalty * outward(c) * inward(c) is taken from the score of a cluster c.

    outward, inward : the mass of each node as a source and as a target, float64, (n,); the same array where the layer
    is undirected. penalty : at resolution 1. arcs : the weight from row to column that masses add up, CSR, (n, n); None
    where they count nodes.
    """

    name: str
    outward: Floats
    inward: Floats
    penalty: float
    arcs: Any = None

    def times(self, factor: float) -> Layer:
        """The layer of a graph whose score counts so many times."""
        return replace(self, penalty=factor * self.penalty)


@dataclass(frozen=True, eq=False)
class LayeredGraph:
    """A graph with null models of its own.

    kind : "undirected", "directed", "bipartite", "signed", "several" or "slices".
    combined : the symmetric weights that are added inside clusters; they may be negative.
    total : a score divided by it is the modularity that was asked for; 0 without edges.
    connected : whether parts of a cluster that no edge links never gain by being one; not so for a penalty below zero.
    sides : of a bipartite graph, the numbers of rows and of columns; the nodes are first the rows, then the columns.
    parts : of several graphs, each by its name.
    columns : of a bipartite graph whose names tell the sides apart, what they begin with: "customer" of "customer:1".
    """

    kind: str
    combined: Graph
    layers: tuple[Layer, ...]
    total: float
    connected: bool
    sides: tuple[int, int] | None = None
    parts: Mapping[Hashable, LayeredGraph] = field(default_factory=dict)
    columns: tuple[str, str] | None = None

    @property
    def n_nodes(self) -> int:
        return self.combined.n_nodes

    def with_names(self, nodes: Sequence[Hashable] | npt.NDArray[Any] | None, remarks: tuple[str, ...] = ()):
        """The same graph whose nodes have names, and what was assumed about it."""
        return replace(self, combined=replace(self.combined, nodes=nodes, remarks=remarks))

    def take(self, nodes: npt.NDArray[np.integer], combined: Graph, *, with_arcs: bool = False) -> LayeredGraph:
        """The graph of some nodes in their order, with these combined weights; sides and parts are lost, and arcs."""
        layers = []
        for layer in self.layers:
            out = layer.outward[nodes]
            arcs = layer.arcs[nodes][:, nodes] if with_arcs and layer.arcs is not None else None
            into = out if layer.inward is layer.outward else layer.inward[nodes]
            layers.append(replace(layer, outward=out, inward=into, arcs=arcs))
        return replace(self, combined=combined, layers=tuple(layers), sides=None, parts={})

    def alone(self, nodes: npt.NDArray[np.integer], labels: npt.NDArray[np.integer], combined: Graph) -> LayeredGraph:
        """Some of the nodes, so weighed that one penalty judges each cluster of them as if it were the graph.

        labels : 0, 1, ... of these nodes. combined : of these nodes, without edges between clusters. Masses add up the
        arcs inside clusters alone, times the root of what a layer holds in all over what it holds in the cluster.
        """
        of_all, layers = np.full(self.n_nodes, -1), []
        of_all[nodes] = labels
        for layer in self.layers:
            is_undirected = layer.inward is layer.outward
            if layer.arcs is None:  # chance counts nodes: it is to put into a cluster what is there
                out, into, held = layer.outward[nodes], layer.inward[nodes], combined.degrees.clip(0.0)
                most, least = (np.bincount(labels, masses) for masses in (out, into))
                share = np.bincount(labels, held) / np.where(most * least > 0.0, most * least, 1.0)
            else:
                arcs = layer.arcs.tocoo()
                row, column = arcs.coords
                is_inside = (of_all[row] == of_all[column]) & (of_all[row] >= 0)
                out, into = (
                    np.bincount(ends[is_inside], arcs.data[is_inside], self.n_nodes)[nodes] for ends in (row, column)
                )
                held = np.bincount(labels, out)
                share = np.divide(layer.outward.sum(), held, out=np.zeros_like(held), where=held > 0.0)
            out, into = (masses * np.sqrt(share)[labels] for masses in (out, into))
            layers.append(replace(layer, outward=out, inward=out if is_undirected else into, arcs=None))
        return replace(self, combined=combined, layers=tuple(layers), sides=None, parts={})

    def penalties(self, resolution: float | Sequence[float] = 1.0) -> Floats:
        """The penalty of each layer at a resolution, or at one for each layer; float64, (n_layers,)."""
        return np.array([layer.penalty for layer in self.layers]) * np.asarray(resolution, np.float64)

    def scores(self, labels: np.ndarray, resolution: float | Sequence[float] = 1.0) -> Floats:
        """The score of each cluster; float64, (k,). labels : 0 to k - 1, or -1 for nodes in no cluster; (n,)."""
        k, rows = int(labels.max(initial=-1)) + 1, self.combined.rows
        of_row = np.repeat(labels, np.diff(rows.indptr))
        is_inside = (of_row == labels[rows.indices]) & (of_row >= 0)
        weights = None if self.combined.weights is None else self.combined.weights[is_inside]
        score: Floats = np.bincount(of_row[is_inside], weights, minlength=k).astype(np.float64)
        taken = labels >= 0
        for layer, penalty in zip(self.layers, self.penalties(resolution), strict=True):
            out, into = (np.bincount(labels[taken], of[taken], minlength=k) for of in (layer.outward, layer.inward))
            score -= penalty * out * into
        return score

    def modularity(self, labels: np.ndarray, resolution: float | Sequence[float] = 1.0) -> float:
        """The modularity that was asked for: the sum of the scores over `total`, and 0 without edges."""
        return float(self.scores(labels, resolution).sum()) / self.total if self.total else 0.0


def undirected(matrix: Any) -> LayeredGraph:
    """An undirected graph, of its symmetric matrix of weights >= 0; to be one of several.

    >>> two = undirected(sparse.csr_array(np.array([[0.0, 2, 0], [2, 0, 1], [0, 1, 0]])))
    >>> round(two.modularity(np.array([0, 0, 1])), 12) == round((4 - 25 / 6 + 0 - 1 / 6) / 6, 12)
    True
    """
    degrees = _sums(matrix, axis=1)
    total = float(degrees.sum())
    layer = Layer("degree", degrees, degrees, _inverse(total), matrix)
    return LayeredGraph("undirected", graph_of(matrix), (layer,), total, True)


def directed(matrix: Any) -> LayeredGraph:
    """A directed graph, of its matrix of weights >= 0: entry (i, j) is that of the arc from i to j.

    >>> arcs = np.array([[0.0, 1, 2], [0, 0, 3], [0, 0, 0]])
    >>> chance = np.outer(arcs.sum(axis=1), arcs.sum(axis=0)) / 6
    >>> labels = np.array([0, 1, 1])
    >>> of_definition = ((arcs - chance) * (labels[:, None] == labels)).sum() / 6
    >>> round(directed(sparse.csr_array(arcs)).modularity(labels) - float(of_definition), 12)
    0.0
    """
    out, into = _sums(matrix, axis=1), _sums(matrix, axis=0)
    total = float(out.sum())
    layer = Layer("out- and in-degree", out, into, _inverse(total), matrix)
    return LayeredGraph("directed", graph_of((matrix + matrix.T) * 0.5), (layer,), total, True)


def bipartite(matrix: Any) -> LayeredGraph:
    """A bipartite graph, of its matrix of weights >= 0 from rows to columns: the nodes of both are clustered.

    >>> sales = np.array([[2.0, 1, 0], [0, 0, 3]])
    >>> chance = np.outer(sales.sum(axis=1), sales.sum(axis=0)) / 6
    >>> rows, columns = np.array([0, 1]), np.array([0, 0, 1])
    >>> of_definition = ((sales - chance) * (rows[:, None] == columns)).sum() / 6
    >>> round(bipartite(sparse.csr_array(sales)).modularity(np.r_[rows, columns]) - float(of_definition), 12)
    0.0
    """
    n_rows, n_columns = matrix.shape
    arcs = sparse.coo_array(matrix)
    row, column = arcs.coords
    n = n_rows + n_columns
    made = directed(sparse.csr_array((arcs.data, (row, column + n_rows)), shape=(n, n)))
    return replace(made, kind="bipartite", sides=(n_rows, n_columns))


def signed(matrix: Any) -> LayeredGraph:
    """A signed graph, of its symmetric matrix: inside clusters positive edges count, and negative ones against them.

    A sign without edges has no layer.

    >>> ties = np.array([[0.0, 2, -1], [2, 0, 0], [-1, 0, 0]])
    >>> labels, total = np.array([0, 0, 1]), 6
    >>> parts = [np.clip(ties, 0, None), np.clip(-ties, 0, None)]
    >>> less = [one - np.outer(one.sum(axis=1), one.sum(axis=1)) / one.sum() for one in parts]
    >>> of_definition = ((less[0] - less[1]) * (labels[:, None] == labels)).sum() / total
    >>> round(signed(sparse.csr_array(ties)).modularity(labels) - float(of_definition), 12)
    0.0
    """
    friends, foes = matrix.maximum(0.0), (-matrix).maximum(0.0)
    parts = [undirected(friends), undirected(foes)]
    layers = [
        replace(part.layers[0].times(sign), name=name)
        for part, sign, name in zip(parts, (1.0, -1.0), ("positive", "negative"), strict=True)
        if part.total
    ]
    total = sum(part.total for part in parts)
    return LayeredGraph("signed", graph_of(matrix), tuple(layers), total, not parts[1].total)


def several(
    graphs: Sequence[LayeredGraph],
    weights: Sequence[float],
    *,
    normalize: bool = True,
    names: Sequence[str] | None = None,
) -> LayeredGraph:
    """Several graphs on the same nodes: the mean of their modularities, by the weights of the graphs.

    normalize : each graph counts alike whatever its total weight, as leidenalg's `find_partition_multiplex` does;
    else each edge does.

    >>> one = undirected(sparse.csr_array(np.array([[0.0, 2, 0], [2, 0, 1], [0, 1, 0]])))
    >>> other = directed(sparse.csr_array(np.array([[0.0, 0, 1], [0, 0, 0], [0, 5, 0]])))
    >>> labels = np.array([0, 1, 1])
    >>> both = several([one, other], [1.0, 3.0])
    >>> mean = (one.modularity(labels) + 3 * other.modularity(labels)) / 4
    >>> round(both.modularity(labels) - mean, 12)
    0.0
    """
    factors = [
        weight * _inverse(graph.total) if normalize else weight for graph, weight in zip(graphs, weights, strict=True)
    ]
    matrix = sum(graph.combined.to_scipy() * factor for graph, factor in zip(graphs, factors, strict=True))
    layers = _layers_of(graphs, factors, names)
    total = float(sum(factor * graph.total for graph, factor in zip(graphs, factors, strict=True)))
    connected = all(layer.penalty >= 0.0 for layer in layers)
    return LayeredGraph("several", graph_of(matrix), layers, total, connected)


def slices(
    graphs: Sequence[LayeredGraph], coupling: float, *, links: str = "neighboring", names: Sequence[str] | None = None
) -> LayeredGraph:
    """The slices of a graph over time, on the same n nodes: node u of slice s is number s * n + u.

    coupling : the weight of the link between the copies of a node in two slices. links : "neighboring" links each slice
    with the next, "all" each pair of slices.

    >>> edges = np.array([[0.0, 2, 0], [2, 0, 1], [0, 1, 0]])
    >>> both = slices([undirected(sparse.csr_array(edges))] * 2, 0.5)
    >>> labels = np.array([0, 0, 1, 0, 0, 1])
    >>> of_definition = (2 * (4 - 25 / 6 - 1 / 6) + 3 * 2 * 0.5) / (2 * 6 + 3 * 2 * 0.5)
    >>> round(both.modularity(labels) - of_definition, 12)
    0.0
    """
    n, n_slices = graphs[0].n_nodes, len(graphs)
    pairs = list(pairwise(range(n_slices)) if links == "neighboring" else combinations(range(n_slices), 2))
    one, other = np.array(pairs, np.int64).reshape(-1, 2).T
    between = sparse.coo_array((np.full(len(pairs), coupling), (one, other)), shape=(n_slices, n_slices))
    couplings = sparse.kron(between + between.T, sparse.eye_array(n))
    matrix = sparse.block_diag([graph.combined.to_scipy() for graph in graphs], format="csr") + couplings
    layers = []
    for s, layer_of in enumerate(graphs):
        for layer in _layers_of([layer_of], [1.0], names and [names[s]]):
            ends = np.zeros((2, n_slices, n))
            ends[:, s] = layer.outward, layer.inward
            out, into = ends.reshape(2, -1)
            is_undirected = layer.outward is layer.inward
            place = sparse.coo_array(([1.0], ([s], [s])), shape=(n_slices, n_slices))
            arcs = sparse.kron(place, layer.arcs, format="csr")
            layers.append(replace(layer, outward=out, inward=out if is_undirected else into, arcs=arcs))
    total = sum(graph.total for graph in graphs) + 2.0 * coupling * n * len(pairs)
    connected = all(graph.connected for graph in graphs)
    return LayeredGraph("slices", graph_of(matrix), tuple(layers), float(total), connected)


def without_negative(graph: Graph) -> Graph:
    """The graph of the weights above zero; the same if all are."""
    if graph.weights is None or not (graph.weights < 0.0).any():
        return graph
    return replace(graph_of(graph.to_scipy().maximum(0.0)), nodes=graph.nodes)


def with_unit_masses(graph: LayeredGraph) -> LayeredGraph:
    """The graph as the constant Potts model takes it: chance counts pairs of nodes, of both sides where there are two.

    A score is inside - resolution n_c^2, or resolution n_rows n_columns, and `total` is 1. Source: Traag, Van Dooren &
    Nesterov 2011.

    >>> with_unit_masses(directed(sparse.csr_array(np.array([[0.0, 1], [0, 0]])))).modularity(np.array([0, 0]), 0.25)
    0.0
    """
    out = into = np.ones(graph.n_nodes)
    if graph.sides is not None:
        out = np.repeat([1.0, 0.0], graph.sides)
        into = 1.0 - out
    return replace(graph, layers=(Layer("nodes", out, into, 1.0),), total=1.0)


def _layers_of(graphs: Sequence[LayeredGraph], factors: Sequence[float], names: Sequence[str] | None):
    """The layers of all graphs, each times its factor; by the names of the graphs, or their numbers."""
    layers = []
    for i, (graph, factor) in enumerate(zip(graphs, factors, strict=True)):
        for layer in graph.layers:
            name = str(i) if names is None else names[i]
            name = name if len(graph.layers) == 1 else f"{name}, {layer.name}"
            layers.append(replace(layer.times(factor), name=name))
    return tuple(layers)


def _sums(matrix: Any, axis: int) -> Floats:
    return np.asarray(matrix.sum(axis=axis), np.float64).ravel()


def _inverse(total: float) -> float:
    """1 / total, and 0 where there is nothing to be divided."""
    return 1.0 / total if total else 0.0


def graph_of(matrix: Any) -> Graph:
    """The rows of a matrix, in order and without zeros, as loops take those of a symmetric one."""
    matrix = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    degrees, loops = _sums(matrix, axis=1), matrix.diagonal()
    return Graph(plain(indptr), plain(indices), plain(matrix.data), plain(degrees), plain(loops))
