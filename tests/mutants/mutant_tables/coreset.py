"""Sampling in kernel space, the coreset and its graphs, labels from it."""

MUTANTS = {
    "coreset/parallel_sampling.py": {
        "test_any_blocks_draw_the_same": {
            "seeds-drawn-by-the-number-in-the-block": "draw_each(key, turn, «first→0», factor",
        },
        "test_the_distances_are_those_of_the_formula": {
            "ranks-of-seeds-start-again-in-each-round": "approach_distances, self.distances, rows, «self.n_seeds→0»)",
        },
        "test_importance_sampling_has_the_published_probabilities": {
            "voronoi-shares-by-all-seeds": "volumes = sums.volumes«[distances.nearest]→.mean()»",
        },
        "test_draws_within_a_block_follow_the_shares": {
            "drawn-weights-without-counts": "«counts * →»weights / (shares[places]",
        },
        "test_all_points_of_a_block_are_those_of_little_weight_too": {
            "all-points-of-weight-above-one": "    points = np.flatnonzero(weights > «0→1»)\n    return first",
        },
    },
    "coreset/row_subset.py": {
        "test_links_and_labels_from_the_rows_of_the_coreset_are_those_of_the_graph": {
            "columns-counted-from-the-start-of-the-graph": (
                "numbers[own] = «rows.nodes[own] - first→n + np.arange(m)[own]»"
            ),
        },
    },
    "coreset/sampling.py": {
        "test_a_seed_that_was_drawn_twice_weighs_once": {
            "seed-weight-of-repeated-seeds": "weights[«np.unique(seeds.nodes)→seeds.nodes»].sum()",
        },
        "test_sizes_of_rounds_follow_algorithm_4": {
            "round-sizes-exponent": "scale * iterated**0.«5→25» *",
        },
        "test_a_uniform_sample_weighs_each_draw_alike": {
            "uniform-weights-count-isolated-nodes": "(«len(points)→kernel.n_nodes» / size)",
            "uniform-weights-without-counts": "«counts * →»kernel.point_weights[nodes] * (len(points)",
        },
        "test_after_the_gate_only_rows_of_sampled_nodes_are_read": {
            "oversampling-ignored": "«ceil(oversampling * k)→k», method=sampling",
        },
        "test_importance_sampling_draws_from_the_exact_distribution": {
            "importance-weights-by-distinct-nodes": "(probabilities[nodes] * «size→len(nodes)»)",
            "importance-weights-without-counts": "«counts * →»kernel.point_weights[nodes] / (",
            "voronoi-volumes-unweighted": "np.bincount(seeds.nearest, «weights=weights, →»minlength",
            "sensitivity-without-cost": "sensitivity «+→»= weights / weights[np.unique(seeds.nodes)].sum()",
            "sensitivity-cost-unweighted": "sensitivity = «weights * seeds.sq_distances→seeds.sq_distances.copy()»",
        },
    },
    "objective/kernel.py": {
        "test_iterated_coresets_are_unbiased_too": {
            "restricted-kernel-keeps-its-weights": "self.self_affinity[nodes], «weights→self.point_weights[nodes]»)",
        },
        "test_kernel_is_that_of_the_formula": {
            "implied-loop-of-another-mean": "np.divide(degrees, row_length«→ + 1»,",
            "shift-over-squared-degree": "inverse + shift * inverse«→ * inverse»",
            "degrees-count-loops-twice": "degrees = degrees + «→loops + »mean_weight",
        },
    },
    "coreset/seeding.py": {
        "test_distances_and_nearest_seeds_equal_brute_force": {
            "first-seed-of-most-self-affinity": (
                "np.«argmin(np.where(weights > 0, self_affinity, →argmax(np.where(weights > 0, self_affinity, "
                "-»np.inf))"
            ),
        },
    },
    "compiled/graphs/seeding.py": {
        "test_distances_and_nearest_seeds_equal_brute_force": {
            "distance-in-feature-space": "seed_affinity - «2.0 * →»affinity",
            "scan-leaves-affinities-behind": "affinity[indices[e]] «= 0.0→*= 0.5»",
        },
        "test_scaling_the_weights_by_a_power_of_two_changes_no_draw": {
            "mass-of-a-neighbor-unweighted": "set_mass(tree, x, «point_weights[x] * →»distance)",
        },
        "test_d2_sampling_draws_from_the_exact_distribution": {
            "scan-unweighted": "mass = «point_weights[x] * →»sq_distances[x]",
        },
        "test_rounding_below_zero_is_not_counted_as_clipped": {
            "round-off-counted-as-clipped": "if distance < «-ROUND_OFF * (own_affinity + seed_affinity)→0.0»:",
        },
    },
    "compiled/graphs/sampling_tree.py": {
        "test_distances_never_increase_with_more_seeds": {
            "tree-sums-one-child-twice": "tree[node] = tree[2 * node + 1] + tree[2 * node + «2→1»]",
        },
        "test_tree_draws_each_leaf_in_proportion_to_its_mass": {
            "tree-target-not-lowered": "target -= «tree[left]→0.0»",
        },
        "test_a_sum_rounded_up_does_not_lead_to_a_leaf_without_mass": {
            "tree-enters-an-empty-half": "« or tree[left + 1] == 0.0→»",
        },
    },
    "compiled/graphs/label_extension.py": {
        "test_labels_equal_dense_weighted_kernel_k_means_assignment": {
            "label-value-of-one-product": "sq_norms[j] - «2.0 * →»nodes[x, PRODUCT]",
            "centroid-is-a-sum": "/ «(nodes[x, DEGREE] * cluster_weights[j])→nodes[x, DEGREE]»",
            "own-affinity-without-degree": "member_weights[i] * self_affinity[y]« * degrees[y]→»",
            "undecided-go-to-the-longest-centroid": "sq_norms[j] «<→>» sq_norms[default]",
            "regions-that-a-node-has-nothing-to-do-with": "«np.inf if met_only else →»sq_norms[default]",
        },
    },
    "coreset/label_extension.py": {
        "test_labels_equal_dense_weighted_kernel_k_means_assignment": {
            "isolated-nodes-undecided": "undecided[isolated] = «False→True»",
            "centroid-lengths": "squares = cluster_weights«**2→»",
        },
    },
    "coreset/induced_coreset_graph.py": {
        "test_coreset_graph_equals_the_dense_formula_and_is_symmetric_to_the_bit": {
            "coreset-graph-diagonal": "coreset.weights«**2→» * kernel",
            "coreset-graph-scales-one-side": "scale[row_of] * scale[«rows.indices→row_of»]",
        },
    },
    "compiled/graphs/shared_neighbors.py": {
        "test_formed_and_factored_equal_the_dense_product": {
            "two-steps-without-degrees": "factor = w« / degrees[z]→»",
            "second-step-unweighted": "factor« * (visit_weights[i] if weighted else 1.0)→»",
        },
        "test_a_hub_links_its_visitors_in_runs_and_keeps_their_total": {
            "hub-factor": "factor *= «(n_visitors - 1) / (end - start - 1→n_visitors / (end - start»)",
        },
    },
    "two_step/shared_neighbors.py": {
        "test_formed_and_factored_equal_the_dense_product": {
            "factor-without-root": "/ «np.sqrt(kernel.degrees[columns])→kernel.degrees[columns]»",
            "two-step-scale-unweighted": (
                "kernel.degrees, «coreset.weights→1.0» / kernel.degrees[coreset.nodes], lengths"
            ),
        },
        "test_a_coreset_node_of_many_neighbors_is_linked_through_some_and_keeps_its_total": {
            "links-through-some-neighbors-not-scaled-up": (
                "«    scale = scale * (lengths / np.maximum(np.diff(rows.indptr), 1))\n→»"
            ),
        },
    },
    "compiled/graphs/row_subset.py": {
        "test_of_long_rows_one_entry_stands_for_each_run_of_them": {
            "some-neighbors-are-the-first": "e = start + j« * length // room→»",
            "the-first-neighbor-of-each-run": (
                "«                e += np.int64(mix_bits(np.uint64(rows.indices[start]) + np.uint64(j)) % "
                "np.uint64(run))\n"
                "→»"
            ),
        },
    },
    "compiled/graphs/label_propagation.py": {
        "test_spreading_takes_the_label_of_most_weight": {
            "spreading-ties-to-the-first-met": "if link[c] > most« or (link[c] == most and c < best)→»:",
        },
        "test_row_loops.py": {
            "spreading-unweighted": "link[c] += «weights[e] if weighted else →»1.0",
        },
    },
}
