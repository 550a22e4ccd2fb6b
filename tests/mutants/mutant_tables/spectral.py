"""Embeddings: exact, by the power method, by blocks of columns."""

MUTANTS = {
    "spectral/embedding.py": {
        "test_power_method_equals_its_dense_twin": {
            "power-method-one-step-short": "for done in range(n_steps«→ - 1»):",
            "steps-of-three-quarters": "operator.lazy_step(columns, 0.«5→25»)",
            "top-vector-not-projected-out": "/ «(top * top)→top».sum())",
        },
        "test_power_method_takes_at_least_one_round_and_two_columns": {
            "steps-for-all-nodes": "ceil(log2(n« / k→»)))",
            "one-column-will-do": "max(«2→1», ceil(log2(k)))",
        },
        "test_more_components_than_columns_take_the_largest": {
            "small-components-first": "«-→»volumes[pair[1]], pair[1])",
        },
        "test_columns_are_the_top_eigenvectors": {
            "insides-before-components": "(«-→»round(pair[0], 10),",
            "one-vector-of-an-inside-too-few": "k - len(members) «+ 1 →»if known_top",
            "top-vector-without-root": "«np.sqrt(degrees[nodes])→degrees[nodes]») for c",
        },
        "test_embedded_rows_have_unit_length_and_fixed_signs": {
            "largest-entry-negative": "vector if vector[largest] «>→<» 0 else",
            "rows-of-unit-sum": "«(vectors * vectors).sum(axis=1)→np.abs(vectors).sum(axis=1) ** 2»",
        },
    },
    "spectral/eigenvectors.py": {
        "test_missed_eigenvectors_are_found_without_a_dense_solver": {
            "largest-magnitude-first": 'which="«LA→LM»"',
        },
        "test_columns_are_the_top_eigenvectors": {
            "lowest-eigenvalue-first": 'np.argsort(«-→»values, kind="stable")',
        },
        "test_a_second_eigenvector_that_was_left_out_is_noticed": {
            "no-eigenvalue-is-ever-missed": "if polynomial <= «0.0→-1e9»:",
        },
        "test_rounding_does_not_bring_back_what_was_found": {
            "what-was-found-comes-back": "«        product -= vectors @ (vectors.T @ product)\n→»",
        },
        "test_solvers_that_lie": {
            "dense-solver-may-leave-pairs-out": "if len(values) «!= n→< 1»:",
        },
    },
    "spectral/block_power.py": {
        "test_block_power_spans_the_top_eigenvectors": {
            "block-power-lowest-first": "basis @ mixing«[:, ::-1]→»",
            "block-power-degrees-of-the-factor": "B @ «(B.T @ np.ones(m)→np.ones(B.shape[1]»)",
            "block-power-without-steps": "for done in range(«n_steps - 1→0»):",
            "block-power-signs": "< 0, «-1.0, →1.0, -»1.0)",
        },
    },
    "spectral/whole_graph.py": {
        "test_the_baselines_weigh_nodes_by_their_degrees": {
            "nodes-alike-whatever-their-degrees": "sample_weight=«graph.degrees[connected]→None»,",
        },
        "test_discretized_rows_are_of_unit_length": {
            "rows-of-all-lengths-discretized": 'rows = "degree"« if assign_labels == "cluster_qr" else "unit"→»',
        },
    },
    "coreset/paper.py": {
        "test_coreset_nodes_count_by_their_weights_in_k_means": {
            "coreset-nodes-alike": "points, k, «sample_weight=weights, →»init=",
        },
        "test_coreset_weights_may_stand_for_its_degrees": {
            "row-sums-for-weights": 'd = «weights if degrees == "weights" else →»None',
        },
    },
    "spectral/rounding.py": {
        "test_marks_that_were_turned_are_found": {
            "rows-alike-to-start-from": "int(likeness.«argmin→argmax»())",
        },
        "test_discretizing_ends_where_labels_and_rotation_fit_each_other": {
            "one-look-for-a-rotation": "range(«ROUNDS→0»)",
        },
        "test_a_planted_partition_is_found": {
            "any-rows-for-pivots": "pivoting=True)[1][«: vectors.shape[1]→-vectors.shape[1] :»]",
        },
    },
    "estimators/affinities.py": {
        "test_a_gamma_far_off_fits_and_names_a_better_one": {
            "a-gamma-of-the-sum": "-float(exponents.«mean→sum»())",
        },
        "test_round_off_in_a_precomputed_kernel_is_no_news": {
            "round-off-is-news": "if «ROUND_OFF not in →»remark",
        },
    },
}
