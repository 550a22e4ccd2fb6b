"""The gate, what a partition is judged by, walks, generators, neighbors of points."""

MUTANTS = {
    "compiled/graphs/csr_checks.py": {
        "test_rounding_differences_between_both_directions_become_their_mean": {
            "symmetry-of-the-pattern-alone": "code = mix_bits(code« + row_bits[e] * np.uint64(0x9E3779B97F4A7C15)→»)",
        },
        "test_duplicates_are_summed": {
            "duplicates-pass-the-gate": "n_faults += row[e] <«=→» row[e - 1]",
        },
        "test_stored_zeros_are_dropped": {
            "zeros-pass-the-gate": "(row_weights[e] >«→=» 0.0) &",
        },
        "test_impossible_weights_are_refused": {
            "infinity-passes-the-gate": "« & (row_weights[e] < np.inf)→»",
        },
        "test_a_malformed_csr_never_reaches_a_loop": {
            "one-column-too-many": "(j < 0) | (j >«=→» n)",
        },
        "test_loops_stay_and_zeros_are_no_edges": {
            "known-rows-loops-of-one": "loops[i] = «weights[place] if weighted else →»1.0",
        },
        "test_directions_join_by_max_or_sum": {
            "known-rows-degrees-unweighted": (
                "degrees[i] = «compensated_sum(weights, start, end) if weighted else →»float(end - start)"
            ),
        },
        "test_components_of_random_graphs_are_those_of_scipy": {
            "components-miss-a-neighbor": "for e in range(indptr[u] + n_neighbors«→ + 1», indptr[u + 1]):",
        },
    },
    "graph/container.py": {
        "test_components_of_random_graphs_are_those_of_scipy": {
            "components-of-any-graph-are-one": "if sizes[giant] «== self.n_nodes→> 1»:",
        },
        "test_a_loop_is_stored_once_and_counts_once": {
            "loops-are-half-edges": "«(self.n_entries - n_loops) // 2 + n_loops→self.n_entries // 2»",
        },
    },
    "compiled/runtime/blocks.py": {
        "test_a_forked_child_that_is_killed_stops_no_other": {
            "numba-is-always-asked-for-its-threads": "        «numba.threading_layer()→pass»\n",
        },
    },
    "compiled/graphs/subgraphs.py": {
        "test_row_loops.py": {
            "loops-of-a-subgraph-of-one": "loops[r] = «weight→1.0»",
        },
    },
    "graph/matrices.py": {
        "test_directions_are_joined_by_the_rule": {
            "sum-of-directions-doubles-loops": "(matrix + mirrored« - doubled_loops→»)",
        },
        "test_rounding_differences_between_both_directions_become_their_mean": {
            "mean-of-directions-is-their-sum": "(«(matrix + mirrored) * 0.5→matrix + mirrored»)",
        },
        "test_a_directed_matrix_is_refused_with_the_remedy": {
            "tolerance-of-asymmetry": "SYMMETRY_TOLERANCE = 1e-«8→6»",
        },
    },
    "compiled/graphs/cuts.py": {
        "test_agrees_with_the_dense_formulas": {
            "leaving-weight-of-one": "total += «row_weights[e] if weighted else →»1.0",
        },
    },
    "objective/cuts.py": {
        "test_conductance_where_rounding_leaves_nothing_of_the_rest": {
            "conductance-without-guard": (
                "rest = «np.maximum(graph.total_volume - volume, cut)→graph.total_volume - volume»"
            ),
        },
        "test_a_loop_counts_once_in_the_volume_and_is_never_cut": {
            "conductance-of-the-larger-side": "«np.minimum(volume, rest)→volume»",
        },
        "test_two_triangles_joined_by_one_edge": {
            "modularity-of-shares": "- resolution * (volume / total)« ** 2→»).sum()",
        },
        "test_one_cluster_and_every_node_its_own": {
            "cost-forgets-the-shift-within": "+ «shift→0.0» * np.count_nonzero(volume)",
        },
        "test_modularity_with_self_loops_counted_twice_is_that_of_networkx_and_igraph": {
            "modularity-counts-self-loops-twice-inside-alone": "total« + float(graph.loops.sum())→»",
        },
    },
    "objective/agreement.py": {
        "test_agreement_of_labelings_equals_scikit_learn": {
            "rand-index-counts-a-node-with-itself": ".sum()) «- n →»for sizes",
            "rand-index-without-chance": "both * pairs« - first * second→»)",
            "information-over-the-larger-entropy": "_mutual_information(counts, *sizes) / «mean→max»(one, two)",
        },
        "test_mutual_information_by_all_averages_equals_scikit_learn test_adjusted_mutual_information_by_hand": {
            "overlaps-by-chance-from-one-too-few": "np.arange(max(1, a + b - n), min(a, b)« + 1→»)",
        },
    },
    "graph/laplacian.py": {
        "test_operator_equals_the_dense_matrix": {
            "normalized-adjacency-of-a-walk": (
                "walk, scaled = LazyWalk(stay, self.scale), «self.scale[:, None] * →»columns"
            ),
        },
    },
    "compiled/graphs/lazy_walk.py": {
        "test_operator_equals_the_dense_matrix": {
            "walk-steps-whole": "«(1.0 - stay) * →»row_scale[i] * out[i, c]",
        },
        "test_row_loops.py": {
            "walk-of-a-wrong-column": "weight * scaled[j, c + «3→2»]",
            "walk-of-odd-columns-unweighted": "total += «(weights[e] if weighted else 1.0) * →»scaled",
            "walk-of-many-columns-unweighted": "out[i, c] += «weight * →»scaled[j, c]",
        },
    },
    "generators/planted_graphs.py": {
        "test_every_pair_of_a_block_is_drawn_independently_with_probability_p": {
            "generator-takes-p-for-a-rate": "rates = «-np.log1p(-inside)→inside»",
        },
        "test_degree_correction_joins_each_pair_by_its_propensities": {
            "propensities-hardly-cut-off": "«np.sqrt(len(labels)→len(labels»))",
            "propensities-scaled-over-all-blocks": (
                "«(sizes / np.bincount(labels, weights=propensity))[labels]→len(labels) / propensity.sum()»"
            ),
            "propensities-of-another-exponent": "(-1.0 / «(exponent - 1.0)→exponent»)",
        },
        "test_in_small_blocks_a_node_is_not_counted_as_its_own_neighbor": {
            "a-node-is-its-own-neighbor-in-expectation": "inside_degree / «np.maximum(sizes - 1, 1)→sizes»",
        },
        "test_planted_partition_has_the_mean_degrees_asked_for": {
            "outside-pairs-are-all-pairs": "q = outside_degree «* n / n_outside_pairs→/ n» if",
        },
        "test_in_small_blocks_the_mean_degree_is_kept": {
            "lfr-inside-of-the-size": "(inside / «(sizes - 1)→sizes»).tolist()",
        },
        "test_degrees_and_mixing_on_average": {
            "lfr-without-mixing": "inside = «(1.0 - mixing) * →»mean_degree",
        },
        "test_sizes_follow_the_exponent": {
            "lfr-sizes-of-another-exponent": "** -«exponent→(exponent + 0.5)»\n",
        },
    },
    "compiled/graphs/generators.py": {
        "test_degree_correction_joins_each_pair_by_its_propensities": {
            "generator-same-propensity-for-all-rows": "rate *= «positions[i + 1] - positions[i]→1.0»",
        },
        "test_generators.py": {
            "generator-goes-back": "j = «max(j, guide[np.int64(t)])→guide[np.int64(t)]»",
        },
        "test_every_pair_of_a_block_is_drawn_independently_with_probability_p": {
            "generator-blocks-overlap": "while i >«=→» ends[block_of_i]:",
        },
    },
    "points/neighbors/weights.py": {
        "test_clusters_of_points_are_found": {
            "scale-of-the-first-neighbor": "np.where(given, distances, «0.0).max→np.inf).min»(axis=1)",
        },
        "test_gaussian_weights_by_hand": {
            "scale-of-one-end": "(distances / scales[:, None]) *« (distances / scales[neighbors])→* 2»",
        },
        "test_a_far_point_stays_joined": {
            "far-neighbors-fade": "LEAST_WEIGHT = «1e-12→0.0»",
        },
        "test_umap_weights_by_hand": {
            "umap-scale-from-one-neighbor-fewer": "np.log2(counts« + 1.0→»)",
        },
    },
    "points/neighbors/search.py": {
        "test_exact_neighbors_are_those_of_brute_force": {
            "neighbors-unrefined": ".fit(points« - offset→»)",
        },
    },
    "points/neighbors/graphs.py": {
        "test_umap_weights_by_hand": {
            "umap-strengths-added": "(listed + mirrored« - both→»)",
        },
        "test_lists_of_another_library": {
            "itself-among-its-neighbors": "given = «(neighbors >= 0) & ~itself→neighbors >= 0»",
        },
    },
    "points/neighbors/metrics.py": {
        "test_every_metric_from_dense_sparse_and_given_distances": {
            "cosine-not-halved": "return values« / 2.0→»",
        },
        "test_other_names_of_a_metric": {
            "l1-taken-for-l2": '"l1": "«manhattan→euclidean»"',
        },
        "test_points_without_a_direction_are_at_right_angles_to_all_but_their_like": {
            "no-direction-of-their-own": "without = (lengths «==→<» 0.0)",
        },
    },
    "points/neighbors/precomputed.py": {
        "test_every_metric_from_dense_sparse_and_given_distances": {
            "given-distances-in-any-order": "np.lexsort((«columns, values→values, columns», rows))",
        },
    },
    "io/tables.py": {
        "test_a_table_of_two_columns_of_one_name": {
            "columns-of-one-name": "if columns.count(name) > «1→2»:",
        },
    },
    "objective/labels.py": {
        "test_clusterings_of_igraph_are_labels": {
            "clusterings-of-igraph-by-their-lists": 'if hasattr(labels, "«membership→memberships»"):',
        },
    },
}
EQUIVALENT = {
    "generator-goes-back": (
        "the guide may point back within a unit of the line; the search from there ends at the same node"
    ),
}
