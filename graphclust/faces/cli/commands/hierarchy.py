"""`graphclust hierarchy FILE`: cluster the graph of a file into nested levels."""

import argparse
import os
from typing import TYPE_CHECKING, Any

from graphclust.faces.cli.commands.options import (
    CONNECTIVITY,
    Parser,
    add_force,
    add_graph_file,
    add_kind,
    add_parameters,
    add_seed,
    as_output,
    check_output,
    examples,
    load_kind,
    parameters_of,
    print_report,
    reading_options,
    refuse_one_file,
)
from graphclust.faces.cli.terminal import show_data

if TYPE_CHECKING:
    from graphclust.progress import Progress
    from graphclust.results.hierarchy import Hierarchy

SUMMARY = "cluster the graph of a file into nested levels"
EXAMPLES = examples(
    "graphclust hierarchy edges.csv --max-size 10 -o levels.json   down to clusters of 10 nodes",
    "graphclust hierarchy edges.csv -o levels.csv                  the levels that the graph shows",
    "graphclust hierarchy edges.csv --max-size 10 -o tree.nwk      for a viewer of trees",
    "graphclust hierarchy edges.csv --max-size 10 --html page.html with a page for the browser",
    "graphclust hierarchy calls.csv --max-size 10 --kind directed  sources and targets",
)


def add_to(command: Parser) -> None:
    """Add its arguments."""
    from graphclust.partition.hierarchy import hierarchy

    add_graph_file(command)
    add_parameters(
        command,
        hierarchy,
        max_size="most that a cluster of the last level holds",
        min_size="clusters of less join a sibling",
        resolution="of the coarsest level, > 0 (what the graph shows, or 1)",
        levels="at most so many",
        connectivity=f"{CONNECTIVITY} alone",
        objective="what to optimize",
        effort="how much to try for the first level",
        time_budget="after so long only finish, with the levels so far",
    )
    command.add_argument(
        "-o", "--output", metavar="LEVELS", type=as_output,
        help="write the clusters here: .json, .csv or .tsv (a row for each node and cluster), .nwk (Newick), or - for "
        "JSON on standard output, in place of the report",
    )  # fmt: skip
    command.add_argument(
        "--html", metavar="PAGE", help="write a report for the browser here, with a picture of the levels"
    )
    add_kind(command)
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
        for read in (options.file, *options.more):
            check_output(file, options.force, never=read)
    refuse_one_file(output, options.html)
    graph: Any = load_kind(options, progress)
    found = hierarchy(graph, **parameters_of(options, graph, progress))
    found.parameters.update(reading_options(options))
    if output is not None:
        found.save(output, overwrite=options.force)
    if options.html is not None:
        _write_page(options, found)
    if options.output == "-":
        show_data(found.to_json())
        return
    sizes = [found.sizes_on(level).tolist() for level in range(len(found.levels))]
    facts = {**found.origin, "sizes": sizes, "remarks": list(found.remarks), "written": output}
    files = {"levels": output, "page": options.html}
    facts |= {} if options.html is None else {"page": options.html}
    print_report(options, facts, str(found), {what: name for what, name in files.items() if name is not None})


def _write_page(options: argparse.Namespace, found: "Hierarchy") -> None:
    """Write the page of the coarsest level, with a section on all."""
    from graphclust.faces.cli.standard_input import input_name
    from graphclust.faces.html.document import write_report

    write_report(
        options.html, found.cut(len(found.ids[0])), title=os.path.basename(input_name(options.file)), hierarchy=found,
        command=options.typed, overwrite=options.force,
    )  # fmt: skip
