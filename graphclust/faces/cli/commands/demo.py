"""`graphclust demo`: cluster a planted graph, and a real one."""

import argparse

from graphclust.faces.cli.commands.options import add_seed, examples
from graphclust.faces.cli.terminal import show

SUMMARY = "cluster a planted graph, and a real one"
EXAMPLES = examples(
    "graphclust demo           a planted graph of 50,000 nodes, and the karate club",
    "graphclust demo --seed 3  another planted graph",
)
add_to = add_seed


def run(options: argparse.Namespace) -> None:
    """Print one page after the other."""
    from graphclust.faces.demo import demo

    for page in demo(seed=options.seed, progress=options.progress):
        if not options.quiet:
            show(page)
