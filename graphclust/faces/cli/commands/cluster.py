"""`graphclust cluster FILE -k K`: cluster the graph of a file."""

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphclust.errors import Interrupted, ParameterError
from graphclust.faces.cli.commands import options as shared
from graphclust.faces.cli.standard_input import input_name
from graphclust.faces.cli.terminal import show_data

if TYPE_CHECKING:
    from graphclust import Clustering

SUMMARY = "cluster the graph of a file into K parts"
EXAMPLES = shared.examples(
    "graphclust cluster graph.mtx.gz -k 20 -o labels.tsv        the groups that people recognize",
    "graphclust cluster karate                                  as many as the graph shows",
    "graphclust cluster karate -k 4 --objective normalized_cut  the smallest cut",
    "graphclust cluster karate -k 4 --resolution 1              the usual modularity",
    "graphclust cluster graph.txt -k 9 --min-size 30            none smaller; partition makes equal parts",
    "graphclust cluster graph.txt -k 9 --html report.html       with a page for the browser",
    "graphclust cluster big.mtx -k 500 --time-budget 60         what a minute can do",
    "zcat edges.gz | graphclust cluster - -k 8 -o - | sort -k 2n  in a pipe",
)
LABELS = (
    "write each node's label here: .tsv, .csv, .json, .npz, .part.K (as of METIS), .graphml or .gexf (the graph with "
    "its clusters), or - for standard output, in place of the report"
)
PAGE = "write a report for the browser here; takes some more clusterings"
REPEATS = 3  # clusterings without a tenth of the edges, for the stability of each cluster
BEYOND, AT_LEAST = 2, 20  # the path goes to twice the k asked for, and to 20


def add_to(command: shared.Parser) -> None:
    """Add its arguments."""
    from graphclust.partition.coreset_sc import coreset_sc

    shared.add_graph_file(command)
    command.add_argument("-k", type=int, metavar="K", help="number of clusters; by default what the graph shows")
    shared.add_outputs(command, "LABELS", LABELS, PAGE)
    command.add_argument("--coreset-size", type=int, metavar="M", help="draws of the sample, where one is taken")
    shared.add_parameters(
        command,
        coreset_sc,
        method="how to cluster",
        objective="what to make the parts for (modularity; with --method paper normalized_cut)",
        resolution="of modularity and constant_potts, higher for smaller parts: > 0, or what suits K (auto)",
        effort="how much to try again (normal); high takes 4 times as long, up to 14 times",
        components="which are searched: those that are worth a cluster (large), or others",
        min_size="the least nodes of a cluster",
        max_size="the most nodes of a cluster",
        time_budget="use so long to find a better partition",
    )
    shared.add_node_weight(command)
    shared.add_kind(command)
    shared.add_seed(command)
    shared.add_force(command)


def run(options: argparse.Namespace) -> None:
    """Cluster into k parts."""
    from graphclust.coreset.options import Coreset
    from graphclust.partition.coreset_sc import coreset_sc

    if options.k is not None and options.k < 1:
        raise ParameterError(f"-k {options.k} is out of range, expected at least 1 cluster")
    coreset = None if options.coreset_size is None else Coreset(size=options.coreset_size)
    cluster_file(options, lambda graph, given: coreset_sc(graph, options.k, coreset=coreset, **given))


def cluster_file(options: argparse.Namespace, call: Callable[[Any, dict[str, Any]], "Clustering"]) -> None:
    """Load the graph, cluster it by the call, write the labels and the page where asked to, and print the report."""
    from graphclust.results.label_files import kind_of, print_labels, write_labels

    if options.output not in (None, "-"):
        kind_of(options.output)
    written = shared.check_outputs(options, output="labels", html="page")
    graph = shared.load_kind(options)
    try:
        clustering = call(graph, shared.parameters_of(options, graph))
    except Interrupted as stop:
        if "labels" not in written:
            raise
        write_labels(options.output, stop.best, overwrite=options.force)
        raise KeyboardInterrupt(f"the best labels so far are in {options.output}") from None
    clustering.parameters.update(shared.reading_options(options))
    if "labels" in written:
        write_labels(options.output, clustering, overwrite=options.force)
    if options.html is not None:
        _write_page(options, clustering)
    if options.output == "-":
        print_labels(clustering, show_data)
    else:
        shared.print_report(options, clustering.report() | {"written": written}, str(clustering), written)


def _write_page(options: argparse.Namespace, clustering: "Clustering") -> None:
    """Write the page, with the path of k and how stable the clusters are unless the time budget is used up."""
    from graphclust.faces.html.document import write_report
    from graphclust.profile.path_builder import cluster_path

    certainty = path = None
    common: dict[str, Any] = {"rng": options.seed, "progress": options.progress}
    if not options.progress.out_of_time():
        certainty = clustering.certainty(n_repeats=REPEATS, **common)
    n_connected = int((~clustering.isolated).sum())
    if not options.progress.out_of_time():
        most = min(max(BEYOND * clustering.k, AT_LEAST), n_connected)
        path = cluster_path(clustering.graph, range(1, most + 1), **common | {"objective": clustering.objective})
    write_report(
        options.html, clustering, title=os.path.basename(input_name(options.file)), certainty=certainty, path=path,
        command=options.typed, overwrite=options.force,
    )  # fmt: skip
