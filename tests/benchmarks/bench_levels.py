"""Nested levels within a bound on sizes, beside graspologic-native's hierarchical Leiden: time, value, broken promises.

    GRAPHCLUST_DATA=... python bench_levels.py [--seeds 3] [--largest]

Two knowledge graphs (`knowledge_graph`) and four real ones, at most 10 and 100 nodes a cluster; with --largest also a
knowledge graph of 160,000 nodes at 10. Both tools are called in turn; making graspologic's list of edges is not held
against its time. Needs graspologic-native.

Clusters are counted that are too large, that are not connected, and that are not inside one cluster above; and levels
that repeat the one above. Nodes that hang on one and the same node alone inside the cluster above may stand together.
"""

import numpy as np
from harness import asked, write_table
from peers_data import draw_ends, linked_part, real
from scipy import sparse
from scipy.sparse import csgraph
from tools import timed

import graphclust

REAL = ("email-Eu-core", "planetoid_pubmed", "karateclub_facebook", "metis_PGPgiantcompo")
BOUNDS = (10, 100)
LARGEST = 160_000
LARGEST_NAME = f"knowledge, {LARGEST:,} nodes"
Matrix = sparse.csr_matrix
Levels = list[np.ndarray]


def knowledge_graph(n: int, seed: int = 5) -> Matrix:
    """A graph such as language models extract from texts: topics of very unequal sizes, hubs, loose ends, weights.

    Topics have sizes by a power law. An edge goes from any node of a topic to one drawn by popularity, by another power
    law; a fifth of the edges go anywhere. Three in ten weigh more than 1. Nodes without an edge are left out.
    """
    rng = np.random.default_rng(seed)
    sizes = np.minimum(6.0 * rng.pareto(1.1, n) + 3.0, n / 20.0).astype(np.int64)
    sizes = sizes[: np.searchsorted(np.cumsum(sizes), n) + 1]
    starts = np.cumsum(sizes) - sizes
    popularity = rng.pareto(1.3, n) + 1.0

    spans = [(a, min(a + size, n), 8 * size // 5) for a, size in zip(starts.tolist(), sizes.tolist(), strict=True)]
    pairs = [(rng.integers(a, b, count), draw_ends(popularity, a, b, count, rng)) for a, b, count in spans if b - a > 1]
    pairs.append((rng.integers(0, n, n // 3), draw_ends(popularity, 0, n, n // 3, rng)))
    u, v = (np.concatenate(side) for side in zip(*pairs, strict=True))
    u, v = u[u != v], v[u != v]
    weight = np.where(rng.random(len(u)) < 0.3, 1.0 + rng.integers(0, 9, len(u)), 1.0)
    graph = sparse.coo_matrix((np.r_[weight, weight], (np.r_[u, v], np.r_[v, u])), shape=(n, n)).tocsr()
    return linked_part(graph, np.arange(n))[0]


def ours(graph: Matrix, most: int, seed: int) -> tuple[Levels, float]:
    seconds, found = timed(graphclust.hierarchy, graph, max_size=most, rng=seed)
    return list(found.levels), seconds


def graspologic(graph: Matrix, most: int, seed: int) -> tuple[Levels, float]:
    import graspologic_native

    upper = sparse.triu(graph, 1).tocoo()
    ends = (map(str, upper.row.tolist()), map(str, upper.col.tolist()), upper.data.tolist())
    edges = list(zip(*ends, strict=True))
    seconds, found = timed(graspologic_native.hierarchical_leiden, edges, max_cluster_size=most, seed=seed)
    labels = np.full((1 + max(record.level for record in found), graph.shape[0]), -1)
    for record in found:
        labels[record.level, int(record.node)] = record.cluster
    for level in range(1, len(labels)):  # a cluster that is not split has no record below
        labels[level] = np.where(labels[level] < 0, labels[level - 1], labels[level])
    return [np.unique(level, return_inverse=True)[1] for level in labels], seconds


TOOLS = {"graphclust": ours, "graspologic": graspologic}


def n_disconnected(graph: Matrix, above: np.ndarray, labels: np.ndarray) -> int:
    """Clusters in more than one part, where nodes that hang on the same node alone inside `above` count as linked."""
    entries = graph.tocoo()
    inside = (above[entries.row] == above[entries.col]) & (entries.row != entries.col)
    row, column, n = entries.row[inside], entries.col[inside], graph.shape[0]
    hangs = np.bincount(row, minlength=n)[row] == 1
    node, hub = row[hangs], column[hangs]
    order = np.lexsort((labels[node], hub))
    node, hub = node[order], hub[order]
    together = (hub[1:] == hub[:-1]) & (labels[node[1:]] == labels[node[:-1]])
    stays = labels[row] == labels[column]
    ends = np.r_[row[stays], node[:-1][together]], np.r_[column[stays], node[1:][together]]
    links = sparse.coo_matrix((np.ones(len(ends[0])), ends), shape=(n, n))
    parts = csgraph.connected_components(links, directed=False)[1]
    pairs = np.unique(np.c_[labels, parts], axis=0)
    return int(np.count_nonzero(np.bincount(pairs[:, 0]) > 1))


def faults_of(graph: Matrix, levels: Levels, most: int) -> list[int]:
    """Clusters too large, not connected, not inside one above; levels repeated."""
    above = [np.zeros(graph.shape[0], np.int64), *levels[:-1]]
    outside = repeated = apart = 0
    for upper, labels in zip(above, levels, strict=True):
        pairs = np.unique(np.c_[labels, upper], axis=0)
        outside += int(np.count_nonzero(np.bincount(pairs[:, 0]) > 1))
        repeated += int(labels.max() == upper.max() and upper is not above[0])
        apart += n_disconnected(graph, upper, labels)
    return [int(np.count_nonzero(np.bincount(levels[-1]) > most)), apart, outside, repeated]


def graphs(largest: bool) -> dict[str, Matrix]:
    """The graphs by name."""
    found = {f"knowledge, {n:,} nodes": knowledge_graph(n) for n in (2_000, 50_000)}
    found |= {name: real(name)[0] for name in REAL}
    return found | ({LARGEST_NAME: knowledge_graph(LARGEST)} if largest else {})


def main() -> None:
    options = asked(__doc__, seeds=3, largest=False)
    for most in BOUNDS:
        ours(knowledge_graph(300), most, 0)  # compiles
    rows, totals = [], dict.fromkeys(TOOLS, 0.0)
    for name, graph in graphs(options.largest).items():
        for most in BOUNDS[:1] if name == LARGEST_NAME else BOUNDS:
            for tool, run in TOOLS.items():
                runs = [run(graph, most, seed) for seed in range(options.seeds)]
                levels, seconds = runs[0][0], float(np.median([taken for _, taken in runs]))
                value = graphclust.modularity(graph, levels[0])
                sizes = f"{len(levels)}", f"{levels[-1].max() + 1:,}"
                faults = map(str, faults_of(graph, levels, most))
                rows.append([name, str(most), tool, f"{seconds:.3f}", *sizes, f"{value:.4f}", *faults])
                totals[tool] += seconds
    rows += [["seconds in all", "", tool, f"{seconds:.3f}", *[""] * 7] for tool, seconds in totals.items()]
    header = [
        "graph", "most nodes", "tool", "seconds", "levels", "leaves", "modularity of the coarsest",
        "too large", "not connected", "not nested", "repeated",
    ]  # fmt: skip
    notes = f"Seconds are medians of {options.seeds} seeds in turn, all else is of the first."
    write_table("levels", "Nested levels within a bound on sizes", header, rows, notes, whole=options.largest)


if __name__ == "__main__":
    main()
