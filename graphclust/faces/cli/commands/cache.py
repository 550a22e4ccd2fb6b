"""`graphclust cache list` and `graphclust cache clear`: the data sets that were fetched to this machine."""

import argparse
from typing import Any

from graphclust.errors import amount
from graphclust.faces.cli.commands.options import Parser, everywhere, examples
from graphclust.faces.cli.terminal import show

SUMMARY = "list or clear the data sets that were fetched"
EXAMPLES = examples("graphclust cache list", "graphclust cache clear suitesparse:SNAP/com-DBLP")


def add_to(command: Parser) -> None:
    """Add its arguments."""
    actions = command.add_subparsers(required=True, metavar="list|clear")
    common: dict[str, Any] = {"parents": [everywhere()], "epilog": EXAMPLES}
    listing = actions.add_parser("list", help="what is there, the largest first", **common)
    listing.set_defaults(run=run_list)
    clearing = actions.add_parser("clear", help="remove one data set, or all", **common)
    clearing.add_argument("name", nargs="?", metavar="NAME", help="like suitesparse:SNAP/com-DBLP; all without it")
    clearing.set_defaults(run=run_clear)


def run_list(options: argparse.Namespace) -> None:
    """Print what the cache holds, and where it is."""
    from graphclust.datasets.cache import cache_folder, cached

    datasets = cached()
    total = sum(dataset.n_bytes for dataset in datasets)
    lines = [f"{_megabytes(dataset.n_bytes)}  {dataset.address}" for dataset in datasets]
    show("\n".join([*lines, f"{_megabytes(total)}  {amount(len(datasets), 'data set')} in {cache_folder()}"]))


def run_clear(options: argparse.Namespace) -> None:
    """Remove, and say how much was freed."""
    from graphclust.datasets.cache import cache_folder, clear_cache

    show(f"{_megabytes(clear_cache(options.name)).strip()} freed in {cache_folder()}")


def _megabytes(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:>10,.1f} MiB"
