"""Tests of other projects that ours do not pass on purpose, each with its reason; see `other_projects.py`.

By suite: the name of a test, of all its parametrizations or, with brackets, of some, where * stands for anything, or of
the form without parameters that another version of it has.
Each must fail; one that the installed version of the project does not have is left out.
"""

PRIVATE = "reads a private attribute or calls a private method of scikit-learn's"
SILENT = "nothing is printed, whatever verbose says"
OWN_WORDS = "the same kind of warning or error, in other words"

K_MEANS = {
    "test_kmeans_init_auto_with_initial_centroids": PRIVATE,
    "test_minibatch_kmeans_init_size": PRIVATE,
    "test_n_init_auto": PRIVATE,
    "test_sample_weight_init": PRIVATE,
    "test_sample_weight_zero": PRIVATE,
    "test_kmeans_verbose": SILENT,
    "test_minibatch_declared_convergence": SILENT,
    "test_kmeans_warns_less_centers_than_unique_points": OWN_WORDS,
    "test_relocating_with_duplicates": OWN_WORDS,
    "test_wrong_params[param0*": OWN_WORDS,
    "test_wrong_params[param1*": OWN_WORDS,
    "test_wrong_params[param2*": OWN_WORDS,
    "test_wrong_params[param3*": OWN_WORDS,
    "test_wrong_params[param4*": OWN_WORDS,
    "test_warning_elkan_1_cluster": "both algorithms are one here, which takes a single cluster",
}
SPECTRAL = {
    "test_affinities": "a graph in several pieces is no reason to warn: the embedding tells its components apart",
    "test_verbose": SILENT,
    "test_precomputed_nearest_neighbors_filtering[]": "all distances are 1, one of many ties to each point",
}
AGREEMENT = {
    "test_error_messages_on_wrong_input": OWN_WORDS,
    "test_perfect_matches": "labelings of no node, and labels that are floats, are refused",
    "test_perfect_matches_with_changing_means": "labelings of no node, and labels that are floats, are refused",
}
DIRECTED = "a directed graph is refused"
LOUVAIN = "expects the very communities of one seed of Louvain's, in its order"
NO_SUCH_ARGUMENT = "an argument of Louvain's steps, of which ours has none"
COMMUNITIES = {
    "test_raises_on_directed_and_multigraphs": "parallel edges are summed; a directed graph is a ValueError",
    "test_exceptions": "TypeError and ValueError, not NetworkXError; a disconnected graph is clustered",
    "test_single_node": "a graph without edges is refused: nothing can be cut",
    "test_empty_graph": "a graph without edges is refused: nothing can be cut",
    "test_valid_partition": DIRECTED,
    "test_quality": DIRECTED,
    "test_directed_selfloops": DIRECTED,
    "test_directed_partition": DIRECTED,
    "test_karate_club_partition": LOUVAIN,
    "test_undirected_selfloops": LOUVAIN,
    "test_none_weight_param": LOUVAIN,
    "test_multigraph": LOUVAIN,
    "test_max_level": NO_SUCH_ARGUMENT,
    "test_threshold": NO_SUCH_ARGUMENT,
}
CELLS = {
    "test_leiden_igraph_directed": "each flavor takes the arguments of the other, and directed means nothing to either",
    "test_leiden_igraph_partition_type": "each flavor takes the arguments of the other",
    "test_leiden_wrong_flavor": OWN_WORDS,
}
LISTED: dict[str, dict[str, str]] = {
    "k-means": K_MEANS, "spectral clustering": SPECTRAL, "agreement": AGREEMENT, "communities": COMMUNITIES,
    "cells": CELLS,
}  # fmt: skip
