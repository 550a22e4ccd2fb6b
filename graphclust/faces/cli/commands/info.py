"""`graphclust info FILE`: facts about a graph, to be read before clustering it."""

import argparse
import json
from typing import TYPE_CHECKING

from graphclust.faces.cli.commands.options import Parser, add_graph_file, examples, load_input, reading_options_in_words
from graphclust.faces.cli.messages import in_the_shell
from graphclust.faces.cli.terminal import show, tell

if TYPE_CHECKING:
    from graphclust.progress import Progress

SUMMARY = "say what to know of a graph before clustering it"
EXAMPLES = examples(
    "graphclust info graph.mtx.gz          what is in it, and the memory that clustering needs",
    "graphclust info karate --report json  the same for programs",
)


def add_to(command: Parser) -> None:
    """Add its arguments."""
    add_graph_file(command)


def run(options: argparse.Namespace, progress: "Progress") -> None:
    """Load, describe and print; of an edge list that cannot be read, tell all faults."""
    from graphclust.errors import GraphFormatError
    from graphclust.faces.describe import as_text, graph_facts, proposals_for

    try:
        graph, info = load_input(options, progress)
    except GraphFormatError as fault:
        from graphclust.faces.cli.faults import faults_of

        *others, last = faults_of(options, fault, progress)
        for other in others:
            tell(str(other))
        raise last from None
    facts = graph_facts(graph, info)
    facts["proposals"] = proposals_for(facts, reading_options_in_words(options))
    show(json.dumps(facts) if options.report == "json" else in_the_shell(as_text(facts)))
