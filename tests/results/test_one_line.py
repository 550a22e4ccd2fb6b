"""Objects as they are printed, and as they are handed on."""

import numpy as np

import graphclust as gc


def test_what_is_printed_of_a_large_result_is_one_line():
    graph = gc.planted_partition(5, 400, 12, 2, rng=0).graph
    kernel = gc.NormalizedCutKernel.of(graph)
    clustering = gc.coreset_sc(graph, 5, method="two-step", rng=0)
    for one in (kernel, gc.d2_seeding(kernel, 5, rng=0), clustering.coreset, clustering, clustering.model(), graph):
        assert "\n" not in repr(one) and len(repr(one)) < 200, type(one)


def test_the_quotient_graph_of_a_clustering_is_that_of_its_graph_and_labels():
    clustering = gc.communities(gc.planted_partition(4, 30, 8, 1, rng=0).graph, rng=0)
    quotient = gc.quotient_graph(clustering)
    assert np.allclose(quotient.degrees, gc.cluster_volumes(clustering.graph, clustering.labels))
