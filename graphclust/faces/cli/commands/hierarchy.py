"""`graphclust hierarchy FILE`: cluster the graph of a file into nested levels."""

import argparse
import json
import os
from typing import TYPE_CHECKING

from graphclust.faces.cli.commands.options import (
    Parser,
    add_connectivity,
    add_force,
    add_graph_file,
    add_seed,
    as_output,
    check_output,
    examples,
    load_input,
    reading_options,
    refuse_one_file,
)
from graphclust.faces.cli.messages import in_the_shell
from graphclust.faces.cli.terminal import show, show_data

if TYPE_CHECKING:
    from graphclust.progress import Progress
    from graphclust.results.hierarchy import Hierarchy

SUMMARY = "cluster the graph of a file into nested levels"
EXAMPLES = examples(
    "graphclust hierarchy edges.csv --max-size 10 -o levels.json   down to clusters of 10 nodes",
    "graphclust hierarchy edges.csv -o levels.csv                  the levels that the graph shows",
    "graphclust hierarchy edges.csv --max-size 10 -o tree.nwk      for a viewer of trees",
    "graphclust hierarchy edges.csv --max-size 10 --html page.html with a page for the browser",
)


def add_to(command: Parser) -> None:
    """Add its arguments."""
    from graphclust.engine.engine import EFFORTS
    from graphclust.objective.objective import ADDITIVE_OBJECTIVES

    add_graph_file(command)
    command.add_argument("--max-size", type=float, metavar="NODES", help="most that a cluster of the last level holds")
    command.add_argument("--min-size", type=float, metavar="NODES", help="clusters of less join a sibling")
    command.add_argument(
        "--resolution", type=float, metavar="NUMBER", help="of the coarsest level, > 0 (what the graph shows, or 1)"
    )
    command.add_argument("--levels", type=int, metavar="N", help="at most so many")
    add_connectivity(command, "alone")
    command.add_argument(
        "--objective", choices=ADDITIVE_OBJECTIVES, default="modularity", help="what to optimize (modularity)"
    )
    command.add_argument("--effort", choices=EFFORTS, default="low", help="how much to try for the first level (low)")
    command.add_argument(
        "-o", "--output", metavar="LEVELS", type=as_output,
        help="write the clusters here: .json, .csv or .tsv (a row for each node and cluster), .nwk (Newick), or - for "
        "JSON on standard output, in place of the report",
    )  # fmt: skip
    command.add_argument(
        "--html", metavar="PAGE", help="write a report for the browser here, with a picture of the levels"
    )
    add_seed(command)
    add_force(command)


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Cluster into levels, write them where asked to, and print the report."""
    from graphclust.partition.hierarchy import hierarchy
    from graphclust.results.hierarchy_text import writer_for

    output = None if options.output == "-" else options.output
    if output is not None:
        writer_for(output)
    for file in (output, options.html):
        check_output(file, options.force, never=options.file)
    refuse_one_file(output, options.html)
    graph, _ = load_input(options, progress)
    found = hierarchy(
        graph, max_size=options.max_size, min_size=options.min_size, resolution=options.resolution,
        levels=options.levels, objective=options.objective, connectivity=options.connectivity, effort=options.effort,
        rng=options.seed, progress=progress,
    )  # fmt: skip
    found.parameters.update(reading_options(options))
    if output is not None:
        found.save(output, overwrite=options.force)
    if options.html is not None:
        _write_page(options, found)
    if options.output == "-":
        show_data(found.to_json())
    elif not options.quiet:
        if options.report == "json":
            sizes = [found.sizes_on(level).tolist() for level in range(len(found.levels))]
            written = {"written": output} | ({} if options.html is None else {"page": options.html})
            show(json.dumps({**found.origin, "sizes": sizes, "remarks": list(found.remarks), **written}))
        else:
            files = {"levels": output, "page": options.html}
            named = [f"  {name + ' in':10} {file}" for name, file in files.items() if file is not None]
            show("\n".join([in_the_shell(str(found)), *named]))


def _write_page(options: argparse.Namespace, found: "Hierarchy") -> None:
    """Write the page of the coarsest level, with a section on all."""
    from graphclust.faces.cli.standard_input import input_name
    from graphclust.faces.html.document import write_report

    write_report(
        options.html, found.cut(len(found.ids[0])), title=os.path.basename(input_name(options.file)), hierarchy=found,
        command=options.typed, overwrite=options.force,
    )  # fmt: skip
