"""`graphclust communities FILE`: cluster the graph of a file at a resolution."""

import argparse
from typing import TYPE_CHECKING

from graphclust.faces.cli.commands.cluster import add_outputs, cluster_file
from graphclust.faces.cli.commands.options import (
    Parser,
    add_bounds,
    add_connectivity,
    add_force,
    add_graph_file,
    add_kind,
    add_seed,
    examples,
    node_weights,
    numbers,
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
    from graphclust.engine.engine import EFFORTS
    from graphclust.objective.objective import ADDITIVE_OBJECTIVES
    from graphclust.partition.communities import COMPONENTS, SMALL

    add_graph_file(command)
    command.add_argument(
        "--resolution", type=_resolutions, default=1.0, metavar="NUMBER",
        help="> 0, higher for smaller parts (1); of several files one, or one for each between commas",
    )  # fmt: skip
    command.add_argument(
        "--objective", choices=ADDITIVE_OBJECTIVES, default="modularity", help="what to optimize (modularity)"
    )
    command.add_argument("--effort", choices=EFFORTS, default="normal", help="how much to try (normal)")
    command.add_argument(
        "--components", choices=COMPONENTS, default="all", help="the largest leaves the nodes of others out (all)"
    )
    add_bounds(command, "min_size", "max_size")
    add_connectivity(command, "labeled -1")
    command.add_argument(
        "--small", choices=SMALL, default="unite", help="unite clusters below --min-size with others, or leave them out"
    )
    command.add_argument("--time-budget", type=float, metavar="SECONDS", help="use so long to find a better partition")
    add_kind(command)
    add_outputs(command)
    add_seed(command)
    add_force(command)


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Cluster at the resolution."""
    from graphclust.partition.communities import communities

    def call(graph: "Graph") -> "Clustering":
        return communities(
            graph, resolution=options.resolution, objective=options.objective, effort=options.effort,
            components=options.components, min_size=options.min_size, max_size=options.max_size,
            small=options.small, node_weight=node_weights(options, graph), connectivity=options.connectivity,
            time_budget=options.time_budget, rng=options.seed, progress=progress,
        )  # fmt: skip

    cluster_file(options, call, progress)


def _resolutions(text: str) -> float | list[float]:
    """A number, or several between commas."""
    found = numbers(text)
    return found if len(found) > 1 else found[0]
