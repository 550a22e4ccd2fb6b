"""`graphclust compile`: compile loops ahead of time."""

import argparse

from graphclust.faces.cli.commands.options import Parser, examples
from graphclust.faces.cli.terminal import show

SUMMARY = "compile the loops of points and undirected graphs ahead, for images and slow first calls"
EXAMPLES = examples(
    "graphclust compile                     once on a new machine",
    "graphclust compile --into /opt/loops   as a step of building an image; read where GRAPHCLUST_LOOPS=/opt/loops",
)


def add_to(command: Parser) -> None:
    """Add its arguments."""
    command.add_argument(
        "--into", metavar="DIR",
        help="keep the loops in DIR, for other users and read-only mounts: processes read them, and need not write, "
        "where the environment has GRAPHCLUST_LOOPS=DIR",
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Compile, and say what was."""
    from graphclust.faces.precompile import compile_ahead

    said = compile_ahead(options.progress, options.into)
    if not options.quiet:
        show(said)
