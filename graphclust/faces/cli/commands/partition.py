"""`graphclust partition FILE -k K`: parts of equal size with the smallest edge cut."""

import argparse
import io
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from graphclust.faces.cli.commands.options import (
    Parser,
    add_force,
    add_graph_file,
    add_node_weight,
    add_parameters,
    add_seed,
    as_output,
    check_output,
    examples,
    load_input,
    parameters_of,
    place_of,
    print_report,
    reading_options,
)
from graphclust.faces.cli.terminal import show_data

if TYPE_CHECKING:
    import numpy as np

    from graphclust.io.read_file import LoadInfo
    from graphclust.progress import Progress
    from graphclust.results.clustering import Clustering

SUMMARY = "cut a graph or matrix into K parts of equal size"
EXAMPLES = examples(
    "graphclust partition A.mtx -k 64 -o parts.txt --to metis       one number a line, as METIS writes them",
    "graphclust partition A.mtx -k 64 --imbalance 0.01 -o parts.tsv  names and parts, sizes within 1 %",
    "graphclust partition A.mtx -k 8 --reordered B.mtx               rows and columns grouped by part",
)
NO_SUGGESTION = (
    "a small cut suggests none: what the parts are for does, such as the processors; graphclust cluster, without -k, "
    "takes the number that the graph shows"
)
OUTPUTS = {"output": "labels", "permutation": "permutation", "reordered": "reordered matrix"}


def add_to(command: Parser) -> None:
    """Add its arguments."""
    from graphclust.partition.balanced_partition import IMBALANCE, balanced_partition

    add_graph_file(command)
    command.add_argument("-k", type=int, metavar="K", help="number of parts, which has to be given")
    command.add_argument(
        "--imbalance", dest="max_imbalance", type=float, default=IMBALANCE, metavar="SHARE",
        help=f"how much more than the average part one may hold ({IMBALANCE})",
    )  # fmt: skip
    command.add_argument(
        "--min-imbalance", type=float, metavar="SHARE",
        help="how much less one may hold, 1 for any amount (as --imbalance, as far as weights let)",
    )  # fmt: skip
    command.add_argument(
        "--target-weights", type=float, nargs="+", metavar="WEIGHT",
        help="how much each part is to hold beside the others, such as the speeds of machines (equal)",
    )  # fmt: skip
    command.add_argument("--contiguous", action="store_true", help="every part in one piece, as far as that is found")
    command.set_defaults(parameters=["max_imbalance", "min_imbalance", "target_weights", "contiguous"])
    add_parameters(
        command, balanced_partition, effort="how much to try", time_budget="use so long to find a smaller cut"
    )
    add_node_weight(command)
    command.add_argument(
        "-o", "--output", metavar="PARTS", type=as_output,
        help="write each node's part here, in a format by the ending, or - for standard output",
    )  # fmt: skip
    command.add_argument("--to", choices=("metis",), help="write PARTS as METIS does, whatever the ending is")
    command.add_argument(
        "--permutation", metavar="FILE", help="write the rows grouped by part here, one number from 0 a line"
    )
    command.add_argument(
        "--reordered", metavar="FILE", help="write the matrix here with its rows and columns grouped by part"
    )
    add_seed(command)
    add_force(command)


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Partition, write what was asked for, and print the report."""
    from graphclust.errors import Interrupted, ParameterError
    from graphclust.partition.balanced_partition import balanced_partition

    if options.k is None:
        raise ParameterError(f"-k was not given, expected the number of parts; {NO_SUGGESTION}")
    files = check_outputs(options)
    options.min_imbalance = "same" if options.min_imbalance is None else options.min_imbalance
    graph, info = load_input(options, progress, of_pattern=True)
    try:
        parts = balanced_partition(graph, options.k, **parameters_of(options, graph, progress))
    except Interrupted as stop:
        if not files:
            raise
        _write(options, stop.best, info)
        raise KeyboardInterrupt(f"the best parts so far are in {', '.join(files.values())}") from None
    parts.parameters.update(reading_options(options))
    _write(options, parts, info)
    if "-" not in (options.output, options.permutation):
        print_report(options, parts.report() | {"written": files}, str(parts), files)


def check_outputs(options: argparse.Namespace) -> dict[str, str]:
    """The outputs and their formats; impossible ones are refused before any work."""
    from graphclust.errors import ParameterError
    from graphclust.io.save import format_of
    from graphclust.results.label_files import kind_of

    if options.to is not None and options.output is None:
        raise ParameterError("--to says how to write the parts, expected -o PARTS too")
    if options.output not in (None, "-") and options.to is None:
        kind_of(options.output)
    if options.output == options.permutation == "-":
        raise ParameterError("-o and --permutation both name standard output, expected one of them to name a file")
    if options.reordered is not None:
        try:
            format_of(options.reordered, None)
        except ParameterError as problem:
            words = str(problem).replace("path=", "--reordered ").replace("; pass format=", "")
            raise ParameterError(words) from None
    named = {what: getattr(options, name) for name, what in OUTPUTS.items()}
    files = {what: name for what, name in named.items() if name not in (None, "-")}
    if len({*map(place_of, files.values())}) < len(files):
        places = [place_of(name) for name in files.values()]
        raise ParameterError(
            f"two outputs are named {max(files.values(), key=lambda name: places.count(place_of(name)))}"
        )
    for name in files.values():
        check_output(name, options.force, never=options.file)
    return files


def _write(options: argparse.Namespace, parts: "Clustering", info: "LoadInfo | None") -> None:
    """Write every output that was asked for."""
    from graphclust.results.label_files import print_labels, write_labels

    if options.to == "metis":
        _write_numbers(options.output, parts.labels, options.force)
    elif options.output == "-":
        print_labels(parts, show_data)
    elif options.output is not None:
        write_labels(options.output, parts, overwrite=options.force)
    order = parts.permutation()
    if options.permutation is not None:
        _write_numbers(options.permutation, order, options.force)
    if options.reordered is not None:
        _write_reordered(options, parts, order, info)


def _write_reordered(
    options: argparse.Namespace, parts: "Clustering", order: "np.ndarray", info: "LoadInfo | None"
) -> None:
    """Write the matrix of a Matrix Market file as it stands there, or else the graph, in the order of the parts."""
    from graphclust.io.graph_input import as_graph
    from graphclust.io.save import save_graph

    is_matrix = info is not None and info.format == "matrix_market" and os.path.isfile(options.file)
    if not is_matrix or not options.reordered.lower().endswith(".mtx"):
        save_graph(options.reordered, as_graph(parts.graph.to_scipy()[order][:, order]), overwrite=options.force)
        return
    from scipy.io import mmread, mmwrite

    from graphclust.io.atomic_write import whole_file

    matrix = mmread(options.file, spmatrix=False).tocsr()
    n_rows = matrix.shape[0]
    rows, columns = (order[order < n_rows], order[order >= n_rows] - n_rows) if options.bipartite else (order, order)
    text = io.BytesIO()
    mmwrite(text, matrix[rows][:, columns])
    with whole_file(options.reordered, options.force, lambda: len(text.getbuffer())) as file:
        file.write(text.getbuffer())


def _write_numbers(path: str, numbers: Iterable[Any], force: bool) -> None:
    """One number a line."""
    from graphclust.io.atomic_write import whole_file

    text = "".join(f"{number}\n" for number in numbers)
    if path == "-":
        show_data(text.removesuffix("\n"))
        return
    with whole_file(path, force, lambda: len(text)) as file:
        file.write(text.encode())
