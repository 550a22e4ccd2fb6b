"""`graphclust compile`: compile all loops ahead of time."""

import argparse
from typing import TYPE_CHECKING, Any

from graphclust.faces.commands.options import everywhere, examples
from graphclust.faces.terminal import show

if TYPE_CHECKING:
    from graphclust.progress import Progress

EXAMPLES = examples(
    "graphclust compile     once on a new machine, or as a step of building an image",
)


def add_to(commands: Any) -> None:
    """Add the command to the parser's."""
    ahead = commands.add_parser(
        "compile",
        parents=[everywhere()],
        help="compile all loops ahead of time, for images and slow first calls",
        epilog=EXAMPLES,
    )
    ahead.set_defaults(run=run)


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Compile, and say what was."""
    from graphclust.faces.precompile import compile_ahead

    said = compile_ahead(progress)
    if not options.quiet:
        show(said)
