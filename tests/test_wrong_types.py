"""What takes a kernel, a coreset, seeds or a clustering names them, and what makes one, when it gets something else."""

import pathlib

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from public_calls import calls
from scipy import sparse

import graphclust as gc

KERNEL = gc.NormalizedCutKernel.of(nx.barbell_graph(4, 0))
OTHERS = [None, 3, "x", np.eye(3), sparse.csr_array(np.eye(3)), nx.path_graph(3)]
CALLS = calls(pathlib.Path())
OF_ITS_PARTS = {
    "seeds": (lambda other: gc.sampling_probabilities(KERNEL, other), "Seeds: d2_seeding"),
    "coreset": (lambda other: gc.extend_labels(KERNEL, other, [0]), "CoresetSample: construct_coreset"),
    "clustering": (gc.certainty, "Clustering: coreset_sc"),
    "clustering by the paper": (gc.coreset_quality, r"Clustering: coreset_sc\(G, k, method=.paper.\)"),
}


@for_each("name", [name for name, given in CALLS.items() if "kernel" in given])
def test_what_is_no_kernel_is_named_with_the_way_to_one(name):
    for other in OTHERS:
        words = rf"kernel is a {type(other).__name__}, expected a NormalizedCutKernel: NormalizedCutKernel\.of\(G\)"
        refuses(TypeError, words, getattr(gc, name), **CALLS[name] | {"kernel": other})


@pytest.mark.parametrize("name", OF_ITS_PARTS)
def test_what_is_no_such_part_is_named_with_the_way_to_one(name):
    call, made_by = OF_ITS_PARTS[name]
    for other in OTHERS:
        refuses(TypeError, rf"{name.split()[0]} is a {type(other).__name__}, expected a {made_by}", call, other)


def test_a_coreset_graph_is_a_matrix():
    for other in (None, 3, [1, 2]):
        with pytest.raises(TypeError, match=r"induced is a .*, expected a matrix: coreset_graph\(kernel, coreset\)"):
            gc.cluster_coreset(other, 2, np.ones(3))
    with pytest.raises(gc.GraphValidationError, match="induced has shape None"):
        gc.extend_labels(KERNEL, gc.CoresetSample(np.array([1, 6]), np.ones(2)), [0, 1], induced="x")
