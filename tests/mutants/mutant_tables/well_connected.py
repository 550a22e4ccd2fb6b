"""Minimum cuts, and clusters that no few edges part."""

MUTANTS = {
    "compiled/graphs/minimum_cut.py": {
        "test_the_weight_is_that_of_stoer_wagner_and_the_side_has_it": {
            "cut-joins-nodes-of-a-third": "«2→3».0 * weight < min(degree[u], degree[v])",
            "cut-forgets-its-side": "side[u] = «0 <= place[of[u]] < length→place[of[u]] == 0»",
        },
        "test_loops_are_in_no_cut": {
            "cut-counts-loops": "if labels[v] == own« and v != u→»:",
        },
    },
    "engine/well_connected.py": {
        "test_every_cluster_meets_the_criterion_inside_one_given": {
            "well-connected-a-lower-bar": "np.log10(sizes)«→ - 1.0»",
            "well-connected-rounds-share-numbers": "= own« + n_found→»",
        },
        "test_what_was_in_no_cluster_and_what_is_too_small_is_left_out": {
            "well-connected-takes-all": "np.flatnonzero(labels >= «0→-1»)",
            "well-connected-wants-more": "(holds <«→=» least)",
            "well-connected-needs-a-cluster": "if k == 0« and not may_be_none→»:",
        },
    },
    "partition/well_connected.py": {
        "test_every_cluster_meets_the_criterion_inside_one_given": {
            "well-connected-other-rows": "labels_on(graph, labels)«[order]→»",
            "well-connected-rows-in-order": "in_rows[«order→:»] = found",
        },
        "test_tails_of_a_clique_are_left_out_or_alone": {
            "well-connected-all-alone-together": "found.max() + 1« + np.arange(np.count_nonzero(found < 0))→»",
        },
    },
}
