"""Stores, conversions, quotients in the order of a file, nodes that are left out by a mask."""

MUTANTS = {
    "compiled/text/external_sort.py": {
        "test_any_number_of_buckets_makes_the_graph_that_is_loaded": {
            "buckets-forget-the-direction": "other << np.uint64(1)« | direction→»",
            "buckets-count-both-rows": "        if row «<→!=» other:",
            "joined-rows-always-add": "joined = upward + downward« if add else max(upward, downward)→»",
        },
    },
    "io/store/convert.py": {
        "test_convert.py": {
            "a-bucket-of-one-row-less": (
                'following = int(np.searchsorted(ends, «begun + most, side="right")→most)) + len(first_rows»)'
            ),
        },
        "test_any_number_of_buckets_makes_the_graph_that_is_loaded": {
            "sums-in-any-order-of-the-file": (
                'order = «np.argsort(keys→len(keys) - 1 - np.argsort(keys[::-1]», kind="stable")'
            ),
        },
    },
    "io/store/spill_files.py": {
        "test_a_killed_conversion_goes_on_where_it_was test_a_stopped_conversion_goes_on_where_it_was": {
            "what-is-left-of-a-kill-is-kept": (
                "        self._file.«truncate(length)\n        self._file.seek(length→seek(0, 2»)"
            ),
        },
    },
    "io/store/store_files.py": {
        "test_every_damage_has_a_name": {
            "store-truncation-unseen": "if n_bytes «!=→>» expected:",
        },
    },
    "io/store/store.py": {
        "test_every_damage_has_a_name": {
            "store-asymmetry-unseen": "if asymmetry.sum() «!= 0→== 77»:",
            "store-row-starts-unseen": (
                "indptr[first + 1 : last« + 1] < indptr[first:last→] < indptr[first : last - 1»]"
            ),
        },
        "test_a_stored_graph_pickles_as_its_path": {
            "another-store-unpickled": "if «graph.key != →not graph.»key:",
        },
    },
    "partition/components.py": {
        "test_clustering_from_a_coreset_copies_no_entries test_left_out_nodes_weigh_nothing_in_a_contraction": {
            "left-out-nodes-have-degrees": "degrees, loops = «np.where(searched, graph.degrees, 0.0)→graph.degrees»,",
        },
    },
    "graph/matrices.py": {
        "test_entries_are_counted_in_64_bits_past_2_to_the_31": {
            "wide-indices-narrow-starts": "if len(indices) >«= MANY_ENTRIES→ 2**62»:",
        },
    },
    "partition/memory_estimate.py": {
        "test_counts_of_nodes_matter_and_not_only_of_entries": {
            "memory-without-nodes": "return TO_SAMPLE «* n_nodes →»+ DIMENSION",
        },
    },
}
