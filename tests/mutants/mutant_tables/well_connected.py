"""Minimum cuts, and clusters that no few edges part."""

_CUT = "compiled/graphs/minimum_cut.py"
_ENGINE = "engine/well_connected.py"
_DOOR = "partition/well_connected.py"
_CUT_TESTS = ["test_the_weight_is_that_of_stoer_wagner_and_the_side_has_it"]
_PROMISE_TESTS = ["test_every_cluster_meets_the_criterion_inside_one_given"]
_LEFT_TESTS = ["test_what_was_in_no_cluster_and_what_is_too_small_is_left_out"]

MUTANTS = [
    (
        "cut-joins-nodes-of-a-third",
        _CUT,
        "2.0 * weight < min(degree[u], degree[v])",
        "3.0 * weight < min(degree[u], degree[v])",
        _CUT_TESTS,
    ),
    (
        "cut-counts-loops",
        _CUT,
        "if labels[v] == own and v != u:",
        "if labels[v] == own:",
        ["test_loops_are_in_no_cut"],
    ),
    ("cut-forgets-its-side", _CUT, "side[u] = 0 <= place[of[u]] < length", "side[u] = place[of[u]] == 0", _CUT_TESTS),
    ("well-connected-a-lower-bar", _ENGINE, "np.log10(sizes)", "np.log10(sizes) - 1.0", _PROMISE_TESTS),
    ("well-connected-rounds-share-numbers", _ENGINE, "= own + n_found", "= own", _PROMISE_TESTS),
    ("well-connected-takes-all", _ENGINE, "np.flatnonzero(labels >= 0)", "np.flatnonzero(labels >= -1)", _LEFT_TESTS),
    ("well-connected-wants-more", _ENGINE, "(holds < least)", "(holds <= least)", _LEFT_TESTS),
    ("well-connected-needs-a-cluster", _ENGINE, "if k == 0 and not may_be_none:", "if k == 0:", _LEFT_TESTS),
    ("well-connected-other-rows", _DOOR, "labels_on(graph, labels)[order]", "labels_on(graph, labels)", _PROMISE_TESTS),
    ("well-connected-rows-in-order", _DOOR, "in_rows[order] = found", "in_rows[:] = found", _PROMISE_TESTS),
    (
        "well-connected-all-alone-together",
        _DOOR,
        "found.max() + 1 + np.arange(np.count_nonzero(found < 0))",
        "found.max() + 1",
        ["test_tails_of_a_clique_are_left_out_or_alone"],
    ),
]
