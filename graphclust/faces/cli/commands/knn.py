"""`graphclust knn POINTS -k 15 -o GRAPH`: the graph of nearest neighbors of points in a file."""

import argparse

from graphclust.errors import amount
from graphclust.faces.cli.commands.graph_output import WHERE, add_format, check_graph_output, write_graph
from graphclust.faces.cli.commands.options import Parser, add_force, add_seed, as_output, examples
from graphclust.faces.cli.standard_input import input_name, standard_input
from graphclust.faces.cli.terminal import show

SUMMARY = "join each point of a file with its nearest neighbors"
EXAMPLES = examples(
    "graphclust knn points.npy -k 15 -o graph.mtx.gz             then: graphclust cluster graph.mtx.gz -k 10",
    "graphclust knn table.csv -k 15 --weights gaussian -o graph.mtx",
    "graphclust knn cells.npy -k 14 --metric cosine --weights umap -o graph.npz   as UMAP joins 15, itself included",
    "graphclust knn points.npy -k 15 --method approximate -o graph.mtx",
    "zcat table.csv.gz | graphclust knn - -o - | graphclust cluster - -k 10   in a pipe",
)
POINTS = "a row for each point: .npy, .npz, .csv, .tsv or .txt, or - for any of these from standard input"


def add_to(command: Parser) -> None:
    """Add its arguments."""
    from graphclust.points.neighbors.graphs import RULES, WEIGHTS
    from graphclust.points.neighbors.search import METHODS, METRICS, SYNONYMS

    command.add_argument("points", metavar="POINTS", help=POINTS)
    command.add_argument("-k", type=int, default=15, metavar="K", help="neighbors of each point (15)")
    command.add_argument(
        "-o", "--output", required=True, metavar="GRAPH", type=as_output, help=f"write the graph here: {WHERE}"
    )
    add_format(command)
    command.add_argument(
        "--metric", choices=(*METRICS, *SYNONYMS), default="euclidean",
        help="what is near (euclidean); precomputed: the rows are distances to all points",
    )  # fmt: skip
    command.add_argument("--method", choices=METHODS, default="exact", help="how to search (exact)")
    command.add_argument(
        "--n-probes", type=int, default=16, metavar="N", help="lists an approximate search looks through (16)"
    )
    command.add_argument("--symmetrize", choices=RULES, default="union", help="which pairs to join (union)")
    command.add_argument(
        "--weights", choices=WEIGHTS, help="weights of the edges: by a scale for each point, or those of UMAP; else 1"
    )
    add_seed(command)
    add_force(command)


def run(options: argparse.Namespace) -> None:
    """Read the points, join them, write the graph and say how large it is."""
    from graphclust import knn_graph
    from graphclust.io.text.points import points_of, read_points

    check_graph_output(options, never=options.points, option="-o ")
    name = options.points
    graph = knn_graph(
        points_of(standard_input(), input_name(name)) if name == "-" else read_points(name), options.k,
        metric=options.metric, method=options.method, n_probes=options.n_probes, symmetrize=options.symmetrize,
        weights=options.weights, rng=options.seed, progress=options.progress,
    )  # fmt: skip
    write_graph(options, graph)
    if not options.quiet and options.output != "-":
        show(f"{amount(graph.n_nodes, 'node')}, {amount(graph.n_edges, 'edge')} in {options.output}")
