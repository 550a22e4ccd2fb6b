"""Clusterings and hierarchies as text for a terminal, as data for JSON, and as tables; trees in Newick's format."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Hashable
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphclust.checks import refuse_swapped
from graphclust.engine.likelihood import EVIDENCE, evidence_in_words
from graphclust.errors import GraphValidationError, ParameterError, amount, escape_controls
from graphclust.graph.node_order import listing_order
from graphclust.io.atomic_write import whole_file
from graphclust.objective.cuts import cut_and_volume, sum_by_label
from graphclust.objective.objective import OBJECTIVE_SPECS
from graphclust.results.file_header import header_of

if TYPE_CHECKING:
    from graphclust.results.clustering import Clustering
    from graphclust.results.hierarchy import Hierarchy

CLUSTERS_SHOWN = 10
MEMBERS = 4  # nodes of highest degree that are named
PLAIN_LABEL = re.compile(r"[A-Za-z0-9.+#@*/\\|^-]+")  # that Newick takes without quotes; an underscore means a space
# What a report has as the clustering has it; its accounts are copied.
FIGURES = (
    "kind", "n_aside", "k", "n_clusters", "modularity", "modularity_name", "objective", "resolution", "imbalance",
    "smallest_to_mean", "seed", "version",
)  # fmt: skip
ACCOUNTS = ("seconds", "entries_read", "decided", "parameters")
# What is of undirected graphs alone.
CUTS = (
    "normalized_cut", "mean_normalized_cut", "edge_cut", "volume", "conductance", "min_cuts", "n_well_connected",
    "n_boundary_nodes", "communication_volume",
)  # fmt: skip


def origin_in_lines(origin: dict[str, Any]) -> list[str]:
    """How a result came about as lines of text, without the file where there was none; see `Clustering.origin`."""
    known = {name: value for name, value in origin.items() if value is not None and name != "version"}
    written = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in known.items()]
    return [f"made by graphclust {origin['version']}", *written]


def as_data(clustering: Clustering) -> dict[str, Any]:
    """Everything but the labels, as plain Python values."""
    graph, coreset = clustering.graph, clustering.coreset
    cuts: dict[str, Any] = dict.fromkeys(CUTS)
    if clustering.layered is None:
        cuts |= {name: getattr(clustering, name) for name in CUTS if name != "mean_normalized_cut"}
        cuts |= {name: cuts[name].tolist() for name in ("volume", "conductance", "min_cuts")}
        cuts["mean_normalized_cut"] = clustering.normalized_cut / max(clustering.n_clusters, 1)
    data = {
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "weighted": graph.weights is not None,
        "n_isolated": int(graph.isolated.sum()),
        "n_components": graph.n_components,
        "layer_modularity": {str(name): value for name, value in clustering.layer_modularity.items()},
        "natural_range": None if clustering.natural_range is None else list(clustering.natural_range),
        "largest_share": float(clustering.loads.max() / clustering.loads.sum()),
        "smallest_share": float(clustering.loads.min() / clustering.loads.sum()),
        "n_pieces": clustering.n_pieces if clustering.objective == "edge_cut" else None,
        "sizes": clustering.sizes.tolist(),
        "coreset_size": None if coreset is None else len(coreset.nodes),
        "n_undecided": None if clustering.undecided is None else int(clustering.undecided.sum()),
        "remarks": list(clustering.remarks),
        "file": graph.file,
    }
    data |= {name: getattr(clustering, name) for name in FIGURES}
    return data | {name: dict(getattr(clustering, name)) for name in ACCOUNTS} | cuts


def as_text(clustering: Clustering) -> str:
    """A page for the terminal: the graph, the partition and its quality, the largest clusters, the stages."""
    graph, coreset = clustering.graph, clustering.coreset
    kind = clustering.kind
    if clustering.layered is None:
        kind = "unweighted" if graph.weights is None else "weighted"
    lines = [
        f"{amount(graph.n_nodes, 'node')}, {amount(graph.n_edges, 'edge')} ({kind}) in "
        f"{amount(clustering.n_clusters, 'cluster')}",
        *_quality(clustering),
        f"  sizes            {_shares(clustering)}",
        *_well_connected(clustering),
        f"  made for         {objective_in_words(clustering)}",
        f"  made by          {_provenance(clustering)}",
    ]
    if n_aside := clustering.n_aside:
        nodes = f"{amount(n_aside, 'node')} ({n_aside / graph.n_nodes:.1%})"
        components = amount(len(np.unique(graph.components[clustering.aside])), "component")
        lines.append(f"  aside            {nodes} of {components}, in no cluster")
    if clustering.objective == "edge_cut":
        lines.insert(
            4,
            f"  boundary         {amount(clustering.n_boundary_nodes, 'node')}, communication volume "
            f"{clustering.communication_volume:,}, {amount(clustering.n_pieces, 'connected piece')}",
        )
    if coreset is not None:
        share = len(coreset.nodes) / graph.n_nodes
        lines.append(f"  coreset          {amount(len(coreset.nodes), 'node')} ({share:.1%})")
    if clustering.undecided is not None:
        n_undecided = int(clustering.undecided.sum())
        lines.append(
            f"  undecided        {amount(n_undecided, 'node')} ({n_undecided / graph.n_nodes:.1%}), without a coreset "
            "neighbor"
        )
    if clustering.decided:
        steps = ", ".join(f"{share:.1%} by {step}" for step, share in clustering.decided.items())
        lines.append(f"  first labels     {steps}")
    if clustering.entries_read:
        passes = sum(clustering.entries_read.values()) / max(graph.n_entries, 1)
        lines.append(f"  entries read     {passes:.1f} times over")
    seconds = {**clustering.seconds, "total": sum(clustering.seconds.values())}
    width = max(map(len, seconds))
    lines += ["", *_cluster_table(clustering), ""]
    lines += [f"  {stage:{width}s} {value:9.3f} s" for stage, value in seconds.items()]
    if clustering.remarks:
        lines += ["", *(f"  note: {escape_controls(remark)}" for remark in clustering.remarks)]
    return "\n".join(lines)


def _quality(clustering: Clustering) -> list[str]:
    """Modularity, by its name, and of an undirected graph the cuts."""
    if clustering.layered is not None:
        of_layers = [f"  of {name!s:13.13} {value:.4f}" for name, value in clustering.layer_modularity.items()]
        return [f"  modularity       {clustering.modularity:.4f}   ({clustering.modularity_name})", *of_layers]
    mean = clustering.normalized_cut / max(clustering.n_clusters, 1)
    return [
        f"  normalized cut   {clustering.normalized_cut:.4f}   ({mean:.4f} a cluster)",
        f"  modularity       {clustering.modularity:.4f}",
        f"  edge cut         {clustering.edge_cut:,.6g}",
    ]


def _shares(clustering: Clustering) -> str:
    """The largest and the smallest cluster as shares of what bounds count, and as multiples of the mean."""
    of = "nodes" if clustering.node_sizes is None else "weight of the nodes"
    shares = clustering.loads / clustering.loads.sum()
    return (
        f"the largest {shares.max():.1%} of the {of}, the smallest {shares.min():.1%}; imbalance "
        f"{clustering.imbalance:.2f}, the smallest {clustering.smallest_to_mean:.2f} of the mean"
    )


def _well_connected(clustering: Clustering) -> list[str]:
    """How many clusters are well-connected, if that was asked for: it may take a tenth of the time of clustering."""
    if "min_cuts" not in vars(clustering) and "connectivity" not in clustering.parameters:
        return []
    return [f"  well-connected   {clustering.n_well_connected:,} of {amount(clustering.n_clusters, 'cluster')}, whose "
            "minimum cut is above log10 of their nodes"]  # fmt: skip


def _provenance(clustering: Clustering) -> str:
    """Version, method, seed and file in a line."""
    method, file = clustering.parameters.get("method"), clustering.graph.file
    parts = [f"graphclust {clustering.version}", "" if method is None else f"method {method}"]
    parts += ["" if clustering.seed is None else f"seed {clustering.seed}", "" if file is None else f"of {file}"]
    return ", ".join(filter(None, parts))


def objective_in_words(clustering: Clustering, *, with_range: bool = True) -> str:
    """The objective in words, with its resolution and, if wanted, the range in which its clusters are natural."""
    text = OBJECTIVE_SPECS[clustering.objective].words
    if clustering.resolution is not None:
        text += f" at resolution {clustering.resolution:.3g}"
    if with_range and clustering.natural_range is not None:
        lowest, highest = clustering.natural_range
        found = amount(clustering.n_clusters, "cluster is", "clusters are")
        text += f"; {found} natural from {lowest:.3g} to {highest:.3g}{'' if lowest < highest else ', an empty range'}"
    return text


def _cluster_table(clustering: Clustering) -> list[str]:
    """Lines for the largest clusters, and one for all others."""
    if clustering.layered is not None:
        shown = clustering.sizes[:CLUSTERS_SHOWN].tolist()
        return ["  cluster      nodes", *(f"  {c:7d} {size:10,d}" for c, size in enumerate(shown))]
    rows = ["  cluster      nodes         volume   conductance"]
    shown = zip(clustering.sizes[:CLUSTERS_SHOWN], clustering.volume, clustering.conductance, strict=False)
    rows += [f"  {c:7d} {size:10,d} {volume:14,.6g} {cut:13.4f}" for c, (size, volume, cut) in enumerate(shown)]
    hidden = clustering.n_clusters - CLUSTERS_SHOWN
    if hidden > 0:
        rest = clustering.sizes[CLUSTERS_SHOWN:]
        rows.append(f"  ... {hidden} more, of {rest.min():,} to {rest.max():,} nodes; "
                    f"median conductance {np.median(clustering.conductance):.4f}")  # fmt: skip
    return rows


class ClusterRow(NamedTuple):
    """A cluster: its label, nodes and volume, and how well it holds together.

    density : mean weight between two of its nodes; without weights the share of pairs that are linked; 0 for one node.
    conductance, minimum_cut : as `Clustering.conductance` and `Clustering.min_cuts`. members : of highest degree, four.
    """

    cluster: int
    nodes: int
    volume: float
    density: float
    conductance: float
    minimum_cut: float
    members: tuple[Hashable, ...]


def table_of(clustering: Clustering) -> list[ClusterRow]:
    """A row for each cluster, in the order of the labels."""
    sizes, volume, k = clustering.sizes, clustering.volume, clustering.n_clusters
    cut = cut_and_volume(clustering.graph, clustering.labels, k)[0]
    inside = volume - cut - sum_by_label(clustering.graph.loops, clustering.labels, k)
    density = inside / np.maximum(sizes * (sizes - 1), 1)
    columns = (sizes, volume, density, clustering.conductance, clustering.min_cuts)
    rows = zip(*(values.tolist() for values in columns), leading_nodes(clustering, k), strict=True)
    return [ClusterRow(c, *row) for c, row in enumerate(rows)]


def leading_nodes(clustering: Clustering, n_clusters: int) -> list[tuple[Hashable, ...]]:
    """The nodes of highest degree of the first clusters."""
    order = np.lexsort((-clustering.graph.degrees, clustering.labels))
    ends = np.count_nonzero(clustering.labels < 0) + np.cumsum(clustering.sizes)
    starts, nodes = ends - clustering.sizes, clustering.nodes
    return [
        tuple(nodes[row] for row in order[starts[c] : min(ends[c], starts[c] + MEMBERS)].tolist())
        for c in range(n_clusters)
    ]


def as_json(hierarchy: Hierarchy) -> str:
    """See `Hierarchy.to_json`."""
    graph, members = hierarchy.graph, hierarchy.listed_members()
    plain = [name.item() if isinstance(name, np.generic) else name for name in hierarchy.listed_nodes()]
    fits = [isinstance(name, str | int) or (isinstance(name, float) and isfinite(name)) for name in plain]
    names = [name if of_json else str(name) for name, of_json in zip(plain, fits, strict=True)]
    leaves: dict[int, tuple[float, float]] = {}
    if hierarchy.layered is None:  # what `load_model` reads
        sums = cut_and_volume(graph, hierarchy.levels[-1], len(hierarchy.ids[-1]))
        leaves = {one: (cut, volume) for one, cut, volume in zip(hierarchy.ids[-1].tolist(), *sums, strict=True)}
    clusters = []
    for one in hierarchy.clusters:
        told = one._asdict() | {"nodes": [names[place] for place in members[one.id].tolist()]}
        if one.id in leaves:
            told["cut"], told["volume"] = map(float, leaves[one.id])
        if one.level == 0 and hierarchy.node_sizes is not None:
            told["node_sizes"] = hierarchy.node_sizes[listing_order(graph)][members[one.id]].tolist()
        clusters.append(told)
    held = header_of("hierarchy", hierarchy.origin) | {"n_levels": len(hierarchy.levels)}
    held |= {"max_size": hierarchy.max_size, "resolutions": list(hierarchy.resolutions), "n_ids": hierarchy.n_ids}
    # A number that is no whole one is written, but not read as a name.
    held |= {"named": graph.nodes is not None, "names_are_texts": any(type(name) not in (str, int) for name in plain)}
    held |= {"remarks": list(hierarchy.remarks), "clusters": clusters}
    return json.dumps(held, ensure_ascii=False, default=str)


def as_newick(hierarchy: Hierarchy) -> str:
    """See `Hierarchy.to_newick`."""
    names, members = [*map(str, hierarchy.listed_nodes())], hierarchy.listed_members()
    labels = [name if PLAIN_LABEL.fullmatch(name) else "'" + name.replace("'", "''") + "'" for name in names]
    inner: dict[int, list[str]] = {one.id: [] for one in hierarchy.clusters}
    roots: list[str] = []
    for one in reversed(hierarchy.clusters):  # those below come after those above
        parts = [labels[place] for place in members[one.id].tolist()] if one.is_leaf else inner[one.id][::-1]
        text = f"({','.join(parts)}){one.id}"
        (roots if one.parent is None else inner[one.parent]).append(text)
    return f"({','.join(reversed(roots))});"


def rows_of(hierarchy: Hierarchy, separator: str) -> str:
    """The records as a table of text with a header."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(("node", "cluster", "level", "parent", "is_leaf"))
    writer.writerows((*one[:4], int(one.is_leaf)) for one in hierarchy.records())
    return text.getvalue()


WRITERS: dict[str, Callable[[Hierarchy], str]] = {
    ".json": as_json,
    ".csv": partial(rows_of, separator=","),
    ".tsv": partial(rows_of, separator="\t"),
    ".nwk": as_newick,
}


def writer_for(path: str | os.PathLike) -> Callable[[Hierarchy], str]:
    """What makes the text of a file with that ending; ParameterError for another."""
    ending = os.path.splitext(os.fsdecode(path))[1].lower()
    if ending not in WRITERS:
        raise ParameterError(
            f"path {os.fsdecode(path)!r} has the ending {ending!r}, expected one of {', '.join(WRITERS)}"
        )
    return WRITERS[ending]


def write(path: str | os.PathLike, hierarchy: Hierarchy, overwrite: bool) -> None:
    """See `Hierarchy.save`."""
    refuse_swapped(path, "hierarchy.save(path)")
    make_text = writer_for(path)
    if make_text is not as_json:
        _refuse_names([*map(str, hierarchy.nodes)], os.fsdecode(path))
    text = make_text(hierarchy).encode(errors="backslashreplace")  # a lone surrogate as JSON has it
    with whole_file(path, overwrite, lambda: len(text)) as file:
        file.write(text)


def _refuse_names(names: list[str], path: str) -> None:
    """Refuse names that a table or a tree could not hold, or could not tell apart; JSON can."""
    remedy = "save a .json file, which can"
    if len({*names}) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise GraphValidationError(f"two nodes are named {twice!r} as text, which {path!r} cannot tell apart; {remedy}")
    bad = next((name for name in names if not name.isascii() and name != name.encode(errors="replace").decode()), None)
    if bad is not None:
        raise GraphValidationError(f"node {bad!r} holds half of a character, which {path!r} cannot hold; {remedy}")


def as_page(hierarchy: Hierarchy) -> str:
    """The levels in a few lines, and where they came from."""
    graph, n_levels, n_clusters = hierarchy.graph, len(hierarchy.levels), len(hierarchy.clusters)
    lines = [f"{amount(graph.n_nodes, 'node')}, {amount(n_levels, 'level')}, {amount(n_clusters, 'cluster')} in all"]
    has_evidence = hierarchy.layered is None
    lines.append("   level   clusters    largest   smallest   modularity" + "     evidence" * has_evidence)
    for depth, modularity in enumerate(hierarchy.modularities):
        sizes = hierarchy.sizes_on(depth)
        evidence = f" {evidence_in_words(hierarchy.nats_saved[depth]):>12}" if has_evidence else ""
        lines.append(f"{depth:8d} {len(sizes):10,d} {sizes.max():10,d} {sizes.min():10,d} {modularity:12.4f}{evidence}")
    figures = EVIDENCE if has_evidence else f"modularity is {hierarchy.coarsest.modularity_name}"
    remarks = [figures, *hierarchy.remarks]
    if has_evidence and max(hierarchy.nats_saved) <= 0.0 and len(np.unique(graph.components[~graph.isolated])) == 1:
        remarks.append("no level describes the edges in fewer bits than one cluster: the edges alone show no more")
    return "\n".join([*lines, *map("  {}".format, remarks)])
