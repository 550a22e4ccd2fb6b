"""How much is tried to better a partition: while it gains, and one budget lasts for starts and cycles."""

from __future__ import annotations

from graphclust.graph.container import Graph

HARDLY_ANY = 0.02  # of the nodes, or of what is lacking: a step that changes no more is the last of its kind


class Budget:
    """Entries that starts and cycles may run over, in all: each takes as many as the graph has that it runs over.

    What has to be done is done in any case; then a budget may be overdrawn, and covers nothing any more.
    """

    def __init__(self, entries: float):
        self.left = entries

    def covers(self, graph: Graph) -> bool:
        """Whether there is as much left as one more start or cycle over the graph takes."""
        return self.left >= graph.n_entries

    def take(self, graph: Graph, n_times: int) -> None:
        """So many starts or cycles run over the graph."""
        self.left -= n_times * graph.n_entries
