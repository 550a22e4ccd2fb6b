"""What a cluster of two processes on this machine costs beside one process with as many threads: tasks, bytes, seconds.

    python bench_distributed.py --nodes 1000000 --k 100

The graph is planted and written to a store in --folder, which is left as it was. Labels have to be the same bit for
bit, or the script ends with an error. Bytes are those that workers sent to each other and to the client.
"""

import os
import shutil
import tempfile

from harness import asked, shown, write_table
from tools import timed

import graphclust as gc
from graphclust import distributed
from graphclust.distributed.engine import DaskEngine

DEGREE_INSIDE, DEGREE_OUTSIDE = 14, 6
OBJECTIVES = ("modularity", "normalized_cut")


class Counter:
    """Counts the tasks that are submitted."""

    def __init__(self):
        self.n_tasks, submit = 0, DaskEngine._submit

        def counted(engine, *arguments):
            self.n_tasks += 1
            return submit(engine, *arguments)

        DaskEngine._submit = counted


def bytes_sent(client) -> int:
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def main() -> None:
    from distributed import Client, LocalCluster

    options = asked(
        __doc__, nodes=1_000_000, k=100, workers=2, folder=tempfile.gettempdir(), whole=False
    )  # --whole writes results/distributed.md
    folder = tempfile.mkdtemp(dir=options.folder)
    rows = []
    try:
        k, n = options.k, options.nodes // options.k * options.k
        planted = gc.planted_partition(k, n // k, DEGREE_INSIDE, DEGREE_OUTSIDE, rng=1)
        store = gc.save_store(os.path.join(folder, "planted.store"), planted.graph)
        cluster = LocalCluster(
            n_workers=options.workers, threads_per_worker=1, dashboard_address=None, memory_limit=0, host="127.0.0.1"
        )
        counter = Counter()
        with cluster, Client(cluster) as client:
            for objective in OBJECTIVES:
                how = {"objective": objective, "rng": 3}
                for _ in range(2):  # the second call has everything compiled
                    parallel = {"method": "two-step", "coreset": gc.Coreset(sampling="parallel"), **how}
                    seconds, alone = timed(gc.coreset_sc, store, k, **parallel)
                ari = gc.adjusted_rand_index(alone.labels, planted.labels)
                graph = f"{n:,} / {store.n_entries:,}"
                rows.append([graph, objective, "one process", f"{seconds:.1f}", "", "", "", f"{ari:.3f}"])
                for n_partitions in (options.workers, 4 * options.workers):
                    for _ in range(2):
                        counter.n_tasks, before = 0, bytes_sent(client)
                        there = {"client": client, "n_partitions": n_partitions, **how}
                        elapsed, found = timed(distributed.coreset_sc, store, k, **there)
                    assert (found.labels == alone.labels).all()
                    sent = (bytes_sent(client) - before) / 1e6
                    cells = [f"{elapsed:.1f}", f"{elapsed / seconds:.2f}", str(counter.n_tasks), f"{sent:.0f}"]
                    place = f"{options.workers} workers, {n_partitions} partitions"
                    rows.append(shown([graph, objective, place, *cells, f"{ari:.3f}"]))
    finally:
        shutil.rmtree(folder)
    header = ["nodes / entries", "objective", "where", "seconds", "ratio", "tasks", "MB sent", "ARI"]
    note = "One process and all workers map the same file. Labels are the same bit for bit."
    write_table("distributed", "On a Dask cluster and in one process", header, rows, note, whole=options.whole)


if __name__ == "__main__":
    main()
