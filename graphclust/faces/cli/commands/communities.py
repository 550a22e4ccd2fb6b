"""`graphclust communities FILE`: cluster the graph of a file at a resolution."""

import argparse
from typing import TYPE_CHECKING

from graphclust.faces.cli.commands.cluster import add_outputs, cluster_file
from graphclust.faces.cli.commands.options import (
    CONNECTIVITY,
    Parser,
    add_force,
    add_graph_file,
    add_kind,
    add_node_weight,
    add_parameters,
    add_seed,
    examples,
    numbers,
    parameters_of,
)

if TYPE_CHECKING:
    from graphclust.graph.container import Graph
    from graphclust.progress import Progress
    from graphclust.results.clustering import Clustering

SUMMARY = "cluster the graph of a file at a resolution, into as many parts as that makes"
EXAMPLES = examples(
    "graphclust communities graph.mtx.gz -o labels.tsv          the communities of the usual modularity",
    "graphclust communities graph.txt --resolution 5            more and smaller ones",
    "graphclust communities graph.txt --effort high             close to the best partition known",
    "graphclust communities graph.txt --min-size 5 --max-size 100  none outside of these",
    "graphclust communities graph.txt --connectivity well       none that a few edges part: minimum cuts above log10 n",
    "graphclust communities calls.csv --kind directed           sources and targets, by directed modularity",
    "graphclust communities sales.csv --kind bipartite          customers with what they buy",
    "graphclust communities calls.csv mails.csv                 two graphs on the same nodes",
    "graphclust communities graph.txt --time-budget 60          the best that a minute finds",
)


def add_to(command: Parser) -> None:
    """Add its arguments."""
    from graphclust.partition.communities import communities

    add_graph_file(command)
    command.add_argument(
        "--resolution", type=_resolutions, default=1.0, metavar="NUMBER",
        help="> 0, higher for smaller parts (1); of several files one, or one for each between commas",
    )  # fmt: skip
    add_parameters(
        command,
        communities,
        objective="what to optimize",
        effort="how much to try",
        components="the largest leaves the nodes of others out",
        min_size="the least nodes of a cluster",
        max_size="the most nodes of a cluster",
        small="unite clusters below --min-size with others, or leave them out",
        connectivity=f"{CONNECTIVITY} labeled -1",
        time_budget="use so long to find a better partition",
    )
    add_node_weight(command)
    add_kind(command)
    add_outputs(command)
    add_seed(command)
    add_force(command)


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Cluster at the resolution."""
    from graphclust.partition.communities import communities

    def call(graph: "Graph") -> "Clustering":
        return communities(graph, resolution=options.resolution, **parameters_of(options, graph, progress))

    cluster_file(options, call, progress)


def _resolutions(text: str) -> float | list[float]:
    """A number, or several between commas."""
    found = numbers(text)
    return found if len(found) > 1 else found[0]
