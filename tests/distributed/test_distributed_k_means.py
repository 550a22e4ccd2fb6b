"""k-means over the chunks of a Dask array: the sums of one process, chunk by chunk."""

import os

import numpy as np
import pytest
from cases import refuses

import graphclust
from graphclust.errors import GraphValidationError, ParameterError

pytest.importorskip("distributed")

from graphclust import distributed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too slow for plain Python"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(55)
    return np.concatenate([rng.normal(center, 0.2, (300, 3)) for center in range(0, 15, 3)])


def chunked(points, *rows):
    import dask.array as da

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
    for init in ("k-means||", start):
        with pytest.raises(GraphValidationError, match="squared distances would vanish"):
            distributed.kmeans(chunked(points * 1e-200, 700, 800), 5, client=client, init=init)


def test_sparse_chunks_are_clustered_as_dense_ones_are(client, points):
    """Centroids may be sparse too."""
    from scipy import sparse

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
    with pytest.raises(ParameterError, match="k=9999 is more than the 1500 points"):
        distributed.kmeans(chunked(points, 1500), 9999, client=client)
    with pytest.raises(GraphValidationError, match=r"init has shape \(2, 3\), expected \(5, 3\)"):
        distributed.kmeans(chunked(points, 1500), 5, client=client, init=points[:2])
    with pytest.raises(GraphValidationError, match="unknown size"):
        array = chunked(points, 1500)
        distributed.kmeans(array[array[:, 0] > 1], 5, client=client)
    broken = points.copy()
    broken[3, 1] = np.nan
    refuses(GraphValidationError, "holds nan", distributed.kmeans, chunked(broken, 1500), 5, client=client)
