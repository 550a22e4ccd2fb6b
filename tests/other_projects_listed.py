"""Tests of other projects that ours do not pass on purpose, each with its reason; see `other_projects.py`.

By suite and reason: names of tests, of all their parametrizations or, with brackets, of some, where * stands for
anything, or of the form without parameters that another version of it has.
Each must fail; one that the installed version of the project does not have is left out.
"""

SILENT = "nothing is printed, whatever verbose says"
OWN_WORDS = "the same kind of warning or error, in other words"
LISTED: dict[str, dict[str, str]] = {
    "k-means": {
        "reads a private attribute or calls a private method of scikit-learn's":
            "test_kmeans_init_auto_with_initial_centroids test_minibatch_kmeans_init_size test_n_init_auto "
            "test_sample_weight_init test_sample_weight_zero",
        SILENT: "test_kmeans_verbose test_minibatch_declared_convergence",
        OWN_WORDS:
            "test_kmeans_warns_less_centers_than_unique_points test_relocating_with_duplicates "
            "test_wrong_params[param0* "
            "test_wrong_params[param1* test_wrong_params[param2* test_wrong_params[param3* test_wrong_params[param4*",
        "both algorithms are one here, which takes a single cluster": "test_warning_elkan_1_cluster",
    },
    "spectral clustering": {
        "a graph in several pieces is no reason to warn: the embedding tells its components apart": "test_affinities",
        SILENT: "test_verbose",
        "all distances are 1, one of many ties to each point": "test_precomputed_nearest_neighbors_filtering[]",
    },
    "agreement": {
        OWN_WORDS: "test_error_messages_on_wrong_input",
        "labelings of no node, and labels that are floats, are refused":
            "test_perfect_matches test_perfect_matches_with_changing_means",
    },
    "communities": {
        "parallel edges are summed; a directed graph is a ValueError": "test_raises_on_directed_and_multigraphs",
        "TypeError and ValueError, not NetworkXError; a disconnected graph is clustered": "test_exceptions",
        "a graph without edges is refused: nothing can be cut": "test_single_node test_empty_graph",
        "a directed graph is refused":
            "test_valid_partition test_quality test_directed_selfloops test_directed_partition",
        "expects the very communities of one seed of Louvain's, in its order":
            "test_karate_club_partition test_undirected_selfloops test_none_weight_param test_multigraph",
        "an argument of Louvain's steps, of which ours has none": "test_max_level test_threshold",
    },
    "cells": {
        "each flavor takes the arguments of the other, and directed means nothing to either":
            "test_leiden_igraph_directed",
        "each flavor takes the arguments of the other": "test_leiden_igraph_partition_type",
        OWN_WORDS: "test_leiden_wrong_flavor",
    },
}  # fmt: skip
