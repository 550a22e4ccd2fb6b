"""`graphclust convert FILE OUTPUT`: a graph file as one of another format, or as a store."""

import argparse
import os
from typing import TYPE_CHECKING

from graphclust.errors import ParameterError
from graphclust.faces.cli.commands import options as shared
from graphclust.faces.cli.commands.graph_output import WHERE, add_format, check_graph_output, write_graph
from graphclust.faces.cli.standard_input import as_file
from graphclust.faces.cli.terminal import show

if TYPE_CHECKING:
    from graphclust import Graph

STORE = "store"
SUMMARY = "write the graph of a file in another format"
EXAMPLES = shared.examples(
    "graphclust convert graph.tar.gz graph.npz              for quick loading from here on",
    "graphclust convert edges.csv graph.metis.gz --to metis",
    "graphclust convert calls.csv graph.npz --source caller --target callee --weight minutes",
    "graphclust convert graph.mtx graph.gexf                for Gephi; .graphml for Cytoscape and yEd",
    "graphclust convert huge.txt.gz huge.store --to store   a folder that is mapped, of a file larger than memory",
    "graphclust convert graph.mtx - | graphclust cluster - -k 4 -o -   in a pipe",
)


def add_to(command: shared.Parser) -> None:
    """Add its arguments."""
    shared.add_graph_file(command)
    command.add_argument("output", metavar="OUTPUT", type=shared.as_output, help=f"file to write: {WHERE}")
    add_format(command, STORE)
    shared.add_force(command)


def run(options: argparse.Namespace) -> None:
    """Load, save, and say what was written."""
    if options.to == STORE:
        if options.drop_loops or options.round_weights is not None:
            raise ParameterError("--drop-loops and --round-weights are for other formats than a store; leave them out")
        shared.check_store_output(options.output, options.force, never=options.file)
        graph = _write_store(options)
    else:
        check_graph_output(options, never=options.file)
        graph, _ = shared.load_input(options)
        write_graph(options, graph)
    if not options.quiet and options.output != "-":
        show("\n".join([f"{options.output}: {graph}", *(f"  note: {remark}" for remark in graph.remarks)]))


def _write_store(options: argparse.Namespace) -> "Graph":
    """The graph as a store: of a file of any size, or of what has to be loaded first."""
    from graphclust.io.save import save_store
    from graphclust.io.store.convert import convert_to_store

    with as_file(options.file) as path:
        if os.path.isfile(path):
            given = shared.reading_of(options) | {"overwrite": options.force, "progress": options.progress}
            return convert_to_store(path, options.output, **given)
    graph, _ = shared.load_input(options)
    return save_store(options.output, graph, overwrite=options.force)
