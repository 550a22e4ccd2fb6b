"""`graphclust convert FILE OUTPUT`: a graph file as one of another format, or as a store."""

import argparse
import os
from typing import TYPE_CHECKING

from graphclust.faces.cli.commands.graph_output import WHERE, add_format, check_graph_output, write_graph
from graphclust.faces.cli.commands.options import (
    Parser,
    add_force,
    add_graph_file,
    as_output,
    check_store_output,
    columns_of,
    examples,
    load_input,
    rows_of,
)
from graphclust.faces.cli.terminal import show

if TYPE_CHECKING:
    from graphclust.graph.container import Graph
    from graphclust.progress import Progress

STORE = "store"
SUMMARY = "write the graph of a file in another format"
EXAMPLES = examples(
    "graphclust convert graph.tar.gz graph.npz              for quick loading from here on",
    "graphclust convert edges.csv graph.metis.gz --to metis",
    "graphclust convert calls.csv graph.npz --source caller --target callee --weight minutes",
    "graphclust convert graph.mtx graph.gexf                for Gephi; .graphml for Cytoscape and yEd",
    "graphclust convert huge.txt.gz huge.store --to store   a folder that is mapped, of a file larger than memory",
    "graphclust convert graph.mtx - | graphclust cluster - -k 4 -o -   in a pipe",
)


def add_to(command: Parser) -> None:
    """Add its arguments."""
    add_graph_file(command)
    command.add_argument("output", metavar="OUTPUT", type=as_output, help=f"file to write: {WHERE}")
    add_format(command, STORE)
    add_force(command)


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Load, save, and say what was written."""
    from graphclust.errors import ParameterError

    if options.to == STORE:
        if options.drop_loops or options.round_weights is not None:
            raise ParameterError("--drop-loops and --round-weights are for other formats than a store; leave them out")
        check_store_output(options.output, options.force, never=options.file)
        graph = _write_store(options, progress)
    else:
        check_graph_output(options, never=options.file)
        graph, _ = load_input(options, progress)
        write_graph(options, graph)
    if not options.quiet and options.output != "-":
        show("\n".join([f"{options.output}: {graph}", *(f"  note: {remark}" for remark in graph.remarks)]))


def _write_store(options: argparse.Namespace, progress: "Progress") -> "Graph":
    """The graph as a store: of a file of any size, or of what has to be loaded first."""
    from graphclust.faces.cli.standard_input import as_file
    from graphclust.io.save import save_store
    from graphclust.io.store.convert import convert_to_store

    with as_file(options.file) as path:
        if os.path.isfile(path):
            return convert_to_store(
                path, options.output, max_bytes=options.max_bytes, memory_limit=options.memory_limit,
                overwrite=options.force, progress=progress, **rows_of(options), **columns_of(options),
            )  # fmt: skip
    graph, _ = load_input(options, progress)
    return save_store(options.output, graph, overwrite=options.force)
