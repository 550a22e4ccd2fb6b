"""The path of k, which k is suggested, how sure a clustering is, new nodes, and how good a coreset is."""

_ENVELOPE = "profile/resolution_profile.py"
_DESCENT = "profile/dendrogram.py"
_SUGGESTION = "profile/select_k.py"
_CERTAINTY = "results/confidence.py"
_PREDICTION = "results/prediction.py"
_PATH = "profile/path.py"
_TABLE = ["test_the_table_holds_the_recomputed_figures"]
_ENVELOPES = ["test_the_envelope_is_where_each_line_is_the_highest"]
_ENVELOPES += ["test_lines_below_the_envelope_come_nearest_where_their_empty_range_is"]
_GAINS = ["test_second_is_the_best_of_all_other_clusters_by_recomputed_objectives"]
_NEW = ["test_each_new_node_goes_where_the_recomputed_objective_is_largest"]
_VERDICT = ["test_figures_of_coresets_that_are_made_up"]

MUTANTS = [
    (
        "envelope-from-flat-to-steep",
        _ENVELOPE,
        "np.lexsort((-inside, -squares))",
        "np.lexsort((-inside, squares))",
        _ENVELOPES,
    ),
    (
        "envelope-keeps-what-is-overtaken-first",
        _ENVELOPE,
        "return bool(overtakes < is_overtaken)",
        "return bool(overtakes > is_overtaken)",
        _ENVELOPES,
    ),
    (
        "envelope-keeps-lines-that-are-lower-everywhere",
        _ENVELOPE,
        "while found and inside[line] >= inside[found[-1]]:",
        "while found and inside[line] < 0.0:",
        _ENVELOPES,
    ),
    (
        "empty-range-one-place-off",
        _ENVELOPE,
        "nearest = bounds[np.clip(place, 0, len(bounds) - 2)]",
        "nearest = bounds[np.clip(place - 1, 0, len(bounds) - 2)]",
        _ENVELOPES,
    ),
    (
        "descent-counts-a-union's-edges-once",
        _DESCENT,
        "self.inside[b] += self.inside[a] + 2.0 * link",
        "self.inside[b] += self.inside[a] + link",
        ["test_path.py"],
    ),
    (
        "descent-plain-link-without-chance",
        _DESCENT,
        "return float(gain / 2.0 + objective.pull * self.mass[a] * self.mass[b])",
        "return float(gain / 2.0)",
        ["test_path.py"],
    ),
    (
        "descent-ratio-link-not-halved",
        _DESCENT,
        "- self.inside[a] - self.inside[b]) / 2.0",
        "- self.inside[a] - self.inside[b])",
        ["test_path.py"],
    ),
    (
        "figures-of-cuts-from-inside-as-if-of-volumes",
        _DESCENT,
        "np.maximum(-inside if self.counts_loops_off else volume - inside, 0.0)",
        "np.maximum(volume - inside, 0.0)",
        _TABLE,
    ),
    (
        "volume-put-aside-does-not-count",
        _DESCENT,
        "whole = float(volume.sum()) + self.aside",
        "whole = float(volume.sum())",
        ["test_the_path_puts_the_same_nodes_aside_for_every_k"],
    ),
    (
        "squares-not-of-shares",
        _DESCENT,
        "float(np.square(mass / mass.sum()).sum())",
        "float(np.square(mass).sum() / mass.sum())",
        _TABLE,
    ),
    (
        "tree-distance-is-the-excess",
        _PATH,
        "distance = max(distance, 1.0 / excess)",
        "distance = max(distance, excess)",
        ["test_natural_distances_are_one_over_the_excess", "test_the_tree_joins_the_clusters_of_the_largest_k"],
    ),
    (
        "tree-leaves-by-name",
        _PATH,
        "ordered[self._numbers[most][:most]] = names",
        "ordered[:] = names",
        ["test_the_tree_joins_the_clusters_of_the_largest_k"],
    ),
    (
        "suggestion-takes-the-narrowest",
        _SUGGESTION,
        "window = _are_near(ks, int(ks[np.argmax(together)]))",
        "window = _are_near(ks, int(ks[np.argmin(together)]))",
        ["test_numbers_near_one_another_are_one_answer"],
    ),
    (
        "suggestion-counts-one-cluster",
        _SUGGESTION,
        "max(2, smallest_k_by_components(path)), WELL_BELOW_TOP",
        "max(1, smallest_k_by_components(path)), WELL_BELOW_TOP",
        ["test_numbers_near_one_another_are_one_answer"],
    ),
    (
        "suggestion-without-windows",
        _SUGGESTION,
        "return np.abs(ks - k) <= NEAR * k",
        "return np.abs(ks - k) <= 0",
        ["test_numbers_near_one_another_are_one_answer"],
    ),
    (
        "clear-without-as-much-evidence",
        _SUGGESTION,
        "first.nats_saved >= AS_GOOD * most",
        "first.nats_saved >= 0.0",
        ["test_a_wide_stable_lead_of_enough_evidence_is_clear"],
    ),
    (
        "suggestion-unites-components",
        _SUGGESTION,
        "if k >= path.n_components)",
        "if k >= 1)",
        ["test_a_larger_k_is_suggested_rather_than_one_that_unites_components"],
    ),
    (
        "path-of-cliques-as-short-as-others",
        "profile/path_builder.py",
        "found[0][1] >= WIDE_BEYOND",
        "found[0][1] >= 100.0",
        ["test_many_small_groups_are_suggested_beyond_three_times_the_square_root_of_the_nodes"],
    ),
    (
        "unclear-number-of-a-narrow-range",
        _SUGGESTION,
        "one.width >= NARROWER * candidates[0].width",
        "one.width >= 0.0",
        ["test_an_unclear_number_is_the_best_by_width_stability_and_evidence_together"],
    ),
    (
        "width-of-another-number",
        _SUGGESTION,
        "found.append((k, float(widths[_are_near(ks, k)].sum())))",
        "found.append((k, max(together)))",
        ["test_numbers_near_one_another_are_one_answer"],
    ),
    (
        "clear-without-a-lead",
        _SUGGESTION,
        "lead >= CLEAR_LEAD or",
        "lead >= 1.0 or",
        ["test_a_wide_stable_lead_of_enough_evidence_is_clear"],
    ),
    (
        "both-entries-of-an-edge-by-themselves",
        "profile/edge_subsampling.py",
        "np.minimum(rows, graph.indices), np.maximum(rows, graph.indices)",
        "rows, graph.indices",
        ["test_the_share_of_edges_left_out_is_about_the_one_asked_for"],
    ),
    (
        "certainty-gain-is-the-second's-alone",
        _CERTAINTY,
        "gains[movable] = loss - best[movable]",
        "gains[movable] = -best[movable]",
        _GAINS,
    ),
    (
        "certainty-takes-the-worst-other",
        _CERTAINTY,
        "order = np.lexsort((to, -gain, rows))",
        "order = np.lexsort((to, gain, rows))",
        _GAINS,
    ),
    (
        "unlinked-tangent-to-the-upper-hull",
        "objective/unlinked.py",
        "_slope(xs, ys, hull[-2], hull[-1]) >= _slope(xs, ys, hull[-1], c)",
        "_slope(xs, ys, hull[-2], hull[-1]) <= _slope(xs, ys, hull[-1], c)",
        ["test_best_unlinked_cluster_of_many_is_that_of_a_search_through_all"],
    ),
    (
        "unlinked-own-cluster-stays-on-the-hull",
        "objective/unlinked.py",
        "order[order != c]",
        "order",
        ["test_best_unlinked_cluster_of_many_is_that_of_a_search_through_all"],
    ),
    (
        "certainty-counts-the-own-loop-as-a-link",
        _CERTAINTY,
        "if graph.loops.any():",
        "if False:",
        ["test_shares_are_where_the_links_of_a_node_go"],
    ),
    (
        "next-union-with-itself",
        _CERTAINTY,
        "gain[c] = -np.inf",
        "gain[c] = gain[c]",
        ["test_the_cluster_to_join_next_is_the_best_union"],
    ),
    (
        "stability-over-all-nodes",
        _CERTAINTY,
        "(of_own[both.row] + of_found[both.col] - both.data)",
        "(of_own[both.row] + of_found[both.col])",
        ["test_clusters_that_are_there_are_found_again_and_others_are_not"],
    ),
    (
        "prediction-forgets-what-the-links-add-to-degrees",
        _PREDICTION,
        "mass, own = mass + link, degrees",
        "mass, own = mass, degrees",
        _NEW,
    ),
    (
        "prediction-cut-without-the-new-links",
        _PREDICTION,
        "inside, loop = inside - link, -degrees",
        "inside, loop = inside, -degrees",
        _NEW,
    ),
    (
        "prediction-in-the-old-volume",
        _PREDICTION,
        "volume = self.total + 2.0 * degrees",
        "volume = self.total + 0.0 * degrees",
        _NEW,
    ),
    (
        "coreset-judged-by-the-mean-alone",
        "coreset/diagnostics.py",
        "helps = bool(lowered and",
        "helps = bool(True and",
        _VERDICT,
    ),
    (
        "coreset-never-tried-eight-times-as-large",
        "coreset/diagnostics.py",
        "agreement >= SAME",
        "agreement >= -1.0",
        _VERDICT,
    ),
    (
        "edges-left-out-by-a-worse-hash",
        "profile/edge_subsampling.py",
        "stays = mix_words(bits) >= np.uint64",
        "stays = bits >= np.uint64",
        ["test_a_hash_of_both_ends_decides_which_edges_are_left_out"],
    ),
]
