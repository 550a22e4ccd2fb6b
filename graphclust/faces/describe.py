"""Facts about a graph, to be read before clustering it, as numbers and as text."""

import shlex
from typing import Any

import numpy as np

from graphclust.errors import amount
from graphclust.graph.container import GraphLike
from graphclust.io.edges import bytes_to_load
from graphclust.io.graph_input import as_graph
from graphclust.io.read_file import LoadInfo

__all__ = ["graph_facts"]


MESH, MOST_OF_A_MESH, UNEVEN = 100, 64, 4.0  # nodes at least; neighbors of one at most, and as a multiple of the mean
# Bytes while clustering: measured where it needs the most, on sparse graphs that several threads try at a time.
PER_NODE, PER_ENTRY = 220, 65


def graph_facts(G: GraphLike, info: LoadInfo | None = None) -> dict[str, Any]:
    """Size, weights, degrees, components, isolated nodes, loops, symmetry and memory of a graph, ready for JSON.

    G : anything `as_graph` takes.
    info : what `load_graph(..., return_info=True)` said of its file.

    `memory` holds bytes: "graph" of its arrays, "to_load" about the most at a time while it was read (None: no info),
    "to_cluster" at most while `coreset_sc` works on it with its defaults: the peak itself depends on the number of
    clusters and on the method that is chosen, and is a fraction of that on dense graphs.

    `kind` is "symmetric", "unsymmetric", "bipartite" or "mesh", and `proposals` are commands that suit it.

    Raises what `as_graph` does.

    >>> import networkx as nx
    >>> facts = graph_facts(nx.path_graph(4))
    >>> facts["n_edges"], facts["degrees"]["max"], facts["n_components"]
    (3, 2.0, 1)
    """
    graph = as_graph(G)
    n_neighbors = np.diff(graph.indptr)
    component_sizes, to_load = np.bincount(graph.components), None
    arrays = (graph.indptr, graph.indices, graph.weights, graph.degrees, graph.loops)
    n_bytes = sum(array.nbytes for array in arrays if array is not None)
    if info is not None:
        is_weighted = graph.weights is not None
        to_load = bytes_to_load(graph.n_nodes, info.counts.entries, graph.n_entries, is_weighted, info.n_bytes)
    facts: dict[str, Any] = {
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "n_loops": int(np.count_nonzero(graph.loops)),
        "n_isolated": int(graph.isolated.sum()),
        "n_components": graph.n_components,
        "largest_component": int(component_sizes.max()),
        "weights": None if graph.weights is None else _spread(graph.weights),
        "degrees": _spread(graph.degrees),
        "neighbors": _spread(n_neighbors),
        "named_nodes": graph.nodes is not None,
        "text_names": graph.nodes is not None and isinstance(graph.nodes[0], str),
        "memory": {
            "graph": n_bytes,
            "to_load": to_load,
            "to_cluster": n_bytes + PER_NODE * graph.n_nodes + PER_ENTRY * graph.n_entries,
        },
    }
    if info is not None:
        facts |= {"path": info.path, "format": info.format, "compression": info.compression}
        facts["entries_in_file"] = info.counts.entries
        facts["directions"] = {
            "one": info.counts.one_way,
            "two_equal": info.counts.two_way - info.counts.unequal,
            "two_unequal": info.counts.unequal,
        }
        facts["n_duplicates"] = info.counts.duplicates
        facts["n_zeros"] = info.counts.zeros
    facts["remarks"] = list(graph.remarks)
    facts["kind"], facts["proposals"] = kind_of(facts), proposals_for(facts)
    return facts


def kind_of(facts: dict[str, Any]) -> str:
    """The kind that `graph_facts` says; nodes of a mesh have few neighbors, about as many each, and no names."""
    most = facts["neighbors"]["max"]
    if any(remark.startswith("bipartite:") for remark in facts["remarks"]):
        return "bipartite"
    if any(remark.startswith("the graph was directed") for remark in facts["remarks"]):
        return "unsymmetric"
    is_even = most <= MOST_OF_A_MESH and most <= UNEVEN * facts["neighbors"]["mean"]
    return "mesh" if facts["n_nodes"] >= MESH and is_even and not facts["text_names"] else "symmetric"


def proposals_for(facts: dict[str, Any], reading: str = "") -> list[str]:
    """Commands to run next on a graph of that kind, and why; reading : options by which its file was read, as typed."""
    file = " ".join([shlex.quote(facts.get("path", "FILE")), *([reading] if reading else [])])
    by_kind = {
        "bipartite": [
            f"graphclust communities {file} --kind bipartite : clusters that hold rows and columns",
            f"graphclust partition {file} --bipartite -k 8 --permutation p.txt : rows and columns in equal parts",
        ],
        "unsymmetric": [
            f"graphclust communities {file} --kind directed : sources and targets, by directed modularity",
            f"graphclust communities {file} --symmetrize sum : an edge weighs what both directions do; max: the larger",
            f"graphclust communities {file} --kind bipartite : rows and columns are different nodes",
            f"graphclust partition {file} --symmetrize sum -k 8 --reordered B.mtx : blocks on the diagonal",
        ],
        "mesh": [
            f"graphclust partition {file} -k 8 -o parts.txt --to metis : equal parts with the smallest edge cut",
            f"graphclust partition {file} -k 8 --reordered B.mtx : their blocks on the diagonal",
            f"graphclust communities {file} : clusters of whatever sizes, if it is not a mesh",
        ],
        "symmetric": [
            f"graphclust communities {file} : as many clusters as the usual modularity makes",
            f"graphclust cluster {file} -k 8 : exactly 8 clusters; without -k as many as the graph shows",
        ],
    }
    return by_kind[kind_of(facts)]


def as_text(facts: dict[str, Any]) -> str:
    """The facts of `graph_facts`, one a line, and what to do next."""
    rows = [*facts_in_words(facts), ("kind", facts["kind"]), *(("next", text) for text in facts["proposals"])]
    return "\n".join(f"{name:12s}{text}" for name, text in rows)


def facts_in_words(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The facts of `graph_facts`, each with its name."""
    rows = []
    if "path" in facts:
        packed = f", {facts['compression']}" if facts["compression"] else ""
        rows = [("file", facts["path"]), ("format", facts["format"].replace("_", " ") + packed)]
    named = " (with names or gaps in their ids)" if facts["named_nodes"] else ""
    rows.append(("nodes", f"{facts['n_nodes']:,}{named}"))
    rows.append(("edges", f"{facts['n_edges']:,}, of which {amount(facts['n_loops'], 'self-loop')}"))
    if "directions" in facts:
        ways = facts["directions"]
        rows.append((
            "directions",
            f"{amount(ways['two_equal'], 'edge')} listed both ways, {ways['one']:,} one way, "
            f"{ways['two_unequal']:,} both ways with unequal weights",
        ))  # fmt: skip
    rows.append(("weights", "none" if facts["weights"] is None else _spread_text(facts["weights"])))
    rows.append(("degrees", _spread_text(facts["degrees"])))
    if facts["weights"] is not None:
        rows.append(("neighbors", _spread_text(facts["neighbors"])))
    share = facts["largest_component"] / facts["n_nodes"]
    largest = f"the largest of {amount(facts['largest_component'], 'node')} ({share:.1%})"
    rows.append(("components", f"{facts['n_components']:,}, {largest}"))
    rows.append(("isolated", amount(facts["n_isolated"], "node")))
    memory = facts["memory"]
    words = [f"{_size(memory['graph'])} for the graph"]
    words += [f"about {_size(memory['to_load'])} while it was read"] if memory["to_load"] else []
    words += [f"at most {_size(memory['to_cluster'])} while clustering"]
    rows.append(("memory", ", ".join(words)))
    return rows + [("note", remark) for remark in facts["remarks"]]


def _spread(values: np.ndarray) -> dict[str, float]:
    if len(values) == 0:
        return dict.fromkeys(("min", "median", "mean", "max"), 0.0)
    return {name: float(getattr(np, name)(values)) for name in ("min", "median", "mean", "max")}


def _spread_text(spread: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:,.6g}" for name, value in spread.items())


def _size(n_bytes: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.3g} GiB"
