"""On a cluster of two processes: the labels of one process, whatever happens to the workers; and named errors."""

import os
import signal
import sys
import threading
import time
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from scipy import sparse

import graphclust

pytest.importorskip("distributed.client")  # the folder of this file is called distributed too

from distributed import Client, LocalCluster

from graphclust import Coreset, distributed
from graphclust.compiled.runtime.blocks import coarse_blocks
from graphclust.distributed.engine import DaskEngine, Origin, look_at_workers, versions
from graphclust.errors import GraphClustError, GraphFormatError, ParameterError
from graphclust.objective.objective import OBJECTIVES

OPTIONS = {"objective": "normalized_cut", "rng": 41}
K = 6

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too slow for plain Python"),
    pytest.mark.filterwarnings("ignore"),
]


def new_cluster(n_workers=2):
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=None, memory_limit="2GiB", host="127.0.0.1"
    )


@pytest.fixture(scope="module")
def client():
    with new_cluster() as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Six clusters of 400 nodes in eight blocks, and some isolated nodes."""
    planted = graphclust.planted_partition(K, 400, 40, 6, rng=12)
    matrix = planted.graph.to_scipy()
    matrix.resize((2405, 2405))
    graph = graphclust.as_graph(matrix)
    return graphclust.save_store(tmp_path_factory.mktemp("stores") / "planted.store", graph)


@pytest.fixture(scope="module")
def alone(store):
    """What one process finds."""
    return in_one_process(store, K, **OPTIONS)


def in_one_process(graph, k, size=None, **options):
    how = Coreset(size=size, sampling="parallel")
    return graphclust.coreset_sc(graph, k, method="two-step", coreset=how, **options)


class Killer:
    """Kills one worker as soon as the cluster has begun with the n-th step."""

    def __init__(self, client, monkeypatch, after):
        self.client, self.after, self.steps = client, after, Counter()
        original = DaskEngine.each
        pids = list(client.run(os.getpid).values())

        def each(engine, function, *arguments):
            found = original(engine, function, *arguments)
            self.steps["all"] += 1
            if self.steps["all"] == self.after:
                time.sleep(0.2)
                os.kill(pids[0], signal.SIGKILL)
                self.steps["kills"] += 1
            return found

        monkeypatch.setattr(DaskEngine, "each", each)


def test_the_same_labels_on_one_two_and_seven_partitions_and_when_a_worker_dies(
    client, store, alone, monkeypatch, tmp_path
):
    assert len(coarse_blocks(store.indptr)) >= 8
    for n_partitions, file in ((1, None), (2, tmp_path / "labels.npy")):
        found = distributed.coreset_sc(
            store.path, K, client=client, n_partitions=n_partitions, labels_path=file, **OPTIONS
        )
        assert (found.labels == alone.labels).all() and found == alone
        assert found.modularity == alone.modularity and (found.coreset.labels == alone.coreset.labels).all()
    assert (found.labels[:-5] >= 0).all() and (found.labels[-5:] == -1).all() and found.n_clusters == K
    assert (np.load(tmp_path / "labels.npy") == alone.labels).all() and os.listdir(tmp_path) == ["labels.npy"]
    killer = Killer(client, monkeypatch, after=12)
    found = distributed.coreset_sc(store, K, client=client, n_partitions=7, **OPTIONS)
    assert killer.steps["kills"] == 1 and killer.steps["all"] > 20
    assert (found.labels == alone.labels).all()


@pytest.mark.parametrize("components", ["large", "largest", "all"])
def test_the_same_components_are_put_aside(client, store, tmp_path, components):
    crumbs = sparse.block_diag([store.to_scipy(), *[np.ones((3, 3))] * 4], format="csr")
    graph = graphclust.save_store(tmp_path / "crumbs.store", graphclust.as_graph(crumbs))
    options = {"components": components, **OPTIONS}
    alone = in_one_process(graph, K, **options)
    found = distributed.coreset_sc(graph, K, client=client, n_partitions=5, **options)
    assert (found.labels == alone.labels).all() and found.remarks == alone.remarks
    assert found.n_aside == alone.n_aside == (0 if components == "all" else 12)


def test_the_same_number_is_chosen_where_none_is_given(client, store):
    alone = in_one_process(store, None, **OPTIONS)
    found = distributed.coreset_sc(store, client=client, **OPTIONS)
    assert found.k == alone.k == K and found.remarks == alone.remarks and (found.labels == alone.labels).all()
    assert any(remark.startswith(f"k was not given, {K} was taken") for remark in found.remarks)


@pytest.mark.parametrize(("size", "options"), [(None, {"objective": "modularity"}), (300, {"effort": "low"})])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_labels_with_weights_and_other_options(client, store, tmp_path, size, options, weighted):
    graph = store
    if weighted:
        matrix = store.to_scipy()
        matrix.data = 0.1 + (matrix + matrix.T).multiply(matrix).tocsr().data * np.pi  # no whole numbers
        rows, columns = matrix.nonzero()
        matrix.data = matrix.data + ((rows * columns) % 13) / 7.0
        graph = graphclust.save_store(tmp_path / "weighted.store", graphclust.as_graph(matrix))
    alone = in_one_process(graph, K, size, rng=8, **options)
    options = options | {"coreset": Coreset(size=size)}
    for n_partitions in (7, 50):
        found = distributed.coreset_sc(graph, K, client=client, n_partitions=n_partitions, rng=8, **options)
        assert (found.labels == alone.labels).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_has_the_same_labels_and_clusters_that_are_connected(client, tmp_path, objective):
    """A graph of few cycles, of which moves made all at once cut clusters into parts."""
    graph = nx.gnp_random_graph(2_000, 3.0 / 2_000, seed=4)
    graph = nx.convert_node_labels_to_integers(graph.subgraph(max(nx.connected_components(graph), key=len)))
    store = graphclust.save_store(tmp_path / "sparse.store", graphclust.as_graph(graph))
    options = {"objective": objective, "rng": 3}
    alone = in_one_process(store, 12, **options)
    found = distributed.coreset_sc(store, 12, client=client, n_partitions=3, **options)
    assert (found.labels == alone.labels).all() and found.edge_cut == alone.edge_cut
    for c in range(12):
        assert nx.is_connected(graph.subgraph(np.flatnonzero(found.labels == c)))


@pytest.mark.parametrize("crumb", [False, True])
def test_clusters_of_one_size_are_numbered_by_names_as_in_one_process(client, tmp_path, crumb):
    cliques = nx.ring_of_cliques(4, 6)
    if crumb:
        cliques.add_edge(24, 25)
    names = [f"n{number:02d}" for number in np.random.default_rng(1).permutation(len(cliques))]
    graph = graphclust.save_store(tmp_path / "named.store", nx.relabel_nodes(cliques, dict(enumerate(names))))
    options = {"components": "largest", "rng": 0}
    alone = in_one_process(graph, 4, **options)
    for file in (None, tmp_path / "labels.npy"):
        found = distributed.coreset_sc(graph, 4, client=client, labels_path=file, **options)
        assert found == alone and found.n_aside == (2 if crumb else 0)
        assert isinstance(found.labels, np.memmap) == (file is not None)


def test_a_worker_that_sees_another_store_or_none_or_has_other_versions_is_named(client, store, tmp_path):
    elsewhere, older = str(tmp_path / "elsewhere.store"), versions() | {"numpy": "1.0"}
    for origin, error, words in (
        (Origin(elsewhere, store.key, versions()), GraphFormatError, "elsewhere.store: {} cannot open the store"),
        (Origin(store.path, "of another", versions()), GraphFormatError, "{} finds another store there"),
        (Origin(store.path, store.key, older), GraphClustError, "{} has numpy .*, but the client has numpy 1.0"),
    ):
        refuses(error, words.format("worker tcp://.*"), look_at_workers, client, origin, 20.0)


def test_what_is_no_open_client_is_refused(client, store):
    with pytest.raises(TypeError, match=r"client is a str, expected a dask\.distributed\.Client"):
        distributed.coreset_sc(store, K, client="tcp://127.0.0.1:8786")
    other = Client(client.scheduler.address, set_as_default=False)
    other.close()
    refuses(ParameterError, "client is closed", distributed.coreset_sc, store, K, client=other)
    refuses(ParameterError, "k=9999 is more than the 2405 nodes", distributed.coreset_sc, store, 9999, client=client)
    refuses(TypeError, "argument 'random_state'", distributed.coreset_sc, store, 3, client=client, random_state=0)


def test_a_client_that_is_closed_while_it_waits_ends_in_an_error(client, store):
    other = Client(client.scheduler.address, set_as_default=False)
    engine = engine_on(other, store)
    slow = engine.once(sleeping, 30.0)
    threading.Timer(0.5, other.close).start()
    start = time.monotonic()
    refuses(GraphClustError, r"client (was )?closed", engine.fetch, slow)
    assert time.monotonic() - start < 15


def test_the_extra_is_named_where_it_is_missing(monkeypatch, store):
    monkeypatch.setitem(sys.modules, "distributed", None)
    refuses(ImportError, r'pip install "graphclust\[dask\]"', distributed.coreset_sc, store, K, client=None)


def test_a_partition_that_kills_every_worker_is_named(store):
    with new_cluster() as cluster, Client(cluster, set_as_default=False) as client:
        engine = engine_on(client, store)
        # Either: Dask holds the death of a worker against every task that it had.
        named = r"partition (0 of 2 \(rows 0 to \d+\)|1 of 2 \(rows \d+ to 2404\)) was with 4 workers .* died"
        refuses(GraphClustError, named, engine.fetch, engine.each(killing_in_the_second_half, 1000))


def test_a_cluster_without_workers_ends_in_an_error(store):
    with new_cluster(1) as cluster, Client(cluster, set_as_default=False) as client:
        engine = engine_on(client, store, patience=2.0)
        slow = engine.once(sleeping, 60.0)
        threading.Timer(0.5, lambda: cluster.scale(0)).start()
        start = time.monotonic()
        refuses(GraphClustError, "for 2 s no worker has been running", engine.fetch, slow)
        refuses(GraphClustError, "no worker for 1 s", distributed.coreset_sc, store, K, client=client, patience=1.0)
        assert time.monotonic() - start < 30


def test_a_scheduler_that_dies_ends_in_an_error(store):
    cluster = new_cluster(1)
    client = Client(cluster, set_as_default=False)
    engine = engine_on(client, store, patience=3.0)
    slow = engine.once(sleeping, 60.0)
    threading.Timer(0.5, cluster.close).start()
    start = time.monotonic()
    refuses(GraphClustError, None, engine.fetch, slow)
    assert time.monotonic() - start < 30
    client.close()


def engine_on(client, store, patience=20.0):
    return DaskEngine(client, Origin(store.path, store.key, versions()), coarse_blocks(store.indptr), 2, patience)


def sleeping(source, seconds):
    time.sleep(seconds)


def killing_in_the_second_half(source, first, last, half):
    if first > half:
        os.kill(os.getpid(), signal.SIGKILL)
