"""Calls that people make by the habits of other libraries, and sizes as they read them."""

import json

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from scipy import sparse
from shell import said

import graphclust
from graphclust import coreset_sc, kernel_kmeans, minibatch_kernel_kmeans, nearest_centroids
from graphclust.errors import GraphWarning, ResourceLimitError

GRAPH = nx.barbell_graph(4, 0)


@pytest.mark.parametrize(
    ("swapped", "right"),
    [
        (lambda path: graphclust.save_graph(GRAPH, path), "save_graph(path, G)"),
        (lambda path: graphclust.save_store(GRAPH, path), "save_store(path, G)"),
        (lambda path: graphclust.write_labels(coreset_sc(GRAPH, 2), path), "write_labels(path, clustering)"),
        (lambda path: graphclust.write_report(coreset_sc(GRAPH, 2), path), "write_report(file, clustering)"),
    ],
)
def test_a_path_that_comes_second_is_told_that_it_comes_first(tmp_path, swapped, right):
    with pytest.raises(TypeError) as caught:
        swapped(tmp_path / "g.csv")
    assert str(caught.value).endswith(f"expected the path of a file: the call is {right}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cluster", [kernel_kmeans, minibatch_kernel_kmeans])
def test_a_matrix_that_looks_like_a_kernel_is_warned_of(cluster):
    points = np.random.default_rng(0).normal(size=(12, 3))
    kernel = points @ points.T
    with pytest.warns(GraphWarning, match="pass kernel='precomputed' if it holds the kernel") as caught:
        cluster(kernel, 2, rng=0)
    assert caught[0].filename == __file__
    cluster(kernel, 2, kernel="precomputed", rng=0)
    cluster(points, 2, rng=0)
    cluster(np.triu(kernel), 2, rng=0)


def test_sparse_centroids_are_taken_as_sparse_points_are():
    points = sparse.random_array((20, 4), density=0.5, rng=0, format="csr")
    dense = points.toarray()
    assert nearest_centroids(points, points[:3]).tolist() == nearest_centroids(dense, dense[:3]).tolist()
    assert np.allclose(graphclust.block_sums(points, points[:3]).sums, graphclust.block_sums(dense, dense[:3]).sums)


def test_a_limit_is_given_in_a_unit_that_shows_it(tmp_path):
    refuses(ResourceLimitError, "memory_limit is 999 bytes", coreset_sc, GRAPH, 2, memory_limit=999)
    file = tmp_path / "g.mtx"
    file.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n9000000 9000000 1\n2 1\n")
    words = r"\(\d+ MiB\), but memory_limit is 999 bytes"
    refuses(ResourceLimitError, words, graphclust.load_graph, file, memory_limit=999)


def test_communities_as_lists_are_json():
    found = coreset_sc(GRAPH, 2, rng=0)
    assert json.loads(json.dumps(found.communities(as_lists=True))) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert found.communities() == [{0, 1, 2, 3}, {4, 5, 6, 7}]


def test_the_command_line_says_what_it_wrote(tmp_path, capsys):
    page, labels = tmp_path / "p.html", tmp_path / "l.tsv"
    command, files = ("cluster", "karate", "-k", 2), ("--html", page, "-o", labels, "--force")
    out = said(capsys, *command, *files)[1]
    assert f"page in          {page}\n" in out and f"labels in        {labels}\n" in out and page.exists()
    report = json.loads(said(capsys, *command, *files, "--report", "json")[1])
    assert report["written"] == {"labels": str(labels), "page": str(page)}
    code, out, _ = said(capsys, *command)
    assert code == 0 and "page in" not in out
