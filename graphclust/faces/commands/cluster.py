"""`graphclust cluster FILE -k K`: cluster the graph of a file."""

import argparse
import json
from typing import TYPE_CHECKING, Any

from graphclust.faces.commands.options import add_seed, everywhere, graph_file, loaded
from graphclust.faces.shell_words import in_the_shell
from graphclust.faces.terminal import show

if TYPE_CHECKING:
    from graphclust.progress import Progress

EXAMPLES = """examples: `graphclust cluster graph.mtx.gz -k 20 -o labels.tsv` for the groups that people
recognise; `graphclust cluster karate -k 4 --objective normalized_cut` for the smallest cut; `graphclust cluster karate
-k 4 --resolution 1` for the usual modularity"""


def add_to(commands: Any) -> None:
    """Add the command to the parser's."""
    from graphclust.objective.objective import OBJECTIVES
    from graphclust.partition.options import COMPONENTS, EFFORTS, METHODS

    cluster = commands.add_parser(
        "cluster",
        parents=[graph_file(), everywhere()],
        help="cluster the graph of a file into K parts",
        epilog=EXAMPLES,
    )
    cluster.add_argument("-k", type=int, required=True, metavar="K", help="number of clusters")
    cluster.add_argument("-o", "--output", metavar="LABELS", help="write each node's label here: .tsv, .json or .npz")
    cluster.add_argument("--coreset-size", type=int, metavar="M", help="draws of the sample, where one is taken")
    cluster.add_argument("--method", choices=METHODS, default="auto", help="how to cluster (auto)")
    cluster.add_argument(
        "--objective",
        choices=OBJECTIVES,
        help="what to make the parts for (modularity; with --method paper normalized_cut)",
    )
    cluster.add_argument(
        "--resolution", type=_resolution, metavar="auto|NUMBER",
        help="of modularity and constant_potts, higher for smaller parts: a number > 0, or what suits K (auto)",
    )  # fmt: skip
    cluster.add_argument("--effort", choices=EFFORTS, help="how much to try again (normal)")
    cluster.add_argument("--components", choices=COMPONENTS, help="whether tiny components may be clusters (large)")
    add_seed(cluster)
    cluster.add_argument("--force", action="store_true", help="replace an output file that is there")
    cluster.set_defaults(run=run)


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Cluster, write the labels where asked to, and print the report."""
    from graphclust.errors import ParameterError
    from graphclust.io.writing import check_target
    from graphclust.partition.label_files import kind_of, write_labels
    from graphclust.partition.pipeline import coreset_sc

    if options.k < 1:
        raise ParameterError(f"-k {options.k} is out of range, expected at least 1 cluster")
    if options.output is not None:
        kind_of(options.output)
        try:
            check_target(options.output, options.force, never=options.file)
        except OSError as problem:
            raise ParameterError(str(problem)) from None
    graph, _ = loaded(options, progress)
    clustering = coreset_sc(
        graph, options.k, method=options.method, objective=options.objective, resolution=options.resolution,
        effort=options.effort, components=options.components, coreset_size=options.coreset_size, rng=options.seed,
        progress=progress,
    )  # fmt: skip
    if options.output is not None:
        write_labels(options.output, clustering, overwrite=options.force)
    show(json.dumps(clustering.report()) if options.report == "json" else in_the_shell(str(clustering)))


def _resolution(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither 'auto' nor a number") from None
