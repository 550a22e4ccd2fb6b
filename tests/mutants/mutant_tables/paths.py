"""The path of k, which k is suggested, how sure a clustering is, new nodes, and how good a coreset is."""

MUTANTS = {
    "profile/resolution_profile.py": {
        (
            "test_the_envelope_is_where_each_line_is_the_highest "
            "test_lines_below_the_envelope_come_nearest_where_their_empty_range_is"
        ): {
            "envelope-from-flat-to-steep": "np.lexsort((-inside, «-→»squares))",
            "envelope-keeps-what-is-overtaken-first": "return bool(overtakes «<→>» is_overtaken)",
            "envelope-keeps-lines-that-are-lower-everywhere": (
                "while found and inside[line] «>= inside[found[-1]]→< 0.0»:"
            ),
            "empty-range-one-place-off": "nearest = bounds[np.clip(place«→ - 1», 0, len(bounds) - 2)]",
        },
    },
    "profile/dendrogram.py": {
        "test_path.py": {
            "descent-counts-a-union's-edges-once": "self.inside[b] += self.inside[a] + «2.0 * →»link",
            "descent-plain-link-without-chance": (
                "return float(gain / 2.0« + objective.penalty * self.mass[a] * self.mass[b]→»)"
            ),
            "descent-ratio-link-not-halved": "- self.inside[a] - self.inside[b])« / 2.0→»",
        },
        "test_the_table_holds_the_recomputed_figures": {
            "figures-of-cuts-from-inside-as-if-of-volumes": (
                "np.maximum(«-inside if self.counts_loops_off else →»volume - inside, 0.0)"
            ),
            "squares-not-of-shares": "float(np.square(mass« / mass.sum())→).sum() / mass».sum())",
        },
        "test_the_path_puts_the_same_nodes_aside_for_every_k": {
            "volume-put-aside-does-not-count": "whole = float(volume.sum())« + self.aside→»",
        },
    },
    "profile/path.py": {
        "test_natural_distances_are_one_over_the_excess test_the_tree_joins_the_clusters_of_the_largest_k": {
            "tree-distance-is-the-excess": "distance = max(distance, «1.0 / →»excess)",
        },
        "test_the_tree_joins_the_clusters_of_the_largest_k": {
            "tree-leaves-by-name": "ordered[«self._numbers[most][:most]→:»] = names",
        },
    },
    "profile/select_k.py": {
        "test_numbers_near_one_another_are_one_answer": {
            "suggestion-takes-the-narrowest": "window = _are_near(ks, int(ks[np.«argmax→argmin»(together)]))",
            "suggestion-counts-one-cluster": "max(«2→1», smallest_k_by_components(path)), WELL_BELOW_TOP",
            "suggestion-without-windows": "return np.abs(ks - k) <= «NEAR * k→0»",
            "width-of-another-number": "found.append((k, «float(widths[_are_near(ks, k)].sum()→max(together»)))",
        },
        "test_a_wide_stable_lead_of_enough_evidence_is_clear": {
            "clear-without-as-much-evidence": "first.nats_saved >= «AS_GOOD * most→0.0»",
            "clear-without-a-lead": "lead >= «CLEAR_LEAD→1.0» or",
        },
        "test_a_larger_k_is_suggested_rather_than_one_that_unites_components": {
            "suggestion-unites-components": "if k >= «path.n_components→1»)",
        },
        "test_an_unclear_number_is_the_best_by_width_stability_and_evidence_together": {
            "unclear-number-of-a-narrow-range": "one.width >= «NARROWER * candidates[0].width→0.0»",
        },
    },
    "profile/path_builder.py": {
        "test_many_small_groups_are_suggested_beyond_three_times_the_square_root_of_the_nodes": {
            "path-of-cliques-as-short-as-others": "found[0][1] >= «WIDE_BEYOND→100.0»",
        },
    },
    "profile/edge_subsampling.py": {
        "test_the_share_of_edges_left_out_is_about_the_one_asked_for": {
            "both-entries-of-an-edge-by-themselves": (
                "«np.minimum(rows, graph.indices), np.maximum(rows, graph.indices)→rows, graph.indices»"
            ),
        },
        "test_a_hash_of_both_ends_decides_which_edges_are_left_out": {
            "edges-left-out-by-a-worse-hash": "stays = «mix_words(bits)→bits» >= np.uint64",
        },
    },
    "results/confidence.py": {
        "test_second_is_the_best_of_all_other_clusters_by_recomputed_objectives": {
            "certainty-gain-is-the-second's-alone": "gains[movable] = «loss - →-»best[movable]",
            "certainty-takes-the-worst-other": "order = np.lexsort((to, «-→»gain, rows))",
        },
        "test_shares_are_where_the_links_of_a_node_go": {
            "certainty-counts-the-own-loop-as-a-link": "if «graph.loops.any()→False»:",
        },
        "test_the_cluster_to_join_next_is_the_best_union": {
            "next-union-with-itself": "gain[c] = «-np.inf→gain[c]»",
        },
        "test_clusters_that_are_there_are_found_again_and_others_are_not": {
            "stability-over-all-nodes": "(of_own[both.row] + of_found[both.col]« - both.data→»)",
        },
    },
    "objective/unlinked.py": {
        "test_best_unlinked_cluster_of_many_is_that_of_a_search_through_all": {
            "unlinked-tangent-to-the-upper-hull": (
                "_slope(xs, ys, hull[-2], hull[-1]) «>→<»= _slope(xs, ys, hull[-1], c)"
            ),
            "unlinked-own-cluster-stays-on-the-hull": "order«[order != c]→»",
        },
    },
    "results/prediction.py": {
        "test_each_new_node_goes_where_the_recomputed_objective_is_largest": {
            "prediction-forgets-what-the-links-add-to-degrees": "mass, own = mass« + link→», degrees",
            "prediction-cut-without-the-new-links": "inside, loop = inside« - link→», -degrees",
            "prediction-in-the-old-volume": "volume = self.total + «2→0».0 * degrees",
        },
    },
    "results/coreset_quality.py": {
        "test_figures_of_coresets_that_are_made_up": {
            "coreset-judged-by-the-mean-alone": "helps = bool(«lowered→True» and",
            "coreset-never-tried-eight-times-as-large": "agreement >= «SAME→-1.0»",
        },
    },
}
