"""`graphclust hierarchy FILE`: cluster the graph of a file into nested levels."""

import argparse
import os
from typing import Any

from graphclust.faces.cli.commands import options as shared
from graphclust.faces.cli.standard_input import input_name
from graphclust.faces.cli.terminal import show_data

SUMMARY = "cluster the graph of a file into nested levels"
EXAMPLES = shared.examples(
    "graphclust hierarchy edges.csv --max-size 10 -o levels.json   down to clusters of 10 nodes",
    "graphclust hierarchy edges.csv -o levels.csv                  the levels that the graph shows",
    "graphclust hierarchy edges.csv --max-size 10 -o tree.nwk      for a viewer of trees",
    "graphclust hierarchy edges.csv --max-size 10 --html page.html with a page for the browser",
    "graphclust hierarchy calls.csv --max-size 10 --kind directed  sources and targets",
)
LEVELS = (
    "write the clusters here: .json, .csv or .tsv (a row for each node and cluster), .nwk (Newick), or - for JSON on "
    "standard output, in place of the report"
)


def add_to(command: shared.Parser) -> None:
    """Add its arguments."""
    from graphclust.partition.hierarchy import hierarchy

    shared.add_graph_file(command)
    shared.add_parameters(
        command,
        hierarchy,
        max_size="most that a cluster of the last level holds",
        min_size="clusters of less join a sibling",
        resolution="of the coarsest level, > 0 (what the graph shows, or 1)",
        levels="at most so many",
        connectivity=f"{shared.CONNECTIVITY} alone",
        objective="what to optimize",
        effort="how much to try for the first level",
        time_budget="after so long only finish, with the levels so far",
    )
    shared.add_outputs(command, "LEVELS", LEVELS, "write a report for the browser here, with a picture of the levels")
    shared.add_kind(command)
    shared.add_seed(command)
    shared.add_force(command)


def run(options: argparse.Namespace) -> None:
    """Cluster into levels, write them where asked to, and print the report."""
    from graphclust.partition.hierarchy import hierarchy
    from graphclust.results.hierarchy_text import writer_for

    if options.output not in (None, "-"):
        writer_for(options.output)
    files = shared.check_outputs(options, output="levels", html="page")
    graph: Any = shared.load_kind(options)
    found = hierarchy(graph, **shared.parameters_of(options, graph))
    found.parameters.update(shared.reading_options(options))
    if "levels" in files:
        found.save(options.output, overwrite=options.force)
    if options.html is not None:  # of the coarsest level, with a section on all
        from graphclust.faces.html.document import write_report

        write_report(
            options.html, found.cut(len(found.ids[0])), title=os.path.basename(input_name(options.file)),
            hierarchy=found, command=options.typed, overwrite=options.force,
        )  # fmt: skip
    if options.output == "-":
        show_data(found.to_json())
        return
    sizes = [found.sizes_on(level).tolist() for level in range(len(found.levels))]
    facts = {**found.origin, "sizes": sizes, "remarks": list(found.remarks), "written": files.get("levels")}
    facts |= {} if options.html is None else {"page": options.html}
    shared.print_report(options, facts, str(found), files)
