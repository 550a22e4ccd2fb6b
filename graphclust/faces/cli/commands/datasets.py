"""`graphclust datasets [WORD]`: search the catalog of graphs that can be named instead of a file."""

import argparse
import json
from dataclasses import asdict

from graphclust.errors import amount
from graphclust.faces.cli.commands.options import Parser, add_report, examples
from graphclust.faces.cli.terminal import show

SUMMARY = "search the graphs of the SuiteSparse collection and of SNAP"
EXAMPLES = examples(
    "graphclust datasets road --kind graph",
    "graphclust datasets --kind communities",
    "graphclust cluster suitesparse:SNAP/com-DBLP -k 100",
)


def add_to(command: Parser) -> None:
    """Add its arguments."""
    command.add_argument("word", nargs="?", default="", metavar="WORD", help="part of a name, group, kind or author")
    command.add_argument("--kind", help="a word of the kind, like graph, bipartite, mesh or communities")
    command.add_argument(
        "--entries", nargs=2, type=float, metavar=("LEAST", "MOST"), help="how many entries, as in 1e6 1e8"
    )
    command.add_argument("--symmetric", action="store_true", default=None, help="only symmetric ones")
    command.add_argument(
        "--order", choices=("id", "memory", "name"), default="id", help="memory: largest need first (id)"
    )
    add_report(command)


def run(options: argparse.Namespace) -> None:
    """Print what was found, a line each."""
    from graphclust.datasets.catalog import find

    entries = None if options.entries is None else tuple(options.entries)
    found = find(options.word, kind=options.kind, entries=entries, symmetric=options.symmetric, order=options.order)
    if options.report == "json":
        show(json.dumps([{"address": entry.address, "memory": entry.memory, **asdict(entry)} for entry in found]))
        return
    lines = [
        f"{entry.address:44s} {max(entry.rows, entry.columns):>11,} {entry.entries:>14,} {entry.memory >> 20:>8,}  "
        f"{entry.kind}"
        for entry in found
    ]
    header = f"{'name':44s} {'nodes':>11s} {'entries':>14s} {'MiB':>8s}  kind" if found else ""
    show("\n".join(filter(None, [header, *lines, f"{amount(len(found), 'data set')} found"])))
