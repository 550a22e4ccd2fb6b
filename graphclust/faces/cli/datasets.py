"""`graphclust datasets` and `graphclust cache`: graphs that can be named in place of a file, and those fetched."""

import argparse
import json
from dataclasses import asdict
from typing import Any

from graphclust.errors import amount
from graphclust.faces.cli import options as shared
from graphclust.faces.cli.terminal import show


def search(command: shared.Parser) -> shared.Runner:
    """Print the data sets that are found, a line each."""
    from graphclust.datasets.catalog import find

    add = command.add_argument
    add("word", nargs="?", default="", metavar="WORD", help="part of a name, group, kind or author")
    add("--kind", help="a word of the kind, like graph, bipartite, mesh or communities")
    add("--entries", nargs=2, type=float, metavar=("LEAST", "MOST"), help="how many entries, as in 1e6 1e8")
    add("--symmetric", action="store_true", default=None, help="only symmetric ones")
    add("--order", choices=("id", "memory", "name"), default="id", help="memory: largest need first (id)")
    shared.add_shared(command, "--report")

    def run(options: argparse.Namespace) -> None:
        """Print what was found, a line each."""
        how = {name: getattr(options, name) for name in ("kind", "entries", "symmetric", "order")}
        entries = find(options.word, **how)
        if options.report == "json":
            show(json.dumps([{"address": entry.address, "memory": entry.memory, **asdict(entry)} for entry in entries]))
            return
        lines = [
            f"{entry.address:44s} {max(entry.rows, entry.columns):>11,} {entry.entries:>14,} {entry.memory >> 20:>8,}  "
            f"{entry.kind}"
            for entry in entries
        ]
        header = [f"{'name':44s} {'nodes':>11s} {'entries':>14s} {'MiB':>8s}  kind"] if lines else []
        show("\n".join([*header, *lines, f"{amount(len(lines), 'data set')} found"]))

    return run


DATASETS = shared.Command(
    "datasets", "search the graphs of the SuiteSparse collection and of SNAP", search,
    "graphclust datasets road --kind graph",
    "graphclust datasets --kind communities",
    "graphclust cluster suitesparse:SNAP/com-DBLP -k 100",
)  # fmt: skip


def manage_cache(command: shared.Parser) -> None:
    """List the data sets that are there, or remove some."""
    actions = command.add_subparsers(required=True, metavar="list|clear")
    common: dict[str, Any] = {"parents": [shared.everywhere()], "epilog": CACHE.examples}
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


CACHE = shared.Command(
    "cache", "list or clear the data sets that were fetched", manage_cache,
    "graphclust cache list",
    "graphclust cache clear suitesparse:SNAP/com-DBLP",
)  # fmt: skip
