"""`graphclust demo`: cluster a planted graph, and a real one."""

import argparse
from typing import TYPE_CHECKING

from graphclust.faces.cli.commands.options import Parser, add_seed, examples
from graphclust.faces.cli.terminal import show

if TYPE_CHECKING:
    from graphclust.progress import Progress

SUMMARY = "cluster a planted graph, and a real one"
EXAMPLES = examples(
    "graphclust demo           a planted graph of 50,000 nodes, and the karate club",
    "graphclust demo --seed 3  another planted graph",
)


def add_to(command: Parser) -> None:
    """Add its arguments."""
    add_seed(command)


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Print one page after the other."""
    from graphclust.faces.demo import demo

    for page in demo(seed=options.seed, progress=progress):
        if not options.quiet:
            show(page)
