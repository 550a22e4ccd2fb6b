"""Where a command writes a graph: to a file, or to standard output."""

import argparse
import sys
from typing import TYPE_CHECKING

from graphclust.errors import GraphValidationError, ParameterError
from graphclust.faces.cli.commands.options import check_output
from graphclust.faces.cli.terminal import standard_output

if TYPE_CHECKING:
    from graphclust import Graph

WHERE = ".mtx, .txt, .tsv, .csv, .graph, .graphml, .gml, .gexf (each also .gz), .npz; or - for standard output"


def add_format(parser: argparse.ArgumentParser, *others: str) -> None:
    """The option that says in which format; others : those that only this command knows."""
    from graphclust.io.save import PIPED, SAVED_FORMATS

    parser.add_argument(
        "--to", choices=(*SAVED_FORMATS, *others),
        help=f"the format to write, whatever the ending is; by default {PIPED}, edges between tabs, into a pipe",
    )  # fmt: skip
    parser.add_argument("--drop-loops", action="store_true", help="leave self-loops out, as METIS needs it")
    parser.add_argument(
        "--round-weights", type=float, metavar="FACTOR",
        help="multiply weights by this and round them to whole numbers, at least 1, as METIS needs it",
    )  # fmt: skip


def check_graph_output(options: argparse.Namespace, never: str, option: str = "") -> None:
    """Settle the format, and refuse an output that cannot or must not be written.

    never : the input.  option : the one that names the output, if it is an option.
    """
    from graphclust.io.save import PIPED, format_of

    if options.output == "-":
        options.to = options.to or PIPED
        return
    try:
        options.to = format_of(options.output, options.to)
    except ParameterError as problem:
        raise ParameterError(str(problem).replace("path=", option).replace("pass format=", "pass --to")) from None
    check_output(options.output, options.force, never=never)


def write_graph(options: argparse.Namespace, graph: "Graph") -> None:
    """Write it as asked for, to standard output in place of a report."""
    from graphclust.io.save import content_of, fit_for_writing, save_graph

    try:
        graph, said = fit_for_writing(graph, options.to, options.drop_loops, options.round_weights)
        content = content_of(graph, options.to) if options.output == "-" else None
        if content is None:
            save_graph(options.output, graph, format=options.to, overwrite=options.force)
    except GraphValidationError as problem:
        raise GraphValidationError(str(problem).replace("format=", "to=")) from None
    if content is not None:
        with standard_output() as file:
            content.write(file)
    if said and sys.stderr is not None:
        print(f"graphclust: {'; '.join(said)}", file=sys.stderr)
