"""k-means over the chunks of a Dask array, and stores of Parquet files: as of one process, however they are cut."""

import os

import numpy as np
import pytest
from cases import refuses
from scipy import sparse

import graphclust
from graphclust.errors import GraphFormatError, GraphValidationError, ParameterError

pytest.importorskip("distributed.client")  # the folder of this file is called distributed too

import dask.array as da
from distributed import Client, LocalCluster

from graphclust import distributed
from graphclust.distributed import ingest_parquet, ingestion

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too slow for plain Python"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def client():
    """Two workers that are threads of this process."""
    local = {"threads_per_worker": 1, "processes": False, "dashboard_address": None, "protocol": "inproc://"}
    with LocalCluster(n_workers=2, memory_limit=0, **local) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(55)
    return np.concatenate([rng.normal(center, 0.2, (300, 3)) for center in range(0, 15, 3)])


def chunked(points, *rows):
    return da.from_array(points, chunks=(rows, points.shape[1]))


@pytest.mark.parametrize("rows", [(1500,), (700, 1, 799), (500, 0, 500, 500)])
def test_from_given_centroids_it_finds_what_one_process_finds(client, points, rows):
    start = points[[0, 1, 400, 700, 1400]]
    found = distributed.kmeans(chunked(points, *rows), 5, client=client, init=start)
    alone = graphclust.kmeans(points, 5, init=start)
    assert (found.labels == alone.labels).all() and found.n_iter == alone.n_iter
    np.testing.assert_allclose(found.centroids, alone.centroids, rtol=1e-12)
    assert found.inertia == pytest.approx(alone.inertia) and (np.diff(found.history) <= 1e-12).all()


def test_the_scale_of_points_changes_no_label_and_points_too_small_are_refused(client, points):
    start = points[[0, 1, 400, 700, 1400]]
    found = distributed.kmeans(chunked(points * 2.0**130, 700, 800), 5, client=client, init=start * 2.0**130)
    assert (found.labels == graphclust.kmeans(points, 5, init=start).labels).all()
    tiny, words = chunked(points * 1e-200, 700, 800), "squared distances would vanish"
    for init in ("k-means||", start):
        refuses(GraphValidationError, words, distributed.kmeans, tiny, 5, client=client, init=init)


def test_sparse_chunks_are_clustered_as_dense_ones_are(client, points):
    """Centroids may be sparse too."""
    thin = np.where(points > 1.0, points, 0.0)
    start = thin[[0, 1, 400, 700, 1400]]
    dense, chunks = chunked(thin, 700, 800), chunked(thin, 700, 800).map_blocks(sparse.csr_array)
    expected = distributed.kmeans(dense, 5, client=client, init=start)
    for init in (start, sparse.csr_array(start)):
        found = distributed.kmeans(chunks, 5, client=client, init=init)
        assert (found.labels == expected.labels).all()
        np.testing.assert_allclose(found.centroids, expected.centroids, rtol=1e-9)


def test_parallel_seeding_finds_separated_clusters(client, points):
    shuffled = np.random.default_rng(3).permutation(points)
    found = distributed.kmeans(chunked(shuffled, 400, 1100), 5, client=client, rng=9)
    assert found.inertia < 1.3 * 1500 * 3 * 0.2**2
    again = distributed.kmeans(chunked(shuffled, 400, 1100), 5, client=client, rng=9)
    assert (found.labels == again.labels).all() and (found.centroids == again.centroids).all()


def test_its_candidates_are_those_of_one_process(client, points):
    """kmeans_parallel draws by the same counters, so where the blocks are the same, so are the candidates."""
    alone = graphclust.kmeans_parallel(points, 5, rng=21)
    found = distributed.kmeans(chunked(points, 1500), 5, client=client, rng=21, max_iter=1)
    expected = graphclust.kmeans(points, 5, init=alone, max_iter=1)
    np.testing.assert_allclose(found.centroids, expected.centroids, rtol=1e-12)


def test_a_cluster_without_points_takes_the_farthest(client, points):
    start = np.array([[0.0] * 3, [3.0] * 3, [6.0] * 3, [9.0] * 3, [900.0] * 3])
    found = distributed.kmeans(chunked(points, 750, 750), 5, client=client, init=start)
    assert (np.bincount(found.labels, minlength=5) == 300).all()


def test_chunks_of_another_length_than_they_say_are_refused(client, points):
    X = chunked(points, 700, 800)
    shorter = X.map_blocks(lambda block: block[:10], dtype=X.dtype, meta=np.empty((0, 0), X.dtype))
    with pytest.raises(GraphValidationError, match=r"X has a chunk of 10 rows where its chunk sizes say [78]00"):
        distributed.kmeans(shorter, 2, client=client, init=points[:2])


def test_what_cannot_be_used_is_refused(client, points):
    refuses(TypeError, r"X is a ndarray, expected a dask\.array", distributed.kmeans, points, 5, client=client)
    whole = chunked(points, 1500)
    refuses(ParameterError, "k=9999 is more than the 1500 points", distributed.kmeans, whole, 9999, client=client)
    words = r"init has shape \(2, 3\), expected \(5, 3\)"
    refuses(GraphValidationError, words, distributed.kmeans, whole, 5, client=client, init=points[:2])
    refuses(GraphValidationError, "unknown size", distributed.kmeans, whole[whole[:, 0] > 1], 5, client=client)
    broken = points.copy()
    broken[3, 1] = np.nan
    refuses(GraphValidationError, "holds nan", distributed.kmeans, chunked(broken, 1500), 5, client=client)


def write(path, **columns):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.parametrize("n_files", [1, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("per_range", [40, 1 << 24])
def test_the_store_holds_the_edges_of_all_files(client, tmp_path, monkeypatch, n_files, weighted, per_range):
    monkeypatch.setattr(ingestion, "EDGES_PER_RANGE", per_range)
    rng = np.random.default_rng(8)
    u, v = rng.integers(60, size=(2, 300))
    w = rng.integers(0, 5, 300) / 2.0 if weighted else np.ones(300)
    files = [
        write(tmp_path / f"{i}.parquet", u=part[0].astype(np.uint32), v=part[1].astype(np.int64), w=part[2])
        for i, part in enumerate(np.array_split(np.array([u, v, w]), n_files, axis=1))
    ]
    files.append(write(tmp_path / "empty.parquet", u=np.empty(0, np.int32), v=np.empty(0, np.int32), w=np.empty(0)))
    graph = ingest_parquet(
        files, tmp_path / "g.store", client=client, source="u", target="v", weight="w" if weighted else None, n_nodes=70
    )
    expected = np.zeros((70, 70))
    np.maximum.at(expected, (u, v), w)
    np.maximum.at(expected, (v, u), w)
    assert (graph.to_scipy().toarray() == expected).all()
    assert graphclust.open_store(tmp_path / "g.store", verify="full") == graphclust.as_graph(sparse.csr_array(expected))
    assert (graph.weights is None) == (not weighted)
    assert sorted(os.listdir(tmp_path)) == sorted(["g.store", *(file.name for file in files)])


def test_what_is_no_edge_list_is_named(client, tmp_path):
    good = write(tmp_path / "good.parquet", source=np.array([0, 1]), target=np.array([1, 2]))
    empty = write(tmp_path / "empty.parquet", source=np.empty(0, np.int64), target=np.empty(0, np.int64))
    (tmp_path / "text.parquet").write_text("0 1")
    others = {
        "negative": {"source": np.array([0, -1])}, "huge": {"source": np.array([0, 2**63 + 5], np.uint64)},
        "inf": {"w": np.array([np.inf, 1.0])}, "words": {"w": ["a", "b"]},
        "times": {"w": np.array([1, 2], "datetime64[s]")},
    }  # fmt: skip
    edges = {"source": np.array([0, 1]), "target": np.array([1, 2])}
    path = {name: write(tmp_path / f"{name}.parquet", **edges | columns) for name, columns in others.items()}
    target = tmp_path / "g.store"
    for files, options, error, words in [
        ([good], {"source": "from"}, GraphFormatError, r"good.parquet: has columns .*, expected 'from' among them"),
        ([good, tmp_path / "text.parquet"], {}, GraphFormatError, r"text.parquet: is not a Parquet file"),
        ([path["negative"]], {}, GraphValidationError, r"'source' of .*negative.parquet holds other things"),
        ([path["huge"]], {}, GraphValidationError, r"'source' of .*huge.parquet holds other things .* below 2\^63"),
        ([good], {"n_nodes": 2}, ParameterError, r"n_nodes=2 is out of range"),
        ([], {}, GraphValidationError, r"files is empty"),
        ([empty, empty], {}, GraphValidationError, r"no file holds a row, .*empty.parquet .* or n_nodes=$"),
        (good, {}, TypeError, r"files=.*good.parquet.* is one path, expected a list of them"),
    ]:
        refuses(error, words, ingest_parquet, files, target, client=client, **options)
    for name in ("inf", "words", "times"):
        words = rf"'w' of .*{name}.parquet holds what is not a weight"
        refuses(GraphValidationError, words, ingest_parquet, [path[name]], target, client=client, weight="w")
    assert not target.exists() and not list(tmp_path.glob(".graphclust-*"))
    isolated = ingest_parquet([empty], tmp_path / "isolated.store", client=client, n_nodes=5)
    assert (isolated.n_nodes, isolated.n_edges) == (5, 0)
