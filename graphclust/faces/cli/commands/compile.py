"""`graphclust compile`: compile all loops ahead of time."""

import argparse
from typing import TYPE_CHECKING

from graphclust.faces.cli.commands.options import Parser, examples
from graphclust.faces.cli.terminal import show

if TYPE_CHECKING:
    from graphclust.progress import Progress

SUMMARY = "compile all loops ahead of time, for images and slow first calls"
EXAMPLES = examples(
    "graphclust compile                     once on a new machine",
    "graphclust compile --into /opt/loops   as a step of building an image; read where GRAPHCLUST_LOOPS=/opt/loops",
)


def add_to(command: Parser) -> None:
    """Add its arguments."""
    command.add_argument(
        "--into",
        metavar="DIR",
        help="keep the loops in DIR, for other users and read-only mounts: processes read them, and need not write, "
        "where the environment has GRAPHCLUST_LOOPS=DIR",
    )


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Compile, and say what was."""
    from graphclust.faces.precompile import compile_ahead

    said = compile_ahead(progress, options.into)
    if not options.quiet:
        show(said)
