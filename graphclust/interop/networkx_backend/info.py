"""What NetworkX reads of the backend when it is imported: names and descriptions, without further imports."""

from __future__ import annotations

from typing import Any

MEASURES = (
    "modularity", "partition_quality", "is_partition", "intra_community_edges", "inter_community_edges",
    "inter_community_non_edges",
)  # fmt: skip
OF_COMMUNITIES = {
    "**options": "of `graphclust.communities`, such as effort or time_budget; or k, for so many communities exactly, "
    "with those of `graphclust.coreset_sc`.",
}
FUNCTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "louvain_communities": ("The engine of `graphclust.communities`; every community is connected.", OF_COMMUNITIES),
    "louvain_partitions": ("Nested levels; the last is the partition of louvain_communities.", OF_COMMUNITIES),
    "leiden_communities": ("The engine of `graphclust.communities`; every community is connected.", OF_COMMUNITIES),
    "leiden_partitions": ("Nested levels; the last is the partition of leiden_communities.", OF_COMMUNITIES),
    "asyn_fluidc": ("Exactly k communities, those of `graphclust.coreset_sc`.", {"**options": "of `coreset_sc`."}),
    "greedy_modularity_communities": ("The same unions as NetworkX's; pairs that gain as much may differ.", {}),
    "naive_greedy_modularity_communities": ("The same unions as NetworkX's; pairs that gain as much may differ.", {}),
    "kernighan_lin_bisection": (
        "Halves of `graphclust.balanced_partition`; a partition that is given keeps its sizes.",
        {"**options": "of `balanced_partition`, such as effort or max_imbalance."},
    ),
    "label_propagation_communities": ("NetworkX's result, class by class of its coloring.", {}),
    **dict.fromkeys(MEASURES, ("NetworkX's value.", {})),
}


def get_info() -> dict[str, Any]:
    """The entry of `networkx.backend_info`.

    >>> sorted(get_info()["functions"])[:3]
    ['asyn_fluidc', 'greedy_modularity_communities', 'inter_community_edges']
    """
    summary = "Communities of large graphs: compiled, the same for any number of threads."
    keys = ("additional_docs", "additional_parameters")
    functions = {name: dict(zip(keys, said, strict=True)) for name, said in FUNCTIONS.items()}
    names: dict[str, Any] = dict.fromkeys(("backend_name", "project", "package"), "graphclust")
    return names | {"short_summary": summary, "functions": functions}
