"""How many clusters to make where k is not given: the number that the graph shows, and a sentence that says why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from graphclust.errors import GraphWarning, warn_caller
from graphclust.graph.container import Graph
from graphclust.literals import Components, Objective
from graphclust.profile.path_builder import cluster_path
from graphclust.profile.select_k import DRAWS, NOT_SHOWN, NOT_TRIED
from graphclust.progress import Progress

NOT_GIVEN = "k was not given"


def choose_k(graph: Graph, objective: str, components: Components, progress: Progress) -> tuple[int, str]:
    """The number of clusters that the graph shows, and why or, if it is not clear, which others it may be.

    The path is the one that a suggestion would make for itself, so that it makes no other.
    """
    with progress.stage("choosing k"):
        path = cluster_path(
            graph, objective=cast(Objective, objective), components=components, rng=DRAWS, progress=progress.aside()
        )
        suggestion = path.suggest(progress=progress.aside())
    k, others = suggestion.k, [str(one.k) for one in suggestion.runners_up]
    is_open = not suggestion.clear and 0 < len(others) < len(suggestion.candidates)  # else k is no candidate itself
    candidates = f"; other candidates are {', '.join(others)}" if is_open else ""
    return k, f"{NOT_GIVEN}, {k} was taken: {suggestion.reasons[0]}{candidates}"


def warn_if_unclear(remarks: Iterable[str]) -> None:
    """Warn of a k that was taken though the graph shows it not clearly; for functions that return labels alone."""
    for said in remarks:
        if said.startswith(NOT_GIVEN) and (NOT_SHOWN in said or NOT_TRIED in said):
            warn_caller(said, GraphWarning)
