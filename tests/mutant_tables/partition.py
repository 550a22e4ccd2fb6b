"""Objectives, moving, merging, contracting, the matched resolution and the doubt about a coreset."""

_OBJECTIVE = "compiled/graphs/objective.py"
_MOVES = "compiled/graphs/moves.py"
_JOINING = "compiled/graphs/joining.py"
_CLIMBING = "compiled/graphs/climbing.py"
_LINK_TABLE = "compiled/graphs/link_table.py"
_CYCLES = "partition/cycles.py"
_LIKELIHOOD = "partition/likelihood.py"
_MERGING = "compiled/graphs/merging.py"
_MOVE_TESTS = ["test_every_single_move_changes_the_value_by_the_gain_it_was_made_for"]
_CHOICE_TESTS = ["test_the_chosen_moves_are_the_best_of_all"]
_UNION_TESTS = ["test_every_union_is_the_best_that_is_allowed"]
_UNION_TESTS += ["test_the_tree_unites_what_is_linked_most_beyond_chance"]
_RANGE_TESTS = [
    "test_natural_ranges_of_a_known_dendrogram",
    "test_the_matched_resolution_is_in_the_middle_on_a_logarithmic_scale",
    "test_the_range_of_a_dendrogram_is_where_just_k_is_left",
]
_PREDICTED_MOVES = ["test_the_predicted_change_of_every_move_is_the_recomputed_one"]
_PREDICTED_UNIONS = ["test_the_predicted_change_of_every_union_is_the_recomputed_one"]

_SUMS_AFTER = ["test_the_sums_after_moves_follow_from_the_rows_that_change"]

_SMALL = "compiled/graphs/small_cycles.py"
_STEPS = "compiled/graphs/small_levels.py"
_HUB_TESTS = ["test_nodes_that_hang_on_a_hub_are_merged_in_time_that_grows_with_their_number"]
_OF_REGIONS = ["test_more_clusters_are_made_of_regions_where_these_are_enough_and_nothing_ties_nodes"]
_AT_ONCE = ["test_one_call_gives_what_level_by_level_gives"]

_PLOTS = "plots/"

MUTANTS = [
    (
        "raster-density-per-row",
        _PLOTS + "raster.py",
        "counts / np.outer(nodes_in, nodes_in)",
        "counts / np.outer(nodes_in, np.ones(size))",
        ["test_the_raster_counts_every_entry_where_it_lies"],
    ),
    (
        "raster-columns-as-rows",
        _PLOTS + "raster.py",
        "np.repeat(square[first:last] * size, lengths)",
        "np.repeat(square[first:last], lengths)",
        ["test_the_raster_counts_every_entry_where_it_lies"],
    ),
    (
        "excess-without-the-whole-volume",
        _PLOTS + "links.py",
        "share @ weight @ share * clustering.graph.total_volume",
        "share @ weight @ share",
        ["test_links_between_clusters_are_those_of_the_quotient_graph"],
    ),
    (
        "calibration-error-of-the-sum",
        _PLOTS + "bars.py",
        "np.sqrt(share * (1.0 - share) / [len(group) for group in groups])",
        "np.sqrt(share * (1.0 - share))",
        ["test_calibration_by_hand"],
    ),
    (
        "tree-cut-one-union-too-low",
        _PLOTS + "every_k.py",
        "float(heights[n - k]) if k > 1",
        "float(heights[n - k - 1]) if 1 < k < n",
        ["test_the_tree_is_cut_into_as_many_clusters_as_marked"],
    ),
    (
        "strengths-not-logarithmic",
        "faces/page/figures.py",
        "scale = np.log(density[found])",
        "scale = density[found]",
        ["test_strengths_are_logarithmic"],
    ),
    (
        "best-of-a-part-taken-for-the-whole",
        "progress.py",
        "            make = _chained(made_whole, make)",
        "            pass",
        ["test_an_interrupt_anywhere_carries_complete_labels_or_nothing", "test_what_nobody_will_ask_for_is_not_kept"],
    ),
    (
        "rounds-that-do-harm-are-kept",
        "partition/in_blocks.py",
        "if value_of(objective, sums_after) > value_of(objective, sums):",
        "if True:",
        ["test_a_round_that_does_no_good_is_taken_back"],
    ),
    (
        "rounds-may-empty-a-cluster",
        "partition/block_steps.py",
        "made = moves_that_empty_none(labels[nodes], to, size)",
        "made = np.ones(len(nodes), np.bool_)",
        ["test_a_cluster_that_all_would_leave_stays", "test_rounds_of_moves_raise_the_value_and_empty_no_cluster"],
    ),
    (
        "clusters-grow-without-a-bound-in-a-round",
        "partition/in_blocks.py",
        "shares = share * np.minimum(1.0, GROWTH",
        "shares = share * np.maximum(1.0, GROWTH",
        ["test_a_small_cluster_grows_by_about_half_in_a_round"],
    ),
    (
        "neighbors-change-places-by-blocks",
        "partition/in_blocks.py",
        "share = min(share, 0.5)",
        "pass",
        ["test_clusters_of_unequal_sizes_are_found_by_blocks_too"],
    ),
    (
        "a-worker-with-other-versions-goes-on",
        "distributed/engine.py",
        "if version != origin.versions.get(name)",
        "if not version",
        ["test_other_versions_on_a_worker_are_named"],
    ),
    (
        "repeated-edges-of-parquet-keep-the-least-weight",
        "distributed/ingestion.py",
        "np.lexsort((-weights, columns, rows))",
        "np.lexsort((weights, columns, rows))",
        ["test_the_store_holds_the_edges_of_all_files"],
    ),
    (
        "ratio-loss-forgets-the-loop",
        _OBJECTIVE,
        "(inside_own - 2.0 * link - loop) / (mass_own - mass)",
        "(inside_own - 2.0 * link) / (mass_own - mass)",
        _PREDICTED_MOVES,
    ),
    (
        "plain-loss-forgets-the-loop",
        _OBJECTIVE,
        "return 2.0 * link + loop - objective.pull * mass * (2.0 * mass_own - mass)",
        "return 2.0 * link - objective.pull * mass * (2.0 * mass_own - mass)",
        _PREDICTED_MOVES,
    ),
    (
        "plain-loss-counts-the-node-as-another",
        _OBJECTIVE,
        "(2.0 * mass_own - mass)",
        "(2.0 * mass_own + mass)",
        _PREDICTED_MOVES,
    ),
    (
        "plain-gain-forgets-the-mass-that-comes",
        _OBJECTIVE,
        "return 2.0 * link + loop - objective.pull * mass * (2.0 * mass_of + mass)",
        "return 2.0 * link + loop - objective.pull * mass * (2.0 * mass_of)",
        _PREDICTED_MOVES,
    ),
    (
        "ratio-gain-over-the-old-mass",
        _OBJECTIVE,
        "return (inside + 2.0 * link + loop) / (mass_of + mass) - inside / mass_of",
        "return (inside + 2.0 * link + loop) / mass_of - inside / mass_of",
        _PREDICTED_MOVES,
    ),
    (
        "union-predicted-with-its-edge-once",
        _OBJECTIVE,
        "(inside_a + inside_b + 2.0 * link)",
        "(inside_a + inside_b + link)",
        _PREDICTED_UNIONS,
    ),
    (
        "plain-union-pulled-once",
        _OBJECTIVE,
        "return 2.0 * (link - objective.pull * mass_a * mass_b)",
        "return 2.0 * link - objective.pull * mass_a * mass_b",
        _PREDICTED_UNIONS,
    ),
    (
        "chance-adds-the-masses",
        _OBJECTIVE,
        "return link / (mass_a * mass_b)",
        "return link / (mass_a + mass_b)",
        _PREDICTED_UNIONS,
    ),
    (
        "score-without-pull",
        _OBJECTIVE,
        "return inside - objective.pull * mass * mass",
        "return inside - objective.pull * mass",
        ["test_the_value_is_that_of_the_definition"],
    ),
    (
        "potts-value-linear-in-mass",
        _OBJECTIVE,
        "return inside - objective.pull * mass * mass",
        "return inside - objective.pull * mass",
        ["test_the_value_is_that_of_the_definition"],
    ),
    (
        "ratio-cut-forgets-the-degrees",
        "objective/objective.py",
        'graph.loops - graph.degrees if name == "ratio_cut"',
        'graph.loops if name == "ratio_cut"',
        ["test_the_value_is_that_of_the_definition"],
    ),
    (
        "chosen-move-of-the-first-cluster-met",
        "compiled/graphs/objective.py",
        "best = c if gain > most else best",
        "best = c if gain > most and best < 0 else best",
        _CHOICE_TESTS,
    ),
    (
        "union-counts-its-edge-once",
        _MERGING,
        'enlarged["inside"] += ended["inside"] + 2.0 * link',
        'enlarged["inside"] += ended["inside"] + link',
        _UNION_TESTS,
    ),
    (
        "the-score-of-a-cluster-that-grows-stays",
        _MERGING,
        '    enlarged["score"] = score(objective, enlarged["inside"], enlarged["mass"])\n',
        "",
        ["test_every_union_is_the_best_that_is_allowed"],
    ),
    (
        "scores-of-nodes-left-at-zero",
        _MERGING,
        '        clusters[u]["score"] = score(objective, clusters[u]["inside"], clusters[u]["mass"])\n',
        "",
        ["test_every_union_is_the_best_that_is_allowed"],
    ),
    (
        "union-without-the-giant",
        _MERGING,
        "if objective.kind == RATIO and giant != a:",
        "if objective.kind == RATIO and giant != a and link[giant] > 0:",
        _UNION_TESTS,
    ),
    (
        "giant-of-once-stays-the-giant",
        _MERGING,
        'if is_ratio and b != state[1] and clusters[b]["mass"] > clusters[state[1]]["mass"]:',
        'if is_ratio and b != state[1] and clusters[b]["mass"] > 1e300:',
        _UNION_TESTS,
    ),
    (
        "grown-cluster-is-not-looked-at-again",
        _MERGING,
        "elif (hardly_grows and not is_heavier) or (is_ratio and b == state[1]):",
        "elif True:",
        _UNION_TESTS,
    ),
    (
        "merged-without-a-second-look",
        _MERGING,
        'if (state[0] > 0 and top["gain"] < least) or b < 0:',
        "if b < 0:",
        _UNION_TESTS,
    ),
    (
        "unlinked-clusters-are-united-heaviest-first",
        _MERGING,
        'size = push(gains, items, size, -clusters[u]["mass"], u)',
        'size = push(gains, items, size, clusters[u]["mass"], u)',
        ["test_clusters_that_nothing_links_are_united_lightest_first"],
    ),
    (
        "trace-one-too-high",
        _MERGING,
        'merger.trace[state[2] - 1] = top["gain"]',
        'merger.trace[state[2] - 2] = top["gain"]',
        _UNION_TESTS,
    ),
    (
        "resolution-at-the-arithmetic-mean",
        "partition/resolution.py",
        "np.sqrt((lowest or min(FLOOR, highest)) * highest)",
        "0.5 * ((lowest or min(FLOOR, highest)) + highest)",
        _RANGE_TESTS,
    ),
    (
        "small-graphs-suit-a-coreset",
        "partition/choice.py",
        "if graph.n_entries < BUDGET:",
        "if False:",
        ["test_only_large_graphs_without_many_triangles_suit_a_coreset"],
    ),
    (
        "edges-that-hardly-count-make-a-graph-dense",
        "partition/choice.py",
        " * evenness(graph.weights)",
        "",
        ["test_only_large_graphs_without_many_triangles_suit_a_coreset"],
    ),
    (
        "a-coreset-of-most-nodes",
        "partition/choice.py",
        "if default_size(graph.n_nodes, that_count, k) > LEFT_BY_JOINING",
        "if default_size(graph.n_nodes, that_count, 1) > LEFT_BY_JOINING",
        ["test_only_large_graphs_without_many_triangles_suit_a_coreset"],
    ),
    (
        "graphs-with-triangles-suit-a-coreset",
        "partition/choice.py",
        "share_in_common(graph, rng) < LITTLE_IN_COMMON",
        "share_in_common(graph, rng) < 1.0",
        ["test_the_method_follows"],
    ),
    (
        "merging-looks-at-the-ended-cluster",
        _MERGING,
        "b = np.uint32(_alive(clusters, neighbors[e]))",
        "b = np.uint32(neighbors[e])",
        _UNION_TESTS,
    ),
    (
        "merging-never-tires-of-a-hub",
        _MERGING,
        "weary = state[3] > TIRING * len(chains.links)",
        "weary = False",
        _HUB_TESTS,
    ),
    (
        "merging-looks-at-a-hub-after-every-union",
        _MERGING,
        "elif hardly_grows and weary:",
        "elif False:",
        _HUB_TESTS,
    ),
    (
        "merging-puts-a-hub-off-by-its-own-gain-alone",
        _MERGING,
        "-np.inf < first < gain:",
        "-np.inf < first < -np.inf:",
        _HUB_TESTS,
    ),
    (
        "merging-takes-any-gain-once-tired",
        _MERGING,
        "max(near, ROUGHLY * abs(gains[0]))",
        "max(near, 8.0 * abs(gains[0]))",
        ["test_leaves_of_unequal_weight_join_their_hub_about_in_the_order_of_their_links"],
    ),
    (
        "merging-begins-anew-where-its-budget-ended",
        _MERGING,
        "    if state[2] == 0:\n        _start",
        "    if state[2] >= 0:\n        _start",
        ["test_merging_goes_on_from_where_a_step_ended"],
    ),
    (
        "draws-that-are-not-those-of-numpy",
        "compiled/runtime/shuffling.py",
        "for i in range(len(values) - 1, 0, -1):",
        "for i in range(len(values) - 1, 1, -1):",
        ["test_orders_and_draws_are_those_of_numpy"],
    ),
    (
        "regions-move-on-the-way-down-when-time-is-up",
        "partition/descent.py",
        "stop = 1  # all unions at once",
        "stop = k - 1  # all unions at once",
        ["test_a_path_out_of_time_has_every_k_and_says_so"],
    ),
    (
        "union-of-a-cluster-that-grew",
        _MERGING,
        'clusters[a]["changed"] < looked or ',
        "",
        _UNION_TESTS,
    ),
    (
        "union-with-a-cluster-that-grew",
        _MERGING,
        ' or clusters[b]["changed"] < looked:',
        ":",
        _UNION_TESTS,
    ),
    (
        "union-though-the-giant-grew",
        _MERGING,
        'return not is_ratio or clusters[giant]["changed"] >= looked',
        "return True",
        _UNION_TESTS,
    ),
    (
        "first-look-without-the-giant",
        _MERGING,
        "best, most, shared = np.int32(giant), gain, with_giant",
        "pass",
        _UNION_TESTS,
    ),
    (
        "likelihood-of-one-rate",
        _LIKELIHOOD,
        "np.append(sums.inside, between), np.append(expected, total - expected.sum())",
        "np.array([total - between, between]), np.array([expected.sum(), total - expected.sum()])",
        ["test_the_likelihood_is_that_of_the_best_rates"],
    ),
    (
        "likelihood-without-links-between",
        _LIKELIHOOD,
        "np.append(sums.inside, between)",
        "np.append(sums.inside, 0.0)",
        ["test_the_likelihood_is_that_of_the_best_rates"],
    ),
    (
        "description-without-the-clusters",
        _LIKELIHOOD,
        "return float(clusters + 0.5",
        "return float(0.5",
        ["test_the_description_is_of_the_clusters_their_rates_and_the_edges"],
    ),
    (
        "description-without-the-rates",
        _LIKELIHOOD,
        "0.5 * n_rates * np.log(n_edges)",
        "0.0",
        ["test_the_description_is_of_the_clusters_their_rates_and_the_edges"],
    ),
    (
        "description-of-a-rate-between-no-clusters",
        _LIKELIHOOD,
        "k + 1 if k > 1 else 1",
        "k + 1",
        ["test_a_single_cluster_has_one_rate"],
    ),
    (
        "description-in-the-unit-of-the-weights",
        _LIKELIHOOD,
        "* n_edges / on.graph.total_volume",
        "* 0.5",
        ["test_the_description_is_of_the_clusters_their_rates_and_the_edges"],
    ),
    (
        "implied-resolution-of-the-sum",
        _LIKELIHOOD,
        "(within - between) / float",
        "(within + between) / float",
        ["test_at_the_implied_resolution_the_objective_is_the_likelihood_of_two_rates"],
    ),
    (
        "links-summed-with-empty-rows",
        "coreset/two_step.py",
        "np.add.reduceat(weights, indptr[:-1][linked])",
        "np.add.reduceat(weights, np.minimum(indptr[:-1], len(weights) - 1))[linked]",
        ["test_links_by_shared_neighbors"],
    ),
    (
        "heap-made-anew-of-the-dead",
        "compiled/graphs/merging.py",
        'if u != a and clusters[u]["merged_into"] == u and not (is_ratio and u == state[1]):\n                size',
        "if u != a and not (is_ratio and u == state[1]):\n                size",
        ["test_a_full_heap_is_made_anew_of_the_live_clusters_each_once"],
    ),
    (
        "heap-made-anew-with-one-twice",
        "compiled/graphs/merging.py",
        'if u != a and clusters[u]["merged_into"] == u and',
        'if clusters[u]["merged_into"] == u and',
        ["test_a_full_heap_is_made_anew_of_the_live_clusters_each_once"],
    ),
    (
        "heap-made-anew-with-the-giant",
        "compiled/graphs/merging.py",
        "and not (is_ratio and u == state[1]):\n                size = push(merger.gains",
        "and not (is_ratio and u == state[2]):\n                size = push(merger.gains",
        ["test_a_full_heap_is_made_anew_of_the_live_clusters_each_once"],
    ),
]
