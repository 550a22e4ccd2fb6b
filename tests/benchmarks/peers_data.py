"""Graphs to compare tools on: planted by a spec, real ones from files, nearest-neighbor graphs; and their memory."""

import gzip
import itertools
import os
import pathlib
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph


def planted(spec: str, seed: int = 0) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Blocks from a spec such as 50x1000:20:4[:dc][:unbalanced]: blocks x size : degree inside : degree anywhere.

    The second degree is of edges between any two nodes, one of a block among the n_blocks included: 10x200:6:12 has
    7.06 neighbors in the own block and 10.76 in others. Edges are drawn as pairs of ends, so some coincide; `dc` draws
    ends by a power law, `unbalanced` shrinks the blocks geometrically.
    """
    shape, inside, anywhere, *flags = spec.split(":")
    n_blocks, size = (int(x) for x in shape.split("x"))
    rng = np.random.default_rng(seed)
    sizes = np.full(n_blocks, size)
    if "unbalanced" in flags:
        sizes = (n_blocks * size * 0.15 * 0.85 ** np.arange(n_blocks)).astype(int) + 50
    n = int(sizes.sum())
    propensity = np.minimum(rng.pareto(2.5, n) + 1, np.sqrt(n)) if "dc" in flags else np.ones(n)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    spans = [(a, b, int((b - a) * float(inside) / 2)) for a, b in itertools.pairwise(bounds)]
    spans.append((0, n, int(n * float(anywhere) / 2)))
    pairs = [(draw_ends(propensity, *span, rng), draw_ends(propensity, *span, rng)) for span in spans]
    u, v = (np.concatenate(side) for side in zip(*pairs, strict=True))
    kept = u != v
    u, v = u[kept], v[kept]
    matrix = sparse.coo_matrix((np.ones(2 * len(u)), (np.r_[u, v], np.r_[v, u])), shape=(n, n)).tocsr()
    matrix.data[:] = 1.0
    return matrix, np.repeat(np.arange(n_blocks), sizes)


def draw_ends(propensity: np.ndarray, first: int, last: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """So many of the nodes first..last-1, each with a probability in proportion to its propensity."""
    share = np.cumsum(propensity[first:last])
    return first + np.minimum(np.searchsorted(share, rng.random(count) * share[-1]), last - first - 1)


def linked_part(matrix: sparse.csr_matrix, labels: np.ndarray) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Without the isolated nodes."""
    linked = np.flatnonzero(np.diff(matrix.indptr))
    return sparse.csr_matrix(matrix[linked][:, linked]), labels[linked]


def real_graph(path: pathlib.Path) -> tuple[sparse.csr_matrix, np.ndarray]:
    """A graph stored as indptr, indices, n and, where known, labels (-1 for unknown)."""
    with np.load(path, allow_pickle=False) as stored:
        n = int(stored["n"])
        labels = stored["labels"].astype(np.int64) if "labels" in stored else np.full(n, -1)
        rows = stored["indices"], stored["indptr"].astype(np.int32)
    return sparse.csr_matrix((np.ones(len(rows[0])), *rows), shape=(n, n)), labels


def real(name: str) -> tuple[sparse.csr_matrix, np.ndarray]:
    """The largest component of a graph that $GRAPHCLUST_DATA has, and its classes."""
    return largest_component(*real_graph(graphs_folder() / f"{name}.npz"))


def graphs_folder() -> pathlib.Path:
    return pathlib.Path(os.environ["GRAPHCLUST_DATA"]) / "graphs"


def real_names() -> list[str]:
    """Of all graphs that $GRAPHCLUST_DATA has."""
    return sorted(path.stem for path in graphs_folder().glob("*.npz"))


def largest_component(matrix, labels) -> tuple[sparse.csr_matrix, np.ndarray]:
    """The largest connected component, its known labels numbered from 0."""
    _, component = csgraph.connected_components(matrix, directed=False)
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    labels = labels[kept]
    known = labels >= 0
    labels = np.where(known, np.unique(np.where(known, labels, labels.max()), return_inverse=True)[1], -1)
    return sparse.csr_matrix(matrix[kept][:, kept]), labels


def with_random_weights(matrix: sparse.csr_matrix, kind: str, seed: int = 0) -> sparse.csr_matrix:
    """The same edges with weights that say nothing about the clusters: "exponential" or "log-normal" (sigma 1.5)."""
    upper = sparse.triu(matrix, 1).tocoo()
    rng = np.random.default_rng(seed)
    drawn = rng.exponential(size=upper.nnz) if kind == "exponential" else rng.lognormal(0.0, 1.5, upper.nnz)
    weighted = sparse.coo_matrix((drawn, (upper.row, upper.col)), shape=matrix.shape)
    return sparse.csr_matrix(weighted + weighted.T)


def lfr(
    mixing: float,
    n_nodes: int = 5_000,
    seed: int = 1,
    mean: int = 20,
    most: int = 50,
    sizes: tuple[int, int] = (20, 100),
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """NetworkX's LFR benchmark graph without loops, and the planted community of each node.

    mean, most : of the degrees. sizes : of the communities, the least and the most.
    """
    import networkx as nx

    graph = nx.LFR_benchmark_graph(
        n_nodes, 2.5, 1.5, mixing, average_degree=mean, max_degree=most, min_community=sizes[0],
        max_community=sizes[1], max_iters=2_000, seed=seed,
    )  # fmt: skip
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    first_member = np.array([min(members) for _, members in sorted(graph.nodes(data="community"))])
    matrix = nx.to_scipy_sparse_array(graph, nodelist=sorted(graph), dtype=np.float64)
    return sparse.csr_matrix(matrix), np.unique(first_member, return_inverse=True)[1]


def points(name: str) -> tuple[np.ndarray, np.ndarray]:
    folder = pathlib.Path(os.environ["GRAPHCLUST_DATA"]) / "features"
    if name != "mnist":
        with np.load(folder / f"feat_{name}.npz", allow_pickle=False) as stored:
            return stored["X"].astype(np.float32), stored["labels"].astype(np.int64)
    images, classes = [], []
    for part in ("train", "t10k"):
        for kept, kind, header in ((images, "images-idx3", 16), (classes, "labels-idx1", 8)):
            name = f"{part}-{kind}-ubyte.gz"
            kept.append(np.frombuffer(gzip.decompress((folder / name).read_bytes()), np.uint8, offset=header))
    return np.concatenate(images).reshape(-1, 784).astype(np.float32), np.concatenate(classes).astype(np.int64)


def nearest_neighbors(
    name: str, n_neighbors: int, most_points: int | None = None
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """The k-NN graph of a data set with distances as entries, joined by union; and the classes.

    most_points : None for all; otherwise, where there are more, so many are drawn.
    """
    from sklearn.neighbors import kneighbors_graph

    X, classes = points(name)
    if most_points is not None and len(X) > most_points:
        kept = np.random.default_rng(0).permutation(len(X))[:most_points]
        X, classes = X[kept], classes[kept]
    distances = kneighbors_graph(X, n_neighbors, mode="distance", n_jobs=2)
    distances.data = np.maximum(distances.data, 1e-12)
    return sparse.csr_matrix(distances.maximum(distances.T)), classes


def meshes() -> Iterator[tuple[str, sparse.csr_matrix]]:
    """Graphs of points in the plane or in space, and grids: no clusters, but short borders."""
    import networkx as nx
    from scipy.spatial import Delaunay, cKDTree

    def matrix_of(edges) -> sparse.csr_matrix:
        u, v = np.asarray(edges).T
        matrix = sparse.csr_matrix((np.ones(2 * len(u)), (np.r_[u, v], np.r_[v, u])))
        matrix.data[:] = 1.0
        return largest_component(matrix, np.zeros(matrix.shape[0], int))[0]

    rng = np.random.default_rng(518)
    triangles = Delaunay(rng.random((20_000, 2))).simplices
    sides = np.vstack([triangles[:, pair] for pair in ([0, 1], [1, 2], [0, 2])])
    yield "Delaunay, 20,000 points", matrix_of(sides)
    sides = np.unique(np.sort(sides, axis=1), axis=0)
    yield "the same, 55 % of its edges", matrix_of(sides[rng.random(len(sides)) < 0.55])
    for name, shape in (("grid 100 x 100", (100, 100)), ("grid 30 x 30 x 30", (30, 30, 30))):
        yield name, matrix_of(list(nx.convert_node_labels_to_integers(nx.grid_graph(shape)).edges))
    discs = cKDTree(rng.random((20_000, 2)))
    yield "discs of mean degree 10", matrix_of(discs.query_pairs(0.0126, output_type="ndarray"))
    in_space = rng.random((20_000, 3))
    _, nearest = cKDTree(in_space).query(in_space, 9)
    yield "8-NN in space", matrix_of(np.c_[np.repeat(nearest[:, 0], 8), nearest[:, 1:].ravel()])


NOT_IN_THE_MEAN = {"livejournal_top5000_sub", "heterophilous_actor"}  # labels of sampled groups; classes unlike links
MOST_POINTS = 12_000


def annotated_graphs() -> Iterator[tuple[str, sparse.csr_matrix, np.ndarray]]:
    """Largest components of the real graphs with at least two known classes, and of 15-NN graphs of the points."""
    for name in real_names():
        if name not in NOT_IN_THE_MEAN:
            matrix, classes = real(name)
            if classes.max() > 0:
                yield name, matrix, classes
    for path in sorted((graphs_folder().parent / "features").glob("feat_*.npz")):
        name = path.stem.removeprefix("feat_")
        matrix, classes = nearest_neighbors(name, 15, MOST_POINTS)
        matrix.data[:] = 1.0
        yield f"{name} 15-NN", *largest_component(matrix, classes)


def gaussian_weights(distances: sparse.csr_matrix) -> sparse.csr_matrix:
    """exp(-d^2 / (2 s^2)) with s the median distance."""
    weights = distances.copy()
    weights.data = np.exp(-(weights.data**2) / (2 * np.median(weights.data) ** 2))
    return weights
