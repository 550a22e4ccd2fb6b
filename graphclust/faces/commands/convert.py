"""`graphclust convert FILE OUTPUT`: a graph file as one of another format, or as a store."""

import argparse
from typing import TYPE_CHECKING, Any

from graphclust.faces.commands.options import add_force, check_output, everywhere, examples, graph_file, loaded
from graphclust.faces.terminal import show

if TYPE_CHECKING:
    from graphclust.progress import Progress

STORE = "store"
EXAMPLES = examples(
    "graphclust convert graph.tar.gz graph.npz              for quick loading from here on",
    "graphclust convert edges.csv graph.metis.gz --to metis",
    "graphclust convert huge.txt.gz huge.store --to store   a folder that is mapped, of a file larger than memory",
)


def add_to(commands: Any) -> None:
    """Add the command to the parser's."""
    from graphclust.io.save import SAVED_FORMATS

    convert = commands.add_parser(
        "convert", parents=[graph_file(), everywhere()], help="write the graph of a file in another format",
        epilog=EXAMPLES,
    )  # fmt: skip
    convert.add_argument("output", metavar="OUTPUT", help="file to write; its ending tells the format")
    convert.add_argument("--to", choices=(*SAVED_FORMATS, STORE), help="the format to write, whatever the ending is")
    add_force(convert)
    convert.set_defaults(run=run)


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Load, save, and say what was written."""
    from graphclust.errors import ParameterError
    from graphclust.io.convert import convert
    from graphclust.io.save import format_of, save_graph

    try:
        options.to = options.to or format_of(options.output)
    except ParameterError as problem:
        raise ParameterError(str(problem).replace("path=", "").replace("pass format=", "pass --to")) from None
    if options.to == STORE:
        graph = convert(
            options.file, options.output, format=options.format, symmetrize=options.symmetrize,
            weights=options.weights, bipartite=options.bipartite, memory_limit=options.memory_limit,
            overwrite=options.force, progress=progress,
        )  # fmt: skip
    else:
        check_output(options.output, options.force, never=options.file)
        graph, _ = loaded(options, progress)
        save_graph(options.output, graph, format=options.to, overwrite=options.force)
    if not options.quiet:
        show("\n".join([f"{options.output}: {graph}", *(f"  note: {remark}" for remark in graph.remarks)]))
