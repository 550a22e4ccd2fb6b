"""Objectives, moving, merging, contracting, the matched resolution and the doubt about a coreset."""

MUTANTS = {
    "faces/plots/raster.py": {
        "test_the_raster_counts_every_entry_where_it_lies": {
            "raster-density-per-row": "counts / np.outer(nodes_in, «nodes_in→np.ones(size)»)",
            "raster-columns-as-rows": "np.repeat(square[first:last]« * size→», lengths)",
        },
    },
    "faces/plots/links.py": {
        "test_links_between_clusters_are_those_of_the_quotient_graph": {
            "excess-without-the-whole-volume": "share @ weight @ share« * clustering.graph.total_volume→»",
        },
    },
    "faces/plots/bars.py": {
        "test_calibration_by_hand": {
            "calibration-error-of-the-sum": "np.sqrt(share * (1.0 - share)« / [len(group) for group in groups]→»)",
        },
    },
    "faces/plots/every_k.py": {
        "test_the_tree_is_cut_into_as_many_clusters_as_marked": {
            "tree-cut-one-union-too-low": "float(heights[n - k«]) if k > 1→ - 1]) if 1 < k < n»",
        },
    },
    "faces/html/figures.py": {
        "test_strengths_are_logarithmic": {
            "strengths-not-logarithmic": "scale = «np.log(density[found])→density[found]»",
        },
    },
    "progress.py": {
        ("test_an_interrupt_anywhere_carries_complete_labels_or_nothing test_what_nobody_will_ask_for_is_not_kept"): {
            "best-of-a-part-taken-for-the-whole": "            «make = _chain(made_whole, make)→pass»",
        },
    },
    "two_step/executors.py": {
        "test_a_round_that_does_no_good_is_taken_back": {
            "rounds-that-do-harm-are-kept": "if «value_of(objective, sums_after) > value_of(objective, sums)→True»:",
        },
        "test_a_small_cluster_grows_by_about_half_in_a_round": {
            "clusters-grow-without-a-bound-in-a-round": "shares = share * np.«minimum→maximum»(1.0, GROWTH",
        },
        "test_clusters_of_unequal_sizes_are_found_by_blocks_too": {
            "neighbors-change-places-by-blocks": "«share = min(share, 0.5)→pass»",
        },
    },
    "two_step/blockwise.py": {
        "test_a_cluster_that_all_would_leave_stays test_rounds_of_moves_raise_the_value_and_empty_no_cluster": {
            "rounds-may-empty-a-cluster": (
                "made = «moves_that_empty_none(labels[nodes], to, size→np.ones(len(nodes), np.bool_»)"
            ),
        },
    },
    "distributed/engine.py": {
        "test_other_versions_on_a_worker_are_named": {
            "a-worker-with-other-versions-goes-on": "if «version != origin.versions.get(name)→not version»",
        },
    },
    "distributed/ingestion.py": {
        "test_the_store_holds_the_edges_of_all_files": {
            "repeated-edges-of-parquet-keep-the-least-weight": "np.lexsort((«-→»weights, columns, rows))",
        },
    },
    "compiled/graphs/objective.py": {
        "test_the_predicted_change_of_every_move_is_the_recomputed_one": {
            "ratio-loss-forgets-the-loop": "(inside_own - 2.0 * link« - loop→») / (mass_own - mass)",
            "plain-loss-forgets-the-loop": (
                "return 2.0 * link «+ loop →»- objective.penalty * mass * (2.0 * mass_own - mass)"
            ),
            "plain-loss-counts-the-node-as-another": "(2.0 * mass_own «-→+» mass)",
            "plain-gain-forgets-the-mass-that-comes": (
                "return 2.0 * link + loop - objective.penalty * mass * (2.0 * mass_of« + mass→»)"
            ),
            "ratio-gain-over-the-old-mass": (
                "return (inside + 2.0 * link + loop) / «(mass_of + mass)→mass_of» - inside / mass_of"
            ),
        },
        "test_the_predicted_change_of_every_union_is_the_recomputed_one": {
            "union-predicted-with-its-edge-once": "(inside_a + inside_b + «2.0 * →»link)",
            "plain-union-pulled-once": (
                "return 2.0 * «(link - objective.penalty * mass_a * mass_b)→link - objective.penalty * mass_a * mass_b»"
            ),
            "chance-adds-the-masses": "return link / (mass_a «*→+» mass_b)",
        },
        "test_the_value_is_that_of_the_definition": {
            "score-without-penalty": "return inside - objective.penalty * mass« * mass→»",
            "potts-value-linear-in-mass": "return inside - objective.penalty * mass« * mass→»",
        },
        "test_the_chosen_moves_are_the_best_of_all": {
            "chosen-move-of-the-first-cluster-met": "best = c if gain > most «→and best < 0 »else best",
        },
    },
    "objective/objective.py": {
        "test_the_value_is_that_of_the_definition": {
            "ratio-cut-forgets-the-degrees": "graph.loops «- graph.degrees →»if made_of.less_degree",
        },
    },
    "compiled/graphs/merging.py": {
        "test_every_union_is_the_best_that_is_allowed test_the_tree_unites_what_is_linked_most_beyond_chance": {
            "union-counts-its-edge-once": 'enlarged["inside"] += ended["inside"] + «2.0 * →»link',
            "union-without-the-giant": (
                "if objective.kind == RATIO and giant != a and «has_room(limits, giant, "
                'load)→clusters[giant]["link"] > 0.0»:'
            ),
            "giant-of-once-stays-the-giant": (
                'if is_ratio and b != state[1] and clusters[b]["mass"] > «clusters[state[1]]["mass"]→1e300»:'
            ),
            "grown-cluster-is-not-looked-at-again": (
                "elif «(hardly_grows and not is_heavier) or (is_ratio and b == state[1])→True»:"
            ),
            "merged-without-a-second-look": 'if «(state[0] > 0 and top["gain"] < least) or →»b < 0:',
            "trace-one-too-high": 'merger.trace[state[2] - «1→2»] = top["gain"]',
            "merging-looks-at-the-ended-cluster": "b = np.uint32(«_live_cluster(clusters, neighbors[e])→neighbors[e]»)",
            "union-of-a-cluster-that-grew": '«clusters[a]["changed"] < looked or →»',
            "union-with-a-cluster-that-grew": '« or clusters[b]["changed"] < looked→»:',
            "union-though-the-giant-grew": 'return «not is_ratio or clusters[giant]["changed"] >= looked→True»',
            "first-look-without-the-giant": "«best, most, shared = np.int32(giant), gain, with_giant→pass»",
        },
        "test_every_union_is_the_best_that_is_allowed": {
            "the-score-of-a-cluster-that-grows-stays": (
                '«    enlarged["score"] = score(objective, enlarged["inside"], enlarged["mass"], ())\n→»'
            ),
            "scores-of-nodes-left-at-zero": (
                '«        clusters[u]["score"] = score(objective, clusters[u]["inside"], clusters[u]["mass"], ())\n→»'
            ),
        },
        "test_clusters_that_nothing_links_are_united_lightest_first": {
            "unlinked-clusters-are-united-heaviest-first": 'return «→-»clusters[c]["mass"]',
        },
        "test_nodes_that_hang_on_a_hub_are_merged_in_time_that_grows_with_their_number": {
            "merging-never-tires-of-a-hub": "is_slow = «state[3] > MANY_READS * len(chains.links)→False»",
            "merging-looks-at-a-hub-after-every-union": "elif «hardly_grows and is_slow→False»:",
            "merging-puts-a-hub-off-by-its-own-gain-alone": "-np.inf < first < «gain→-np.inf»:",
        },
        "test_leaves_of_unequal_weight_join_their_hub_about_in_the_order_of_their_links": {
            "merging-takes-any-gain-once-tired": "max(near, «COARSE_TIE→8.0» * abs(gains[0]))",
        },
        "test_merging_goes_on_from_where_a_step_ended": {
            "merging-starts-over-where-its-budget-ended": "    if state[2] «=→>»= 0:\n        _start",
        },
        "test_a_full_heap_is_made_anew_of_the_live_clusters_each_once": {
            "heap-rebuilt-of-the-dead": (
                'if u != a and «clusters[u]["merged_into"] == u and →»not (is_ratio and u == state[1]):\n'
                "                size"
            ),
            "heap-rebuilt-with-one-twice": 'if «u != a and →»clusters[u]["merged_into"] == u and',
            "heap-rebuilt-with-the-giant": (
                "and not (is_ratio and u == state[«1→2»]):\n                size = push(merger.gains"
            ),
        },
    },
    "compiled/graphs/fiduccia_mattheyses.py": {
        "test_moves_never_lower_the_value_nor_break_the_bound": {
            "searches-lock-what-they-roll-back": "locked[u] = «ROLLED_BACK→KEPT»",
        },
        "test_finds_the_smallest_balanced_cut_of_ten_nodes": {
            "no-slack-below-the-lower-bound": "«max(0.0, task.least - slack)→task.least», task.most + slack",
        },
    },
    "compiled/graphs/balance.py": {
        "test_every_node_is_in_one_of_exactly_k_parts_within_the_bound": {
            "balanced-clusters-change-their-numbers": (
                "return without_gaps(labels, sums)« if task.k == 0 else Partition(labels, sums)→», within"
            ),
        },
    },
    "compiled/graphs/bounds.py": {
        "test_no_step_passes_the_maximum": {
            "a-cluster-has-room-for-one-more": "return limits.load[c] + size <= limits.most«→ + 1.0»",
        },
    },
    "engine/resolution.py": {
        (
            "test_natural_ranges_of_a_known_dendrogram "
            "test_the_matched_resolution_is_in_the_middle_on_a_logarithmic_scale "
            "test_the_range_of_a_dendrogram_is_where_just_k_is_left"
        ): {
            "resolution-at-the-arithmetic-mean": (
                "«np.sqrt((lowest or min(FLOOR, highest)) *→0.5 * ((lowest or min(FLOOR, highest)) +» highest)"
            ),
        },
    },
    "two_step/method_selection.py": {
        "test_only_large_graphs_without_many_triangles_suit_a_coreset": {
            "small-graphs-suit-a-coreset": "if «graph.n_entries < BUDGET→False»:",
            "edges-that-hardly-count-make-a-graph-dense": "« * evenness(graph.weights)→»",
            "a-coreset-of-most-nodes": "if default_size(graph.n_nodes, that_count, «k→1») > LEFT_BY_JOINING",
        },
        "test_the_method_taken_follows_the_graph": {
            "graphs-with-triangles-suit-a-coreset": "share_in_common(graph, rng) < «LITTLE_IN_COMMON→1.0»",
        },
    },
    "compiled/runtime/shuffling.py": {
        "test_orders_and_draws_are_those_of_numpy": {
            "draws-that-are-not-those-of-numpy": "for i in range(len(values) - 1, «0→1», -1):",
        },
    },
    "profile/dendrogram.py": {
        "test_a_path_out_of_time_has_every_k_and_says_so": {
            "regions-move-on-the-way-down-when-time-is-up": "stop = «→k - »1  # all unions at once",
        },
    },
    "engine/likelihood.py": {
        "test_the_likelihood_is_that_of_the_best_rates": {
            "likelihood-of-one-rate": (
                "np.«append(sums.inside, between), np.append(expected, total - expected.sum()→array([total - "
                "between, between]), np.array([expected.sum(), total - expected.sum()]»)"
            ),
            "likelihood-without-links-between": "np.append(sums.inside, «between→0.0»)",
        },
        "test_clusters_are_described_by_a_code": {
            "numberings-told-apart": ".sum()« - gammaln(k + 1.0)→»",
            "clusters-without-their-sizes": "«+ gammaln(n) - gammaln(k) - gammaln(n - k + 1.0)→»",
        },
        "test_nats_saved_are_those_written_out": {
            "saved-without-the-second-rate": "return float(gain * n_edges« - 0.5 * np.log(n_edges)→»)",
        },
        "test_nothing_is_saved_by_one_cluster_or_by_what_are_no_clusters": {
            "saved-by-what-are-no-clusters": "if «inside > expected→True»:  # else",
        },
        "test_weights_that_differ_count_as_fewer_edges": {
            "weights-that-differ-count-in-full": (
                "return «0.5 * float(graph.weights.sum()) ** 2 / float(np.square(graph.weights).sum())→n_entries / 2.0»"
            ),
        },
        "test_at_the_implied_resolution_the_objective_is_the_likelihood_of_two_rates": {
            "implied-resolution-of-the-sum": "(within «-→+» between) / float",
        },
    },
    "two_step/shared_neighbors.py": {
        "test_links_by_shared_neighbors_are_the_same_with_prefetching": {
            "links-summed-with-empty-rows": (
                "np.add.reduceat(weights, «indptr[:-1][linked])→np.minimum(indptr[:-1], len(weights) - 1))[linked]»"
            ),
        },
    },
    "partition/components.py": {
        "test_a_graph_without_communities_is_not_split_to_put_a_component_aside": {
            "component-of-no-worth": "price[whole] = «gain_of_separation(clusters.mass[whole], typical)→0.0»",
        },
        "test_worth_is_what_two_clusters_add_to_the_likelihood_of_one": {
            "worth-of-two-with-links-once": "apart += «2.0 * →»_log_rate(",
        },
        "test_reduced_clusters_are_k_and_lose_whole_components_only": {
            "inner-links-once": "np.add.at(inside, a[inner], «2.0 * →»clusters.link[inner])",
        },
        "test_equal_components_in_fewer_clusters_are_united_and_a_remark_says_so": {
            "equal-components-aside": "takes_part «|→&»= volumes >= ABOUT_AS_LARGE",
        },
        "test_nothing_is_cut_where_all_is_one_cluster": {
            "one-cluster-without-what-two-have": "k = max(k, «2→1»)",
        },
        "test_a_giant_and_many_crumbs_is_clustered_as_the_giant_alone": {
            "crumbs-are-searched": "takes_part «→|»= chosen\n",
        },
        "test_a_component_that_grows_takes_a_cluster_once_and_one_at_most": {
            "estimated-split-of-no-worth": "heapreplace(heap, (max(gain, -«STRUCTURE→0.0» * np.log(2.0)",
        },
    },
    "compiled/graphs/local_moving.py": {
        "test_the_value_never_falls_move_by_move": {
            "engine-loops-stay-behind": "sums.inside[to] += 2.0 * shared« + loop→»",
            "engine-links-are-not-corrected": "stays += «w * (np.float64(since == own) - np.float64(then == own))→0.0»",
            "engine-links-to-the-target-are-not-corrected": (
                "shared += «w * (np.float64(since == to) - np.float64(then == to))→0.0»"
            ),
            "engine-earlier-neighbors-are-later-ones": "if v «<→>» u and batch.low",
        },
        "test_a_refinement_keeps_k_clusters_and_its_sums_are_those_of_its_labels": {
            "engine-a-last-node-leaves": (
                "may_vanish = not alone« and len(sums.size) - counts[N_EMPTY] > rules.fewest→»"
            ),
        },
        "test_a_move_queues_the_neighbors": {
            "engine-neighbors-are-not-queued": "                waits[v] = «WAITS→IDLE»\n",
        },
        "test_no_fewer_regions_are_left_than_are_asked_for": {
            "engine-fewest-is-not-asked": "len(sums.size) - counts[N_EMPTY] >«→=» rules.fewest",
        },
        "test_the_chosen_moves_are_the_best_of_all test_a_node_that_no_cluster_suits_becomes_one_by_itself": {
            "engine-alone-is-never-best": "        and sums.size[own] > «1→n_met»\n        and may_stand",
        },
    },
    "engine/local_moving.py": {
        "test_a_refinement_keeps_k_clusters_and_its_sums_are_those_of_its_labels": {
            "engine-k-clusters-are-opened": "rules = loops.Rules(1« if free else k→», free,",
        },
    },
    "compiled/graphs/contraction.py": {
        "test_links_of_clusters_are_sums_of_edges_however_they_are_read": {
            "engine-inner-links-are-links": "place = np.uint32(«place_of(other, other == c, e - row, k)→other»)",
        },
    },
    "compiled/graphs/v_cycle.py": {
        "test_rows_within_parts_are_those_of_the_graph_without_what_leads_elsewhere": {
            "engine-parts-are-not-kept-apart": "n_kept += «parts[v] == part→1»",
        },
        "test_no_step_lets_the_value_fall_and_all_keep_k_clusters": {
            "engine-what-was-found-is-lost": (
                "best = «kept if value_of(task.objective, kept.sums) >= value_of(task.objective, best.sums) else →»best"
            ),
        },
    },
    "engine/engine.py": {
        "test_every_graph_is_cut_into_exactly_k": {
            "engine-one-cluster-has-children": "if n_new and len(level.terms.mass) > task.k« != 1→»:",
        },
        "test_a_child_is_no_worse_than_the_best_parent": {
            "engine-parents-of-a-child-are-lost": (
                "if «worth(step.coarse, child, task, run) < worth(step.coarse, kept, task, run)→False»:"
            ),
        },
        "test_a_search_ends_where_every_new_partition_is_the_best": {
            "engine-a-search-does-not-settle": "if «is_settled and (not by_regions or task.most < np.inf)→False»:",
        },
    },
    "engine/agglomeration.py": {
        "test_of_equally_good_partitions_the_one_of_fewest_clusters_is_returned": {
            "ties-are-left-apart": "objective.penalty * (1.0 «-→+» ROUND_OFF)",
        },
    },
    "engine/join_small_clusters.py": {
        "test_small_clusters_join_the_neighbor_of_most_weight_and_a_remark_says_which": {
            "small-clusters-join-the-neighbor-of-least-weight": "key=lambda root: («→-»tied[root], -root)",
        },
    },
    "engine/bounds.py": {
        "test_small_components_are_clusters_unless_left_out": {
            "components-below-the-minimum-are-filled": "if «holds_enough.all() or run.graph is None→True»:",
        },
        "test_no_part_of_a_mesh_is_empty_work": {
            "equal-parts-may-be-empty-work": "0.0« if min_imbalance is None else 1.0 - min_imbalance→»",
        },
    },
    "engine/settling.py": {
        "test_of_several_partitions_one_within_the_bound_is_taken_before_one_of_less_cut": {
            "engine-what-is-outside-the-bounds-is-as-good": (
                "return «not is_bounded(task) or is_within(level, found, task, run)→True», value(found, task)"
            ),
        },
    },
    "engine/overlay.py": {
        "test_overlay_is_what_all_partitions_have_in_one_cluster": {
            "overlay-of-the-first-alone": "for other in partitions[«1→2»:]:",
        },
    },
    "two_step/in_memory.py": {
        "test_a_contraction_to_pieces_keeps_the_value_and_goes_both_ways": {
            "pieces-of-nodes-that-are-left-out": (
                "of_clusters[clusters«[self.searched]] = labels[self.searched]→] = labels»"
            ),
        },
        "test_clusters_keep_a_node_that_is_searched": {
            "left-out-nodes-keep-a-cluster": "return np.where(self.searched, labels, np.int32(self.k«→ - 1»))",
        },
    },
    "results/from_labels.py": {
        "test_figures_and_the_model_read_no_rows_again": {
            "cuts-are-taken-from-the-mass": "inside = sums.«inside→mass»[np.argsort",
            "sums-in-the-order-of-the-method": "sums.inside[«np.argsort(number[: len(sums.inside)])][→»:n_found]",
        },
    },
    "results/summed_cuts.py": {
        "test_sums_that_round_off_has_spoiled_are_made_again": {
            "round-off-is-a-cut": "if «found.graph.weights is None or ((cut > least) | (volume == 0.0)).all()→True»:",
        },
    },
    "engine/connectivity.py": {
        "test_parts_of_random_clusters_join_neighbors_and_the_sums_follow": {
            "strays-join-the-part-that-they-are": "nodes = np.flatnonzero(home[found.labels] «!→=»= parts)",
        },
    },
    "two_step/method.py": {
        "test_more_time_is_never_worse_and_is_used_while_it_gains": {
            "further-coresets-may-do-harm": (
                "if «value(tried, schedule.task) > value(found, schedule.task) + VALUE_RTOL * abs(value(found, "
                "schedule.task))→True»:"
            ),
        },
    },
    "results/clustering.py": {
        (
            "test_the_resolution_of_the_constant_potts_model_is_in_weight_between_two_nodes "
            "test_both_figures_are_reported_whatever_it_was_made_for"
        ): {
            "the-range-ends-with-more-clusters": "return «min(highest, self.resolution)→highest», self.resolution",
        },
    },
}
