"""`graphclust partition FILE -k K`: parts of equal size with the smallest edge cut."""

import argparse
import io
import os
from typing import TYPE_CHECKING, Any

from graphclust.errors import Interrupted, ParameterError
from graphclust.faces.cli import options as shared
from graphclust.faces.cli.terminal import show_data
from graphclust.io.atomic_write import whole_file

if TYPE_CHECKING:
    import numpy as np

    from graphclust import Clustering

NO_SUGGESTION = (
    "a small cut suggests none: what the parts are for does, such as the processors; graphclust cluster, without -k, "
    "takes the number that the graph shows"
)


def partition(command: shared.Parser) -> shared.Runner:
    """Into parts of equal size."""
    from graphclust.partition.balanced_partition import balanced_partition

    add = command.add_argument
    shared.add_graph_file(command)
    add("-k", type=int, metavar="K", help="number of parts, which has to be given")
    shared.add_parameters(
        command,
        balanced_partition,
        max_imbalance="how much more than the average part one may hold",
        min_imbalance="how much less one may hold, 1 for any amount (as --imbalance, as far as weights let)",
        target_weights="how much each part is to hold beside the others, such as the speeds of machines (equal)",
        contiguous="every part in one piece, as far as that is found",
        effort="how much to try",
        time_budget="use so long to find a smaller cut",
    )
    shared.add_shared(command, "--node-weight")
    parts = "write each node's part here, in a format by the ending, or - for standard output"
    shared.add_outputs(command, "PARTS", parts)
    add("--to", choices=("metis",), help="write PARTS as METIS does, whatever the ending is")
    add("--permutation", metavar="FILE", help="write the rows grouped by part here, one number from 0 a line")
    add("--reordered", metavar="FILE", help="write the matrix here with its rows and columns grouped by part")
    shared.add_shared(command, "--seed", "--force")

    def run(options: argparse.Namespace) -> None:
        """Partition, write what was asked for, and print the report."""
        if options.k is None:
            raise ParameterError(f"-k was not given, expected the number of parts; {NO_SUGGESTION}")
        files = _check_outputs(options)
        graph, info = shared.load_input(options, of_pattern=True)
        is_matrix = info is not None and info.format == "matrix_market"
        try:
            parts = balanced_partition(graph, options.k, **shared.parameters_of(options, graph))
        except Interrupted as stop:
            if not files:
                raise
            _write(options, stop.best, is_matrix)
            raise KeyboardInterrupt(f"the best parts so far are in {', '.join(files.values())}") from None
        parts.parameters.update(shared.reading_options(options))
        _write(options, parts, is_matrix)
        if "-" not in (options.output, options.permutation):
            shared.print_report(options, parts, files)

    return run


def _check_outputs(options: argparse.Namespace) -> dict[str, str]:
    """The outputs by what they hold; impossible ones are refused before any work."""
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
    return shared.check_outputs(options, output="labels", permutation="permutation", reordered="reordered matrix")


def _write(options: argparse.Namespace, parts: "Clustering", is_matrix: bool) -> None:
    """Write every output that was asked for."""
    from graphclust.results.label_files import print_labels, write_labels

    if options.to == "metis":
        _write_numbers(options.output, parts.labels, options.force)
    elif options.output == "-":
        print_labels(parts, show_data)
    elif options.output is not None:
        write_labels(options.output, parts, overwrite=options.force)
    if options.permutation is not None:
        _write_numbers(options.permutation, parts.permutation(), options.force)
    if options.reordered is not None:
        _write_reordered(options, parts, parts.permutation(), is_matrix)


def _write_reordered(options: argparse.Namespace, parts: "Clustering", order: Any, is_matrix: bool) -> None:
    """Write the matrix of a Matrix Market file as it stands there, or else the graph, in the order of the parts."""
    from graphclust.io.graph_input import as_graph
    from graphclust.io.save import save_graph

    if not (is_matrix and os.path.isfile(options.file) and options.reordered.lower().endswith(".mtx")):
        save_graph(options.reordered, as_graph(parts.graph.to_scipy()[order][:, order]), overwrite=options.force)
        return
    from scipy.io import mmread, mmwrite

    matrix = mmread(options.file, spmatrix=False).tocsr()
    n_rows = matrix.shape[0]
    rows, columns = (order[order < n_rows], order[order >= n_rows] - n_rows) if options.bipartite else (order, order)
    text = io.BytesIO()
    mmwrite(text, matrix[rows][:, columns])
    with whole_file(options.reordered, options.force, lambda: len(text.getbuffer())) as file:
        file.write(text.getbuffer())


def _write_numbers(path: str, numbers: "np.ndarray", force: bool) -> None:
    """One number a line."""
    text = "\n".join(map(str, numbers.tolist())) + "\n"
    if path == "-":
        show_data(text.removesuffix("\n"))
        return
    with whole_file(path, force, lambda: len(text)) as file:
        file.write(text.encode())


PARTITION = shared.Command(
    "partition", "cut a graph or matrix into K parts of equal size", partition,
    "graphclust partition A.mtx -k 64 -o parts.txt --to metis       one number a line, as METIS writes them",
    "graphclust partition A.mtx -k 64 --imbalance 0.01 -o parts.tsv  names and parts, sizes within 1 %",
    "graphclust partition A.mtx -k 8 --reordered B.mtx               rows and columns grouped by part",
)  # fmt: skip
