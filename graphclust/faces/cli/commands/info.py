"""`graphclust info FILE`: facts about a graph, to be read before clustering it."""

import argparse
import json

from graphclust.errors import GraphFormatError
from graphclust.faces.cli.commands import options as shared
from graphclust.faces.cli.messages import in_the_shell
from graphclust.faces.cli.terminal import show, tell

SUMMARY = "say what to know of a graph before clustering it"
EXAMPLES = shared.examples(
    "graphclust info graph.mtx.gz          what is in it, and the memory that clustering needs",
    "graphclust info karate --report json  the same for programs",
)
add_to = shared.add_graph_file


def run(options: argparse.Namespace) -> None:
    """Load, describe and print; of an edge list that cannot be read, tell all faults."""
    from graphclust.faces.describe import as_text, graph_facts, proposals_for

    try:
        graph, info = shared.load_input(options)
    except GraphFormatError as fault:
        from graphclust.faces.cli.faults import faults_of

        *others, last = faults_of(options, fault)
        for other in others:
            tell(str(other))
        raise last from None
    facts = graph_facts(graph, info)
    facts["proposals"] = proposals_for(facts, shared.reading_options_in_words(options))
    show(json.dumps(facts) if options.report == "json" else in_the_shell(as_text(facts)))
