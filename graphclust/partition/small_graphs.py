"""Small graphs as compiled steps take them whole: to prepare a loop over blocks would take longer than to run it."""

from __future__ import annotations

from graphclust.compiled.graphs.small_levels import Level
from graphclust.graph.container import Graph
from graphclust.objective.objective import Weighed
from graphclust.partition import moves

AT_ONCE = 1 << 19  # entries: a cycle over so many takes some hundredths of a second, in which nothing else is looked at


def is_small(graph: Graph) -> bool:
    """Whether steps over the graph are made in one call; of so few nodes none ever move all at once."""
    return graph.n_entries <= AT_ONCE and graph.n_nodes < moves.MANY_MOVES


def level_of(on: Weighed) -> Level:
    """A small graph as compiled steps take it."""
    return Level(on.graph.rows, on.terms, on.graph.loops)


def weighed_of(level: Level) -> Weighed:
    """The same, as everything else takes it, of a quotient graph."""
    return Weighed(Graph(*level.rows, level.terms.degrees, level.loops), level.terms)
