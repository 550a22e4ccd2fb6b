"""k-means on vectors: distances and bounds, means, seeding, batches, directions."""

MUTANTS = {
    "points/k_means/candidates.py": {
        "test_candidates_of_a_round_are_independent_with_the_stated_probability": {
            "candidates-weigh-their-number-of-points": "np.bincount(distances.nearest, «part.weights, →»minlength",
        },
        "test_rounds_of_parallel_seeding_draw_oversampling_times_k": {
            "candidates-without-k": "rounds, oversampling * «k * →»n_rounds, n_rounds",
        },
    },
    "points/k_means/sampling_rounds.py": {
        "test_parallel_seeding_goes_on_until_it_has_k_candidates": {
            "no-round-beyond-those-asked-for": "«or n_drawn < at_least→»",
        },
        "test_rounds_of_parallel_seeding_draw_oversampling_times_k": {
            "a-round-draws-the-share-of-all": "«share→n_wanted» / cost",
        },
    },
    "points/k_means/nested_minibatch.py": {
        "test_the_first_batch_has_points_of_weight": {
            "points-without-weight-in-the-first-batch": "weights[order] «==→>» 0.0",
        },
    },
    "points/k_means/points.py": {
        "test_a_zero_that_is_stored_makes_no_other_point": {
            "a-stored-zero-makes-another-point": "«some.data != 0→None», len(rows)",
        },
    },
    "points/neighbors/search.py": {
        "test_exact_neighbors_far_from_the_mean_are_those_of_brute_force": {
            "neighbors-far-from-the-mean-by-products": "(farthest «- last <= 2.0 * errors→< last»)",
        },
    },
    "distributed/k_means.py": {
        "test_distributed_k_means.py": {
            "centroids-that-nearly-stand-still": (
                "np.«array_equal(renewed, centroids→allclose(renewed, centroids, atol=0.05»)"
            ),
        },
    },
    "points/k_means/lloyd_iteration.py": {
        "test_rounds_and_batches_are_those_of_the_paper": {
            "batch-doubles-when-one-has-settled": "> rho * moved)).«all→any»()",
        },
        "test_it_stops_once_the_centroids_move_less_than_tol_times_the_variance_of_a_feature": {
            "tol-of-the-whole-variance": "tol * tally.variance()« / points.d→»",
        },
        "test_iterations_are_counted_as_scikit_learn_counts_them test_a_result_says_whether_it_converged": {
            "an-end-by-tolerance-counts-as-convergence": "converged=«converged→True»)",
        },
    },
    "points/k_means/lloyd.py": {
        "test_the_best_of_several_runs_is_kept": {
            "the-worst-of-several-runs": "other.inertia «<→>» one.inertia",
        },
    },
    "points/k_means/minibatch.py": {
        "test_only_a_centroid_below_the_share_of_the_mean_count_is_starved": {
            "starved-below-the-largest": "self.starved * self.counts.«mean→max»()",
        },
        "test_mini_batches_stop_when_centroids_rest": {
            "mini-batches-never-rest": "** 2).sum() <«= least→ 0.0»:",
        },
        "test_copies_of_a_mean_give_no_centroid": {
            "centroids-of-round-off": (
                "«np.where(sq_distances > round_off[labels], weights * sq_distances, 0.0)→weights * sq_distances»"
            ),
        },
        "test_later_batches_give_the_centroids_that_the_first_could_not": {
            "later-batches-give-no-centroid": "while «len(self.centroids) < k→False»:",
        },
    },
    "compiled/points/centroid_update.py": {
        "test_minibatch_rates_by_hand": {
            "rate-without-root": "«np.sqrt→»(masses[j] / whole)",
        },
        "test_sums_in_chunks_are_the_weighted_sums": {
            "chunks-unweighted": "sums[chunk, l] += «w * →»X[i, l]",
            "chunks-of-mass-one": "masses[chunk] += «w→1.0»",
        },
        "test_agrees_with_scikit_learn_from_the_same_start": {
            "rows-unweighted": "total[l] += «weights[position] * →»x[l]",
        },
        "test_a_vote_is_taken_back_when_the_label_changes": {
            "distance-from-the-center": "step = new[j, l] - «center[→old[j, »l]",
        },
        "test_centroids_are_renewed_with_the_errors_of_their_points": {
            "no-error-of-a-lone-point": "0.0) if counts[j] > «0→1».0 else 0.0",
            "errors-below-zero": "«max(sq_lengths[j] - masses[j] * between, 0.0→(sq_lengths[j] - masses[j] * between»)",
        },
    },
    "points/k_means/seeding.py": {
        "test_greedy_k_means_plus_plus_draws_two_and_the_logarithm_of_k": {
            "one-candidate-fewer": "«2→1» + int(np.log(k))",
        },
        "test_seeds_are_drawn_by_their_distance": {
            "power-of-the-squared-distance": "exponent« / 2.0→», boundaries",
        },
    },
    "compiled/points/point_seeding.py": {
        "test_the_greedy_choice_lowers_the_cost_most": {
            "the-worst-candidate-of-few-points": "best = c if gains[0, c] «>→<» gains[0, best] else best",
            "gains-unweighted": (
                "gains[block, c] += «weights[i] * (sq_distances[i] - distance)→sq_distances[i] - distance»"
            ),
        },
        "test_few_points_are_seeded_like_many": {
            "few-points-do-not-see-the-seed": "(to_seeds, near, «n_seeds→np.int64(-1)»), nearest, gains)",
        },
        "test_every_point_speaks_for_the_candidate_that_is_nearest": {
            "triangle-of-half-the-slack": "_SLACK = «4→2».0 *",
        },
        "test_seeds_are_drawn_by_their_distance": {
            "masses-of-powers-unweighted": "total += «weights[i] * →»(sq_distances[i] / scale)",
        },
        "test_rows_are_drawn_by_their_share_of_the_mass_of_all_blocks": {
            "rows-found-in-the-first-block": "target -= «totals[block]→0.0»",
        },
    },
    "compiled/points/sparse_assignment.py": {
        "test_every_point_speaks_for_the_candidate_that_is_nearest": {
            "triangle-of-half-the-slack-sparse": "near[nearest_seed[i]] >= «4→2».0004 *",
            "triangle-of-half-the-slack-sparse-candidates": "to_seeds[c, nearest_seed[i]] >= «4→2».0004 *",
        },
        "test_sparse_equals_dense": {
            "sparse-rows-unweighted": "sums[j, indices[e]] += «weights[position] * →»values[e]",
        },
        "test_equal_centroids_of_sparse_points_tie_to_the_lowest_index": {
            "sparse-ties-to-the-highest": "if exact <«→=» closest:",
        },
        "test_the_same_for_sparse_points_of_which_all_or_few_centroids_move": {
            "sparse-movers-by-one-product": "centroid_sq_norms[j] - «2.0 * →»few_sums[m]",
        },
    },
    "points/k_means/spherical.py": {
        "test_the_geodesic_mean_of_points_more_than_a_right_angle_away": {
            "geodesic-mean-beyond-a-right-angle": "np.minimum(angles / np.pi, 0.«999→5»)",
        },
        "test_spherical_inertia_never_rises_where_clusters_span_more_than_a_half_circle": {
            "geodesic-mean-that-costs-more-is-taken": "(after <= «before→np.inf»)[:, None]",
        },
        "test_both_means_of_points_on_two_axes": {
            "angle-of-half-a-chord": "«2.0 * →»np.arcsin(np.minimum(half_chords, 1.0))",
        },
    },
    "points/k_means/bounds.py": {
        "test_k_means_of_points_beyond_single_precision": {
            "bounds-of-points-beyond-single-precision": "largest_size(centroids)), «_SMALLEST, _LARGEST→0.0, np.inf»)",
        },
    },
    "compiled/points/label_changes.py": {
        "test_a_vote_is_taken_back_when_the_label_changes": {
            "vote-not-taken-back": "weight = «-→0.0 * »voters.weights[i] if taken_back",
        },
    },
    "points/k_means/running_sums.py": {
        "test_standard_errors_by_hand": {
            "standard-error-of-the-sample": "sq_errors / self.masses / «(self.counts - 1)→self.counts»",
            "standard-error-after-the-move": "self.sq_errors« + self.masses * moved**2→»",
        },
        "test_the_variance_of_a_batch_is_about_its_own_mean": {
            "variance-about-the-center": "- «→0.0 * »((mean - self.center) ** 2).sum()",
        },
    },
    "points/k_means/centroid_update.py": {
        "test_an_empty_cluster_takes_the_point_that_costs_most": {
            "dearest-point-unweighted": "costs = «weights * →»own_sq_distances(points, means, labels)",
        },
    },
    "compiled/points/bounded_assignment.py": {
        "test_labels_are_exact_and_bounds_hold_while_centroids_move": {
            "lower-bounds-do-not-sink": "bound = _bits(group_lower[i, g]« - group_drift[g]→»)",
            "groups-in-reach-without-drift": "n_near += 1 if group_lower[i, g] «- group_drift[g] →»<= reach else 0",
            "drift-of-half-the-way": "drift.of_centroid[j] += «→0.5 * »moved[j] * _MORE",
            "drift-of-the-slowest-of-a-group": "farthest_of_group = «max(farthest_of_group, moved[j])→moved[j]»",
        },
        "test_equal_centroids_tie_to_the_lowest_index_also_once_bounds_exist": {
            "ties-of-products-to-the-highest": "best = p if exact[p] <«→=» exact[best] else best",
        },
    },
    "compiled/points/tiled_assignment.py": {
        "test_equal_centroids_tie_to_the_lowest_index_also_once_bounds_exist": {
            "ties-of-tiles-to-the-highest": "closest[t] = j if distances[t] <«→=» nearest[t] else",
        },
    },
    "compiled/points/quantized_points.py": {
        "test_points_kept_as_bytes_have_the_same_labels_and_bounds_that_hold": {
            "rounded-points-without-errors": "bound = «(distance - errors[i] - centroid_errors[j])→distance» * shorter",
        },
    },
    "compiled/points/point_tiles.py": {
        "test_agrees_with_scikit_learn_from_the_same_start": {
            "one-feature-of-four-forgotten": "sq_distances[t] += (e0 * e0 + e1 * e1) + (e2 * e2 + «e3 * e3→e2 * e2»)",
        },
    },
    "estimators/k_means.py": {
        "test_k_means_starts_from_arrays_functions_and_the_best_draw": {
            "estimator-of-the-worst-run": "return «min→max»(found, key",
            "one-run-from-chance": "RUNS_FROM_CHANCE = «10→1»",
        },
    },
    "estimators/minibatch_k_means.py": {
        "test_mini_batches_after_a_fit_weigh_as_new_points": {
            "fitted-centroids-without-their-weight": "self._learner.counts += «→0 * »np.bincount",
        },
        "test_of_many_starts_mini_batches_take_the_best_and_go_through_them_once": {
            "the-worst-start-of-mini-batches": "return «min→max»(tried, key",
            "mini-batches-judged-by-points-of-no-weight": (
                "rng.choice(«np.flatnonzero(weights), min(size, np.count_nonzero(weights))→points.n, size», "
                "replace=False)"
            ),
        },
        "test_mini_batches_make_no_more_passes_than_asked_for": {
            "one-pass-too-many": "* n // batch_size«→ + 1»",
        },
    },
    "estimators/kernel_k_means.py": {
        "test_kernel_k_means_is_the_function": {
            "width-for-gamma": "«None if gamma is None else 1.0 / →»gamma",
        },
    },
    "estimators/affinities.py": {
        "test_neighbors_and_precomputed_affinities_give_one_graph": {
            "affinities-with-their-diagonal": "kept = entries.row «!= entries.col→>= 0»",
        },
    },
    "points/neighbors/graphs.py": {
        "test_neighbor_graphs_follow_the_symmetrizing_rule test_affinities_are_those_of_scikit_learn": {
            "neighbors-of-one-side-count-whole": "(«0.5→1.0» * (listed + mirrored))",
        },
    },
}
