"""`graphclust knn POINTS -k 15 -o GRAPH`: the graph of nearest neighbors of points in a file."""

import argparse
from typing import TYPE_CHECKING, Any

from graphclust.faces.commands.options import add_force, add_seed, check_output, everywhere, examples
from graphclust.faces.terminal import show

if TYPE_CHECKING:
    from graphclust.progress import Progress

EXAMPLES = examples(
    "graphclust knn points.npy -k 15 -o graph.mtx.gz             then: graphclust cluster graph.mtx.gz -k 10",
    "graphclust knn table.csv -k 15 --weights gaussian -o graph.mtx",
    "graphclust knn points.npy -k 15 --method approximate -o graph.mtx",
)


def add_to(commands: Any) -> None:
    """Add the command to the parser's."""
    knn = commands.add_parser(
        "knn", parents=[everywhere()], help="join each point of a file with its nearest neighbors", epilog=EXAMPLES
    )
    knn.add_argument("points", metavar="POINTS", help="a row for each point: .npy, .npz, .csv, .tsv or .txt")
    knn.add_argument("-k", type=int, default=15, metavar="K", help="neighbors of each point (15)")
    knn.add_argument("-o", "--output", required=True, metavar="GRAPH", help="write the graph here: .mtx, .csv ...")
    knn.add_argument("--method", choices=("exact", "approximate"), default="exact", help="how to search (exact)")
    knn.add_argument("--symmetrize", choices=("union", "mutual"), default="union", help="which pairs to join (union)")
    knn.add_argument("--weights", choices=("gaussian",), help="weights of the edges; without it all are 1")
    add_seed(knn)
    add_force(knn)
    knn.set_defaults(run=run)


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Read the points, join them, write the graph and say how large it is."""
    from graphclust import knn_graph
    from graphclust.errors import counted
    from graphclust.io.points import read_points
    from graphclust.io.save import format_of, save_graph

    format_of(options.output)
    check_output(options.output, options.force, never=options.points)
    graph = knn_graph(
        read_points(options.points), options.k, method=options.method, symmetrize=options.symmetrize,
        weights=options.weights, rng=options.seed, progress=progress,
    )  # fmt: skip
    save_graph(options.output, graph, overwrite=options.force)
    if not options.quiet:
        show(f"{counted(graph.n_nodes, 'node')}, {counted(graph.n_edges, 'edge')} in {options.output}")
