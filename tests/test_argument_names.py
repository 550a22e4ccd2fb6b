"""Calls with the names that other libraries have for an argument; what wrapping the functions may not change."""

import inspect
import pickle
import subprocess
import sys
import types

import networkx as nx
import numpy as np
import pytest
from cases import for_each

import graphclust
from graphclust.argument_names import OTHER_NAMES, with_hints


def parameters_of(value):
    function = value.__init__ if isinstance(value, type) else value
    return inspect.signature(function).parameters if isinstance(function, types.FunctionType) else {}


PUBLIC = {name: parameters_of(getattr(graphclust, name)) for name in graphclust.__all__}
WITH_RNG = [name for name, parameters in PUBLIC.items() if "rng" in parameters]
WITH_K = [name for name, parameters in PUBLIC.items() if "k" in parameters]
FUNCTIONS = [name for name in graphclust.__all__ if isinstance(getattr(graphclust, name), types.FunctionType)]


def test_there_are_many_of_them():
    assert {"coreset_sc", "kmeans", "MiniBatch", "spectral_clustering", "kernel_kmeans", "d2_seeding"} <= {*WITH_RNG}
    assert {"coreset_sc", "kmeans", "merge_clusters", "spherical_kmeans", "construct_coreset"} <= {*WITH_K}


@pytest.mark.parametrize("name", WITH_RNG)
@pytest.mark.parametrize("other", ["random_state", "seed"])
def test_a_seed_by_another_name_is_told_rng(name, other):
    if other in PUBLIC[name]:
        pytest.skip("it has an argument of that name")
    with pytest.raises(TypeError, match=rf"^{name}\(\) .* argument '{other}', did you mean 'rng'\?$"):
        getattr(graphclust, name)(**{other: 0})


@for_each("name", WITH_K)
def test_n_clusters_is_told_k(name):
    with pytest.raises(TypeError, match=r"'n_clusters', did you mean 'k'\?$"):
        getattr(graphclust, name)(n_clusters=3)


def test_mistyped_arguments_are_told_the_nearest():
    points = np.zeros((4, 2))
    with pytest.raises(TypeError, match=r"kmeans\(\) .* 'n_inits', did you mean 'n_init'\?"):
        graphclust.kmeans(points, 2, n_inits=3)
    with pytest.raises(TypeError, match="'max_iters', did you mean 'max_iter'"):
        graphclust.kernel_kmeans(points, 2, max_iters=3)
    with pytest.raises(TypeError, match="'weights', did you mean 'weight'"):
        graphclust.coreset_sc(nx.path_graph(3), 2, weights="strength")
    with pytest.raises(TypeError, match=r"'n_clusters', did you mean 'n_seeds'\?"):
        graphclust.d2_seeding(None, n_clusters=2)
    with pytest.raises(TypeError, match=r"argument 'zzz'$"):
        graphclust.kmeans(points, 2, zzz=3)


def test_arguments_that_go_by_name_are_named_when_they_come_by_place():
    with pytest.raises(TypeError, match=r"communities\(G\) takes 1 by place, .*communities\(G, resolution=\.\.\.\)$"):
        graphclust.communities(nx.path_graph(3), 1.0)
    with pytest.raises(TypeError, match=r"balanced_partition\(G, k, max_imbalance=\.\.\.\)$"):
        graphclust.balanced_partition(nx.path_graph(3), 2, 0.03)


def test_an_estimator_is_told_the_names_of_scikit_learn():
    pytest.importorskip("sklearn")
    with pytest.raises(TypeError, match=r"^KMeans\(\) .* 'k', did you mean 'n_clusters'\?$"):
        graphclust.KMeans(k=3)
    with pytest.raises(TypeError, match=r"^GraphClustering\(\) .* 'rng', did you mean 'random_state'\?$"):
        graphclust.GraphClustering(rng=0)
    assert graphclust.KMeans(3, random_state=0).get_params()["random_state"] == 0


def test_other_type_errors_are_left_as_they_are():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'k'"):
        graphclust.merge_clusters(nx.path_graph(3))
    with pytest.raises(TypeError, match="multiple values for argument 'k'"):
        graphclust.coreset_sc(nx.path_graph(3), 2, k=2)

    def takes_anything(rng=None, **options):
        return options

    assert with_hints(takes_anything) is takes_anything


@for_each("name", FUNCTIONS)
def test_a_function_is_still_itself(name):
    function = getattr(graphclust, name)
    home = sys.modules[function.__module__]
    assert getattr(home, name) is function
    assert pickle.loads(pickle.dumps(function)) is function
    assert (function.__name__, function.__qualname__) == (name, name)
    wrapped = hasattr(function, "__wrapped__")
    assert wrapped == bool(OTHER_NAMES.keys() & PUBLIC[name].keys())
    assert not wrapped or not hasattr(function.__wrapped__, "__wrapped__")
    assert inspect.signature(function) == inspect.signature(inspect.unwrap(function))


def test_importing_a_module_first_changes_nothing():
    code = (
        "from graphclust.points.k_means.lloyd import kmeans as plain\nimport graphclust, pickle\n"
        "assert graphclust.kmeans.__wrapped__ is plain and graphclust.kmeans is graphclust.kmeans\n"
        "from graphclust.points.k_means.lloyd import kmeans\nassert kmeans is graphclust.kmeans\n"
        "print(len(pickle.dumps(graphclust.kmeans)) > 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"


def test_a_warning_still_points_at_the_caller():
    matrix = nx.to_scipy_sparse_array(nx.disjoint_union(nx.path_graph(4), nx.empty_graph(1)))
    with pytest.warns(graphclust.GraphWarning) as caught:
        graphclust.coreset_sc(matrix, 2, rng=0)
    assert caught[0].filename == __file__
