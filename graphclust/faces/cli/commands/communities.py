"""`graphclust communities FILE`: cluster the graph of a file at a resolution."""

import argparse

from graphclust.faces.cli.commands import options as shared
from graphclust.faces.cli.commands.cluster import LABELS, PAGE, cluster_file

SUMMARY = "cluster the graph of a file at a resolution, into as many parts as that makes"
EXAMPLES = shared.examples(
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


def add_to(command: shared.Parser) -> None:
    """Add its arguments."""
    from graphclust.partition.communities import communities

    shared.add_graph_file(command)
    command.add_argument(
        "--resolution", type=_resolutions, default=1.0, metavar="NUMBER",
        help="> 0, higher for smaller parts (1); of several files one, or one for each between commas",
    )  # fmt: skip
    shared.add_parameters(
        command,
        communities,
        objective="what to optimize",
        effort="how much to try",
        components="the largest leaves the nodes of others out",
        min_size="the least nodes of a cluster",
        max_size="the most nodes of a cluster",
        small="unite clusters below --min-size with others, or leave them out",
        connectivity=f"{shared.CONNECTIVITY} labeled -1",
        time_budget="use so long to find a better partition",
    )
    shared.add_node_weight(command)
    shared.add_kind(command)
    shared.add_outputs(command, "LABELS", LABELS, PAGE)
    shared.add_seed(command)
    shared.add_force(command)


def run(options: argparse.Namespace) -> None:
    """Cluster at the resolution."""
    from graphclust.partition.communities import communities

    cluster_file(options, lambda graph, given: communities(graph, resolution=options.resolution, **given))


def _resolutions(text: str) -> float | list[float]:
    """A number, or several between commas."""
    found = shared.numbers(text)
    return found if len(found) > 1 else found[0]
