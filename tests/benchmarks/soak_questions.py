"""What a soak asks: graphs in any form, questions about them, and the promises that each answer has to keep."""

import pathlib
import random
from typing import Any

import numpy as np
from graphs import GRAPHS
from graphs import make as named_matrix
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import graphclust as gc
from graphclust.objective.objective import ADDITIVE_OBJECTIVES, OBJECTIVE_SPECS, OBJECTIVES

REFUSED = (gc.GraphClustError, TypeError)  # by a message that names the argument: `ask` looks


def check(holds: Any, what: str) -> None:
    """A promise, by its words."""
    if not holds:
        raise AssertionError(what)


def draw_matrix(chance: random.Random, most: int = 2_000) -> sparse.csr_array:
    """A symmetric matrix with or without weights, loops, lonely nodes and components."""
    rng = np.random.default_rng(chance.randrange(2**32))
    kind = chance.choice(("named", "planted", "planted", "random", "random", "lfr", "tree"))
    n = int(10 ** chance.uniform(0.5, np.log10(most)))
    if kind == "named":
        return named_matrix(
            chance.choice([name for name in GRAPHS if name not in ("one node", "no edges", "loops only")])
        )
    if kind == "planted":
        size = max(n // chance.randrange(2, 12), 4)
        graph = gc.planted_partition(max(n // size, 2), size, min(6.0, size - 2), chance.uniform(0, 2), rng=rng).graph
        upper = sparse.triu(graph.to_scipy())
    elif kind == "lfr":
        graph = gc.lfr_like(max(n, 200), 8.0, chance.uniform(0.05, 0.5), largest=100, rng=rng)[0]
        upper = sparse.triu(graph.to_scipy())
    elif kind == "tree":
        above = [rng.integers(u) if u else 0 for u in range(n)]
        upper = sparse.coo_array((np.ones(n), (above, range(n))), shape=(n, n))
    else:
        upper = sparse.triu(sparse.random_array((n, n), density=min(chance.uniform(1, 12) / n, 1.0), rng=rng))
    upper = sparse.coo_array(upper)
    weights = chance.choice(("ones", "ones", "whole", "real", "wide"))
    data = {
        "ones": np.ones(upper.nnz), "whole": rng.integers(1, 9, upper.nnz).astype(float),
        "real": rng.random(upper.nnz) + 0.01, "wide": 10.0 ** rng.uniform(-6, 6, upper.nnz),
    }[weights]  # fmt: skip
    upper = sparse.csr_array((data, (upper.row, upper.col)), shape=upper.shape)
    return sparse.csr_array(upper + sparse.triu(upper, 1).T)


def in_a_form(matrix: sparse.csr_array, chance: random.Random, folder: pathlib.Path) -> tuple[Any, str]:
    """The same graph as a caller may hold it, its nodes in their order."""
    form = chance.choice(("csr", "csc", "coo", "wide", "readonly", "graph", "store", "shuffled rows"))
    if form in ("csc", "coo"):
        return matrix.asformat(form), form
    copy = matrix.copy()
    if form == "wide":
        copy.indices, copy.indptr = copy.indices.astype(np.int64), copy.indptr.astype(np.int64)
    elif form == "readonly":
        for array in (copy.data, copy.indices, copy.indptr):
            array.flags.writeable = False
    elif form == "graph":
        return gc.as_graph(copy), form
    elif form == "store":
        return gc.save_store(folder / f"s{chance.randrange(10**9)}", copy), form
    elif form == "shuffled rows":
        for u in range(copy.shape[0]):
            row = slice(copy.indptr[u], copy.indptr[u + 1])
            order = np.random.default_rng(u).permutation(row.stop - row.start)
            copy.indices[row], copy.data[row] = copy.indices[row][order], copy.data[row][order]
        copy.has_sorted_indices = False
    return copy, form


def draw_question(chance: random.Random, n: int) -> tuple[str, dict[str, Any]]:
    """A public function and its options; some ask for what cannot be."""
    k = min(chance.choice((1, 2, 3, 5, 8, 20)), n + chance.randrange(2))
    name = chance.choice(("coreset_sc", "coreset_sc", "communities", "communities", "balanced_partition", "hierarchy",
                          "cluster_path", "well_connected"))  # fmt: skip
    options: dict[str, Any] = {"rng": chance.randrange(1000)}

    def maybe(share: float, **more: Any) -> None:
        if chance.random() < share:
            options.update(more)

    if name == "coreset_sc":
        options["k"] = k
        maybe(0.3, method=chance.choice(("multilevel", "two-step", "paper")))
        maybe(0.3, objective=chance.choice((*OBJECTIVE_SPECS,)))
        maybe(0.2, components=chance.choice(("all", "large")))
        maybe(0.2, effort=chance.choice(("low", "high")))
        maybe(0.2, max_imbalance=chance.choice((0.1, 0.5, 1.0)))
        maybe(0.2, max_size=chance.uniform(1, 2) * n / k + 1)
        maybe(0.1, min_size=chance.uniform(0.1, 0.9) * n / k)
    elif name in ("communities", "hierarchy"):
        maybe(0.3, objective=chance.choice(ADDITIVE_OBJECTIVES))
        maybe(0.4, resolution=10 ** chance.uniform(-1, 1))
        maybe(0.3, max_size=chance.choice((3, 10, 50, n)))
        maybe(0.3, min_size=chance.choice((1, 2, 4)))
        maybe(0.3, connectivity=chance.choice(("well", 1, 2)))
        if name == "communities":
            maybe(0.3, small=chance.choice(("apart", "unite")))
    elif name == "balanced_partition":
        options["k"] = k
        maybe(0.5, max_imbalance=chance.choice((0.01, 0.1, 0.5)))
    elif name == "cluster_path":
        options["ks"] = range(1, k + 1)
        maybe(0.3, objective=chance.choice((*OBJECTIVES,)))
    else:
        options["connectivity"] = chance.choice(("log10", 0, 1, 2))
        options["labels"] = np.random.default_rng(k).integers(0, k, n)
    return name, options


def ask(G: Any, name: str, options: dict[str, Any], threads: int = 2) -> Any:
    """The answer, or the words of a refusal."""
    try:
        with gc.limit_threads(threads):
            return getattr(gc, name)(G, **options)
    except REFUSED as problem:
        text = str(problem)
        check(text and "\n" not in text and "Traceback" not in text, f"an error without plain words: {text!r}")
        return text


def labels_of(answer: Any) -> list:
    """All labels of any answer, to compare."""
    if isinstance(answer, str):
        return [answer]
    if isinstance(answer, gc.Hierarchy):
        return [level.tolist() for level in answer.levels]
    if isinstance(answer, gc.ClusterPath):
        return [answer[k].labels.tolist() for k in sorted({1, max(row.k for row in answer.table())})]
    return answer.labels.tolist()


def check_answer(matrix: sparse.csr_array, name: str, options: dict[str, Any], answer: Any) -> None:
    """Promises of labels that can be seen without the code that made them."""
    n = matrix.shape[0]
    if isinstance(answer, gc.Hierarchy):
        below = None
        for labels in reversed(answer.levels):
            check(below is None or len({*zip(below, labels, strict=True)}) == len({*below}), "levels do not nest")
            below = labels
            if options.get("connectivity") is not None:
                check_cuts(matrix, labels, options["connectivity"])
        return
    if isinstance(answer, gc.ClusterPath):
        for row in answer.table():
            labels = answer[row.k].labels
            check(len({*labels[labels >= 0]}) == row.k, f"a path has {len({*labels})} clusters at k={row.k}")
        return
    labels, sizes = answer.labels, check_sizes(n, name, options, answer)
    remarks = " ".join(answer.remarks)
    if options.get("connectivity") is not None:
        check_cuts(matrix, labels, options["connectivity"])
    is_free = name in ("communities", "coreset_sc") and options.get("objective") != "edge_cut"
    if is_free and options.get("method") != "paper" and "connected" not in remarks and "united" not in remarks:
        for c in range(len(sizes)):
            inside = np.flatnonzero(labels == c)
            n_parts = connected_components(matrix[inside][:, inside], directed=False)[0]
            check(n_parts == 1, f"cluster {c} has {n_parts} parts; remarks: {answer.remarks}")


def check_sizes(n: int, name: str, options: dict[str, Any], answer: Any) -> np.ndarray:
    """Labels of all nodes without gaps, as many clusters as asked for, within the bounds; returns their sizes."""
    labels = answer.labels
    check(labels.shape == (n,), f"labels of shape {labels.shape} for {n} nodes")
    sizes = np.bincount(labels[labels >= 0])
    check(labels.min() >= -1 and (sizes > 0).all(), "labels have gaps")
    remarks = " ".join(answer.remarks)
    is_less = f"of k={options.get('k')} clusters have nodes" in remarks  # of the published method, which says so
    if options.get("k") is not None and not is_less:
        check(len(sizes) == options["k"], f"{len(sizes)} clusters for k={options['k']}")
    most = options.get("max_size", np.inf)
    if "max_imbalance" in options and name != "cluster_path":
        most = min(most, np.ceil((1 + options["max_imbalance"]) * n / options["k"] - 1e-9) + 0.001)
    check(len(sizes) == 0 or sizes.max() <= most, f"a cluster of {sizes.max(initial=0)} nodes, at most {most}")
    if name == "coreset_sc" and "min_size" in options:
        check(sizes.min() >= options["min_size"], f"a cluster of {sizes.min()} nodes, at least {options['min_size']}")
    return sizes


def check_cuts(matrix: sparse.csr_array, labels: np.ndarray, asked: Any) -> None:
    """The minimum cut of each cluster of two nodes and more, by NetworkX."""
    import networkx as nx

    for c in range(labels.max(initial=-1) + 1):
        inside = np.flatnonzero(labels == c)
        if not 1 < len(inside) <= 80:
            continue
        graph = nx.Graph(nx.from_scipy_sparse_array(matrix[inside][:, inside]))
        graph.remove_edges_from(nx.selfloop_edges(graph))
        least = np.log10(len(inside)) if asked in ("well", "log10") else asked
        cut = nx.stoer_wagner(graph, weight=None)[0] if nx.is_connected(graph) else 0
        check(cut > least, f"cluster {c} of {len(inside)} nodes has a cut of {cut}, expected more than {least}")
