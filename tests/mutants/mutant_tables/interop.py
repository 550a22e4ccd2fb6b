"""Other libraries' functions and graphs: NetworkX's backend, scanpy, arrays of edges, agreement."""

MUTANTS = {
    "interop/networkx_backend/bisection.py": {
        "test_bisections_have_the_sizes_of_networkx_and_cut_no_more": {
            "one-swap-too-many": "labels[np.array(pairs[:«best→ best + 1»])] ^= 1",
        },
    },
    "graph/networkx_rows.py": {
        "test_rows_hold_the_weights_of_networkx_sorted": {
            "loops-of-networkx-not-read": "sizes) <«=→» ends",
        },
        "test_partition_quality_is_that_of_networkx": {
            "parallel-edges-count-once": "«np.array(list(map(len, edges())), np.float64)→1.0»",
        },
    },
    "interop/networkx_backend/backend_graph.py": {
        "test_modularity_is_that_of_networkx": {
            "loops-of-networkx-count-once": "np.diff(matrix.indptr))] *= «2→1».0",
        },
    },
    "interop/networkx_backend/communities.py": {
        "test_levels_are_nested_gain_modularity_and_end_with_the_communities": {
            "levels-beyond-their-communities": "find_regions(«rows_within(level, within)→level», task",
        },
        "test_greedy_communities_are_those_of_networkx": {
            "greedy-unions-without-an-upper-bound": "«(gains[left - 1] >= 0 or left > best_n)→gains[left - 1] >= 0»",
        },
    },
    "interop/networkx_backend/label_propagation.py": {
        "test_label_propagation_gives_the_communities_of_networkx": {
            "the-smallest-label-of-several": "largest[place«] = label→[::-1]] = label[::-1]»  #",
        },
    },
    "interop/networkx_backend/interface.py": {
        "test_calls_say_why_they_are_left_to_networkx": {
            "directed-graphs-taken": 'if «given["G"].is_directed() and name not in OF_DIRECTED→False»:',
        },
    },
    "interop/pyg.py": {
        "test_every_node_is_in_a_part_and_lonely_ones_fill_the_smallest": {
            "lonely-nodes-all-in-one-part": "«heapq.heapreplace(parts, (size + int(sizes[one]), parts[0][1]))→pass»",
        },
    },
    "io/edge_arrays.py": {
        "test_what_is_no_array_of_edges_is_refused": {
            "ends-one-too-far": "ends.max() <«→=» n_nodes)",
        },
    },
    "interop/scanpy.py": {
        "test_a_sweep_says_which_values_are_stable": {
            "the-last-seed-kept": "range(random_state« + n_seeds - 1, random_state - 1, -1→, random_state + n_seeds»)",
        },
    },
    "objective/agreement.py": {
        "test_element_centric_similarity_is_half_the_distance_of_personalized_pageranks": {
            "the-smaller-of-two-clusters": "larger = np.«maximum→minimum»(of_first",
        },
    },
    "io/formats/pajek.py": {
        "test_a_pajek_network_has_its_labels_weights_and_lists": {
            "edges-of-pajek-directed": 'self._add_edge(line.split(), «part == "arcs"→True», number)',
        },
    },
    "io/text/adjacency_list.py": {
        "test_an_adjacency_list_names_an_edge_at_one_end_or_both": {
            "an-edge-at-both-ends-twice": "if «pair not in seen→True»:",
        },
    },
    "io/formats/dimacs.py": {
        "test_a_damaged_dimacs_graph_is_refused_with_its_line": {
            "any-number-of-dimacs-edges": "if «n_found != n_edges→False» and",
        },
    },
}
