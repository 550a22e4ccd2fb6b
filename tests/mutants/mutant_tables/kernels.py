"""Kernel k-means: kernels, seeding, full batches, mini-batches, windows."""

MUTANTS = {
    "points/kernel_k_means/truncated.py": {
        "test_truncated_equals_its_twin": {
            "window-of-more-than-tau": "if held >«=→» self.tau:",
            "window-keeps-its-old-share": "self.coefficients« * (1.0 - share)→», share",
            "window-without-cross-products": "gram[q, q] = self.gram, cross, «cross→0.0», within",
        },
        "test_repeated_draws_of_a_batch_are_met_once": {
            "repeated-points-are-met-again": (
                "points, places_in_batch = «np.unique(batch, return_inverse=True→batch, slice(None»)"
            ),
        },
    },
    "points/kernel_k_means/full_batch.py": {
        "test_a_point_alone_in_its_cluster_stays_there_however_sums_are_rounded": {
            "lonely-points-fill-empty-clusters": (
                "«company[self.labels] & (sq_distances > rounding)→sq_distances > 0.0»"
            ),
        },
        "test_two_pairs_on_a_line": {
            "means-over-masses": "np.divide(within, self.masses«**2→»,",
            "cost-without-masses": "«(self.sq_norms() * self.masses→self.sq_norms(»).sum()",
        },
        "test_negative_distances_are_counted_and_the_proposed_shift_mends_them": {
            "shift-not-in-the-lengths": "(self.sq_norms()« + self.shift * inverse→»)",
            "shift-not-in-the-products": "-= «2→0».0 * self.shift *",
            "shift-that-does-not-mend": "-«1.02→0.9» * lowest",
        },
        "test_full_batch_equals_the_dense_twin_step_by_step": {
            "votes-of-one": "votes = («self.weights[voters]→np.ones(len(voters))», (self",
        },
    },
    "points/kernel_k_means/seeding.py": {
        "test_seeds_follow_the_squared_distances": {
            "seeds-forget-weights": "masses = «weights * →»sq_distances",
        },
        "test_fewer_distinct_points_than_seeds": {
            "seeds-by-one-product": "kernel.diagonal[seed] - «2.0 * →»products",
        },
    },
    "points/kernel_k_means/coreset.py": {
        "test_oversampling_says_how_many_seeds_the_coreset_is_drawn_by": {
            "kernel-coreset-ignores-oversampling": "min(«ceil(oversampling * k)→k», kernel_.n)",
        },
    },
    "points/kernel_k_means/point_kernels.py": {
        "test_entries_of_point_kernels_equal_their_formulas": {
            "kappa-of-the-sample": "2.0 * spread / «weights.sum(→(weights.sum() - 1»), 2",
            "kappa-of-one-side": "«2.0 * →»spread / weights.sum(), 2",
            "city-blocks-over-n": "return total / float(weights.sum())« ** 2→»",
            "polynomial-scale-of-one": "1.0 «/ self.X.shape[1] →»if scale is None",
        },
        "test_gaussian_entries_of_points_far_beyond_the_width": {
            "far-points-stay-in-single-precision": "«float(np.finfo(self.dtype).eps)→0.0» > _LARGEST_ERROR",
            "farthest-points-by-products": "«float(np.finfo(np.float64).eps)→0.0» > _LARGEST_ERROR",
        },
        "test_default_widths_are_mean_distances_by_weight": {
            "width-without-weights": (
                "«self.origin = sum(weights[some] @ self.X[some] for some in pieces) / weights.sum()→pass»"
            ),
        },
    },
    "compiled/points/gaussian_sums.py": {
        "test_compiled_powers_of_two_are_accurate": {
            "no-term-of-the-fifth-power": "x * «(_F4 + x * _F5)→_F4»)))",
        },
        "test_sums_of_rows_that_vote_alike": {
            "alike-votes-add-a-row-twice": "(entries[2, t] + entries[«3→2», t])",
        },
    },
    "points/kernel_k_means/matrix_kernels.py": {
        "test_entries_of_a_graph_and_of_heat_on_it": {
            "heat-of-twice-the-constant-term": "«coefficients[0] /= 2.0→pass»",
            "graph-kernel-doubles-loops": "self.normalized.self_affinity« - K.diagonal()→»",
        },
        "test_each_point_is_among_its_own_neighbors": {
            "points-are-not-their-own-neighbors": "neighbors + «→2.0 * »sparse.eye_array",
        },
    },
    "points/kernel_k_means/centers.py": {
        "test_a_tau_never_reached_changes_nothing": {
            "nearest-centers-by-one-product": "to_centers = self.sq_norms[:, None] - «2.0 * →»inner",
        },
        "test_two_pairs_on_a_line": {
            "distances-of-new-points-without-lengths": "self_affinities[:, None] «+ self.sq_norms →»- 2.0 * inner",
        },
        "test_a_coreset_costs_little_more_than_all_points": {
            "centers-of-unweighted-points": "coefficients = «weights[rows]→1.0» / masses",
        },
    },
    "points/kernel_k_means/batches.py": {
        "test_minibatch_equals_its_twin": {
            "batch-rate-without-root": "«np.sqrt→»(counts / counts.sum())",
            "batch-counts-one-more": "np.divide(counts, totals«→ + 1», out",
        },
        "test_batches_are_drawn_by_weight_and_then_count_alike": {
            "batches-drawn-alike": "alike = «(weights == weights[0]).all()→True»",
        },
    },
    "points/kernel_k_means/minibatch.py": {
        "test_minibatch_equals_its_twin": {
            "recursion-of-lengths": "«→2.0 * »share * (1.0 - share) * before",
            "recursion-of-products": "inner *= «(1.0 - share)[:, None]→1.0»",
            "later-shares-forgotten": "kept = kept * «(1.0 - share)→1.0»",
        },
    },
    "points/kernel_k_means/choice.py": {
        "test_isolated_nodes_have_no_vote_whatever_they_weigh": {
            "isolated-nodes-vote": "«np.where(kernel.weights > 0.0, weights, 0.0)→weights»",
        },
    },
    "points/kernel_k_means/kernel.py": {
        "test_gamma_is_the_length_of_the_longest_point": {
            "longest-point-at-least-one": "np.sqrt(max(kernel.diagonal.max(), «0→1».0))",
        },
    },
}
