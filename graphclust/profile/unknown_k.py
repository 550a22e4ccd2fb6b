"""How many clusters to make where k is not given: the number that the graph shows, and a sentence that says why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graphclust.checks import as_whole_number
from graphclust.errors import GraphWarning, warn_caller
from graphclust.graph.container import Graph
from graphclust.literals import Objective
from graphclust.profile.path_builder import cluster_path
from graphclust.profile.select_k import DRAWS, NOT_SHOWN, NOT_TRIED
from graphclust.progress import Progress

NOT_GIVEN = "k was not given"


def choose_k(
    graph: Graph, objective: Objective, given: Mapping[str, Any], remarks: list[str], progress: Progress
) -> int:
    """The number of clusters that the graph shows; a remark says why and, if it is not clear, which others it may be.

    given : options of `coreset_sc`; the components are searched that it names, and its coreset has to be large enough.

    The path is the one that a suggestion would make for itself, so that it makes no other.
    """
    searched = given.get("components", "large")
    with progress.stage("choosing k"):
        path = cluster_path(graph, objective=objective, components=searched, rng=DRAWS, progress=progress.aside())
        suggestion = path.suggest(progress=progress.aside())
    k, others = suggestion.k, [str(one.k) for one in suggestion.runners_up]
    is_open = not suggestion.clear and 0 < len(others) < len(suggestion.candidates)  # else k is no candidate itself
    candidates = f"; other candidates are {', '.join(others)}" if is_open else ""
    remarks.append(f"{NOT_GIVEN}, {k} was taken: {suggestion.reasons[0]}{candidates}")
    if "coreset_size" in given:
        as_whole_number(given["coreset_size"], "coreset_size", at_least=k, why=", the k that was suggested")
    return k


def warn_if_unclear(remarks: Iterable[str]) -> None:
    """Warn of a k that was taken though the graph shows it not clearly; for functions that return labels alone."""
    for said in remarks:
        if said.startswith(NOT_GIVEN) and (NOT_SHOWN in said or NOT_TRIED in said):
            warn_caller(said, GraphWarning)
