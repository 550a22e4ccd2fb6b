"""`graphclust compare A B`: how well two files of labels agree, and with a graph, which is the better partition."""

import argparse
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, cast

from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError, amount
from graphclust.faces.cli.options import Command, Parser, Runner, add_graph_file, load_input, load_kind
from graphclust.faces.cli.terminal import show

if TYPE_CHECKING:
    from graphclust.graph.layers import LayeredGraph

MEASURES = {
    "adjusted_rand_index": "adjusted Rand index",
    "normalized_mutual_information": "normalized mutual information",
    "adjusted_mutual_information": "adjusted mutual information",
    "v_measure": "V-measure",
    "element_centric_similarity": "element-centric similarity",
    "variation_of_information": "variation of information",
}
WORDS = {"n_well_connected": "well-connected clusters"}
MOST_SIZES = 10_000  # pairs of sizes of clusters, which take the adjusted mutual information a second


def compare(command: Parser) -> Runner:
    """Compare two files of labels, which `run` does."""
    from graphclust.io.kinds import KINDS

    add_graph_file(command, "--graph")
    command.add_argument("--kind", choices=KINDS, help="of the graph: which modularity is asked for (undirected)")
    command.add_argument("one", metavar="A", help="labels of nodes, as `graphclust cluster -o` writes them")
    command.add_argument("other", metavar="B", help="other labels of the same nodes, in any order")
    return run


def run(options: argparse.Namespace) -> None:
    """Read both, compare and print."""
    import numpy as np

    from graphclust.engine.connectivity import count_well_connected, minimum_cuts
    from graphclust.objective import agreement
    from graphclust.objective.cuts import edge_cut, modularity, normalized_cut
    from graphclust.objective.labels import labels_on

    both = one, other = _labels(options.one), _labels(options.other)
    files = ((one, options.one), (other, options.other))
    for (here, of), (there, path) in (files, files[::-1]):
        missing = next((node for node in here if node not in there), None)
        if missing is not None:
            raise GraphValidationError(f"{path} has no label for node {missing!r} of {of}, expected the same nodes")
    facts: dict[str, Any] = {"n_nodes": len(one), "n_clusters": [len({*labels.values()} - {-1}) for labels in both]}
    n_sizes = [len({*Counter(labels.values()).values()}) for labels in both]
    too_long = {"adjusted_mutual_information"} if n_sizes[0] * n_sizes[1] > MOST_SIZES else ()
    facts |= {name: getattr(agreement, name)(one, other) for name in MEASURES if name not in too_long}
    if options.file is not None and options.kind not in (None, "undirected"):
        options.more, options.layer_weights, options.normalize = [], None, True
        layered = cast("LayeredGraph", load_kind(options))
        on_rows = [labels_on(layered.combined, labels, path) for labels, path in files]
        facts |= {"kind": options.kind, "modularity": [layered.modularity(labels) for labels in on_rows]}
    elif options.file is not None:
        graph, _ = load_input(options)
        on_rows = [labels_on(graph, labels, path) for labels, path in files]
        for measure in (normalized_cut, modularity, edge_cut):
            facts[measure.__name__] = [measure(graph, labels) for labels in on_rows]
        facts["n_well_connected"] = [
            count_well_connected(minimum_cuts(graph, labels, int(labels.max()) + 1, False), np.bincount(labels + 1)[1:])
            for labels in on_rows
        ]
    if options.file is not None:
        facts["imbalance"] = [_imbalance(labels) for labels in both]
    show(json.dumps(facts) if options.report == "json" else _as_text(facts))


def _imbalance(labels: dict) -> float:
    """Nodes of the largest cluster as a multiple of the average one's."""
    sizes = [size for label, size in Counter(labels.values()).items() if label != -1]
    return max(sizes) * len(sizes) / sum(sizes) if sizes else 0.0


def _labels(path: str) -> dict:
    """Node -> label, from a file that names each node once."""
    from graphclust.results.label_files import read_labels

    try:
        nodes, labels = read_labels(path)
    except ParameterError as problem:
        raise ParameterError(str(problem).replace("path=", "")) from None
    label_of = dict(zip(nodes, labels.tolist(), strict=True))
    if len(label_of) < len(nodes):
        raise GraphFormatError("holds a label for some node twice", path)
    return label_of


def _as_text(facts: dict[str, Any]) -> str:
    """The figures of the comparison, for a terminal."""
    from graphclust.results.base import NAMES

    n_clusters = [amount(k, "cluster") for k in facts["n_clusters"]]
    lines = [
        f"{amount(facts['n_nodes'], 'node')}, in {n_clusters[0]} (A) and {n_clusters[1]} (B)",
        *(f"  {words:29s}  {facts[name]:.4f}" for name, words in MEASURES.items() if name in facts),
    ]
    if "modularity" in facts:
        lines.append(f"  {'':29s}  {'A':>10s} {'B':>10s}")
        words = WORDS | {"modularity": NAMES[facts["kind"]]} if "kind" in facts else WORDS
        for name in ("normalized_cut", "modularity", "edge_cut", "imbalance", "n_well_connected"):
            if name in facts:
                whole = name in ("edge_cut", "n_well_connected")
                a, b = (f"{value:10,.6g}" if whole else f"{value:10.4f}" for value in facts[name])
                lines.append(f"  {words.get(name, name.replace('_', ' ')):29s}  {a} {b}")
    return "\n".join(lines)


COMPARE = Command(
    "compare", "say how well two files of labels agree", compare,
    "graphclust compare mine.tsv theirs.json                   Rand index, mutual information and others",
    "graphclust compare mine.tsv theirs.tsv --graph graph.mtx  and the cuts, modularity and imbalance of each",
)  # fmt: skip
