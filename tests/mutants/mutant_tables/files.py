"""Numbers out of text, edges out of files, labels in files."""

MUTANTS = {
    "io/formats/network_writers.py": {
        "test_networks_keep_names_and_nodes_without_edges_or_refuse": {
            "networks-without-loops": 'sparse.triu(graph.to_scipy(), «→1, »format="coo")',
            "any-name-in-a-network": "    if unfit is not None«→ and not names»:",
        },
        "test_networks_tell_numbers_from_text_or_refuse": {
            "text-that-becomes-a-number-in-a-network": 'network.nodes[name]["«name→title»"] = name',
        },
    },
    "results/label_files.py": {
        "test_an_ending_counts_for_a_pipe_too": {
            "the-default-of-pipes-before-their-ending": "    if «kind is None and →»is_pipe(path):",
        },
    },
    "io/store/convert.py": {
        "test_archives_and_stores_are_sources_too": {
            "archives-are-no-text-to-convert": "«is_whole or →»entry_at",
        },
        "test_a_conversion_that_died_after_the_exchange_does_not_go_on_with_the_old_store": {
            "a-conversion-goes-on-with-the-old-store": (
                'return «read_header(self.store)["id"] == self.book.notes["id"]→True»'
            ),
        },
    },
    "io/formats/array_files.py": {
        "test_an_array_beyond_what_its_bytes_can_hold_is_refused": {
            "arrays-of-any-claim": "        if «header.n_bytes > most→False»:",
        },
        "test_a_header_that_claims_gigabytes_is_not_read": {
            "headers-of-any-length": "    if «length > LONGEST_HEADER→False»:",
        },
    },
    "io/text/edge_streams.py": {
        "test_a_limit_allows_more_nodes_where_it_is_given": {
            "nodes-of-any-number-to-convert": "        if «needed > allowed→False»:",
        },
    },
    "io/formats/suitesparse.py": {
        "test_files_beside_a_matrix_are_looked_at_on_request_and_broken_ones_named": {
            "files-beside-a-matrix-unasked": "elif «details and →»(found",
        },
    },
    "graph/matrices.py": {
        "test_damaged_arrays_of_every_other_format_are_refused": {
            "columns-of-any-number": "        «check_range(column, n_columns, name)→pass»",
        },
    },
    "io/text/points.py": {
        "test_points_come_from_standard_input": {
            "piped-tables-without-commas": 'delimiter = "," if b"«,→\t»" in',
        },
    },
    "faces/cli/commands/options.py": {
        "test_info_and_the_page_call_it_standard_input": {
            "standard-input-by-the-name-of-its-copy": "(graph, info) if path «=→!»= options.file else (replace",
        },
    },
    "compiled/text/parse_float.py": {
        "test_weights_are_read_as_float_does": {
            "half-way-to-the-odd-one": "mantissa -= _ONE «→- _ONE » #",
        },
        "test_the_nearest_float_of_any_text": {
            "mask-of-a-bit-less": "_MASK = np.uint64(«0x1FF→0x3FF»)",
            "exponent-off-by-one": "((217_706 * power) >> 16) + «63→62»",
            "digits-cut-without-doubt": "above, sure = nearest_float(digits« + _ONE→»,",
            "product-without-a-carry": "middle = a_high * b_low« + ((a_low * b_low) >> half)→»",
            "more-whole-numbers-are-exact": "MOST_EXACT = np.uint64(1 << «53→54»)",
        },
    },
    "compiled/text/edges_to_csr.py": {
        "test_directions_join_by_max_or_sum": {
            "the-smaller-of-two-directions": "else «max→min»(upward, downward)",
            "unequal-one-way-only": "if upward «!=→>» downward:",
            "directions-forgotten": "2 * low« + (sources[e] > targets[e])→»",
        },
        "test_threads_and_pieces_change_nothing": {
            "the-last-of-repeated-weights": "upward = «upward + →»weight if weighted",
        },
        "test_loops_stay_and_zeros_are_no_edges": {
            "zeros-are-edges": "and «not (weighted and weights[e] == 0)→True»",
        },
        "test_repeated_edges_are_added_up_or_counted_once": {
            "both-directions-repeat-an-edge": (
                "«max(n_upward - 1, 0) + max(n_downward - 1, 0)→n_upward + n_downward - 1»"
            ),
        },
    },
    "results/label_tables.py": {
        "test_label_files.py": {
            "labels-below-zero": 're.compile(r"«-?→»[0-9]+")',
        },
        "test_labels_of_other_programs_are_read": {
            "names-of-columns-are-a-node": "return label «not →»in others\n",
        },
    },
    "io/tables.py": {
        "test_unsigned_ids_stay_whole_numbers": {
            "a-sum-of-unsigned-ids": 'common is not None« and common.kind in "iu"→»',
        },
        "test_times_stay_times": {
            "times-become-numbers": 'if values.dtype.kind not in "«mM→X»":',
        },
        "test_all_forms_are_one_graph": {
            "targets-before-sources": "for column in ends« for end in column→[::-1] for end in column[::-1]»",
        },
    },
    "objective/labels.py": {
        "test_two_series_are_compared_by_their_indices": {
            "series-by-place": "if «labels.index.equals(other.index)→True» or",
        },
    },
    "io/graph_input.py": {
        "test_a_weight_that_nothing_has_is_an_error": {
            "a-weight-of-a-matrix-is-ignored": (
                'if weight «not in (None, "weight"→in (»):\n        raise ParameterError('
            ),
        },
    },
    "checks.py": {
        "test_seeds.py": {
            "the-seed-that-was-drawn-is-another": "        return generator, int(rng)«→ + 1»\n",
        },
    },
    "io/text/node_names.py": {
        "test_names_of_other_programs_stay_as_they_are": {
            "names-that-only-look-like-numbers": "« and str(int(name)) == name→»",
        },
    },
    "graph/other_libraries.py": {
        "test_parallel_and_missing_and_directed_edges_of_igraph": {
            "loops-of-igraph-twice": "once = ends[0] «!= ends[1→== ends[0»]",
            "missing-weights-of-igraph-count-nothing": "«1→0».0 if value is None else value",
        },
    },
    "interop/single_cell.py": {
        "test_clusters_of_cells_land_on_the_right_ones": {
            "cells-without-neighbors-in-the-first-cluster": "from_codes(«labels→np.maximum(labels, 0)»,",
        },
    },
    "results/clustering.py": {
        "test_cut_and_shares_of_two_cliques_and_a_bridge": {
            "edges-cut-count-twice": "self._cut_and_volume[0].sum())« / 2.0→»",
        },
    },
    "io/formats/network_files.py": {
        "test_a_default_weight_fills_missing_edges": {
            "defaults-of-weights-forgotten": "default = 1.0« if attribute.default is None else attribute.default→»",
        },
        "test_a_multigraph_is_the_same_from_a_file_and_as_an_object": {
            "parallel-edges-of-files-count-once": "values = «np.ones(len(sources))→None»",
        },
        "test_an_undirected_edge_adds_to_both_directions": {
            "undirected-edges-of-mixed-graphs-go-one-way": 'if symmetrize «!→=»= "sum":',
        },
        "test_labels_name_the_nodes_if_all_differ": {
            "labels-that-tell-no-nodes-apart": "if len(«set(texts)→texts») == len(ids):",
        },
    },
    "io/formats/network_listing.py": {
        "test_nodes_listed_twice_are_one_and_those_of_edges_alone_are_added": {
            "nodes-of-edges-alone-in-wrong-order": "numbers«[::-1]→» + list",
        },
    },
    "io/formats/graphml.py": {
        "test_two_graphs_in_a_file_are_refused": {
            "graphs-of-a-file-run-together": "elif self._has_graph«→ is None»:",
        },
    },
    "io/formats/xml_elements.py": {
        "test_document_types_are_refused_wherever_they_hide": {
            "document-types-without-entities": "parser.«StartDoctypeDeclHandler = parser.→»EntityDeclHandler = ",
        },
    },
    "io/formats/gml.py": {
        "test_a_numeric_attribute_beside_the_weight_is_named_without_a_warning": {
            "lists-in-an-edge-of-gml-end-it": "«elif place != _PASSED_OVER→else»:\n                    fields = []",
        },
    },
    "io/columns.py": {
        "test_one_rule_for_every_kind_of_table": {
            "the-third-column-is-never-the-weight": "weight, sure = («others[0]→None», False) if",
            "numbers-of-rows-are-ends": "«or (names is not None and names_nodes(names[others[0]]))→»",
        },
    },
    "io/temporaries.py": {
        "test_a_store_that_stepped_aside_is_taken_back_by_whoever_opens_it": {
            "old-stores-are-not-taken-back": (
                "                «if not os.path.lexists(target):\n                    os.rename(aside, target)→pass»"
            ),
        },
        "test_temporaries_of_dead_writers_are_removed_and_others_are_left": {
            "temporaries-of-the-living-removed": (
                "«                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)\n→»"
            ),
            "temporaries-without-a-lock": "            «fcntl.flock(handle, fcntl.LOCK_EX)→pass»\n",
        },
        "test_a_store_that_was_replaced_is_removed_by_the_next_save": {
            "replaced-stores-stay": "«or (replaced and name.startswith(replaced))→»",
        },
        "test_names_as_long_as_the_file_system_allows": {
            "partial-folders-of-long-names": "«+ len(PARTIAL) →»<= LONGEST_NAME",
        },
    },
    "io/store/partial_stores.py": {
        "test_a_link_in_the_place_of_the_lock_is_refused_and_not_followed": {
            "a-link-for-a-lock-is-followed": "    elif «links→False»:",
        },
        "test_parts_of_a_living_conversion_and_folders_of_others_stay": {
            "parts-of-others-removed": (
                "        if «all(_PARTS.fullmatch(name) for name in os.listdir(folder)→os.listdir(folder»):"
            ),
        },
    },
    "errors.py": {
        "test_messages_of_errors_are_escaped_and_their_path_is_not": {
            "raw-messages": "        return «for_people(super().__str__()→super().__str__(»)",
        },
    },
    "io/store/store.py": {
        "test_a_store_that_is_replaced_while_it_is_mapped_is_one_of_the_two": {
            "files-of-two-stores-in-one-graph": (
                "            «if _key_of(folder) == key:\n                →»return graph"
            ),
        },
    },
}
