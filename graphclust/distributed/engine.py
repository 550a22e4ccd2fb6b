"""Runs the steps of `graph.executor` on the workers of a Dask cluster, over the partitions of a store.

A partition is a run of blocks, and a task is a step on one of them. Tasks open the store by its path, so that whatever
a dead worker held is made again from there; nothing is scattered. Values travel from worker to worker, and to the
client only those that it asks for.
"""

import contextlib
import importlib
import itertools
import os
import platform
import threading
import time
import uuid
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from graphclust import checks
from graphclust.errors import GraphClustError, GraphFormatError, ParameterError
from graphclust.graph.container import Graph
from graphclust.graph.executor import ByBlock, Engine, Whole, take_apart, values_by_block
from graphclust.io.store.store import StoredGraph, open_store
from graphclust.partition.components import mask_nodes, nodes_to_partition
from graphclust.progress import Progress
from graphclust.two_step.in_blocks import GraphSource

POLL = 1.0  # seconds between two looks at the cluster while tasks run
PACKAGES = ("graphclust", "numpy", "scipy", "numba")  # whose versions have to be the same for the same labels
MOST_OPEN = 4  # stores that a worker keeps mapped

_open_lock = threading.Lock()
_opened: dict[tuple[Any, ...], GraphSource] = {}


def import_extra(module: str) -> Any:
    """A module of the extra, or an ImportError that says how to install it."""
    needs = f"graphclust.distributed needs {module}, which is not installed"
    return checks.import_extra(module, needs, "graphclust[dask]")


class Origin(NamedTuple):
    """Where the tasks find the graph, what they must find there, and what they leave out of it.

    part : k and components, as `nodes_to_partition` takes them, where components are put aside; each worker finds out
    for itself which ones.
    """

    path: str
    key: str
    versions: dict[str, str]
    part: tuple[int, str] | None = None


class DaskEngine(Engine):
    """Runs steps as tasks of a client; `patience` seconds without a running worker are an error."""

    def __init__(self, client: Any, origin: Origin | None, boundaries: np.ndarray, n_partitions: int, patience: float):
        self.client, self.origin, self.boundaries, self.patience = client, origin, boundaries, patience
        self.name = f"graphclust-{uuid.uuid4().hex[:12]}"
        ends = np.linspace(0, len(boundaries) - 1, n_partitions + 1).round().astype(int)
        self.partitions = [(int(a), int(b)) for a, b in itertools.pairwise(ends) if a < b]
        self.n_tasks = 0

    def each(self, function: Callable[..., Any], *arguments: Any) -> ByBlock:
        """The step on every partition."""
        values, by_block = take_apart(arguments)
        futures = []
        for part, (first, last) in enumerate(self.partitions):
            own = [value[part] if split else value for value, split in zip(values, by_block, strict=True)]
            boundaries = self.boundaries[first : last + 1]
            futures.append(self._submit(part, run_partition, self.origin, boundaries, function, by_block, *own))
        self.n_tasks += 1
        return ByBlock(futures)

    def once(self, function: Callable[..., Any], *arguments: Any) -> Whole:
        """The step on some worker."""
        values, by_block = take_apart(arguments)
        self.n_tasks += 1
        return Whole(self._submit("all", run_once, self.origin, function, by_block, *values))

    def by_block(self, values: list[Any]) -> ByBlock:
        """Values that are known here, one for each block."""
        return ByBlock([values[first:last] for first, last in self.partitions])

    def fetch(self, values: ByBlock | Whole) -> Any:
        """The value, or the list of values in block order; waits for it."""
        if isinstance(values, ByBlock):
            return [value for part in self._results(values.values) for value in part]
        return self._results([values.value])[0]

    def _submit(self, part: int | str, task: Callable[..., Any], *arguments: Any) -> Any:
        key = f"{self.name}-{self.n_tasks}-{part}"
        check_client(self.client)
        return self.client.submit(task, *arguments, key=key)

    def _results(self, futures: list[Any]) -> list[Any]:
        """What the workers computed; if a worker dies or the run is lost, GraphClustError says why and what to do."""
        from distributed import CancelledError, KilledWorker

        try:
            wait_for(self.client, futures, self.patience)
            return self.client.gather(futures)
        except KilledWorker as problem:
            raise GraphClustError(
                # Dask holds the death of a worker against every task that it had.
                f"{self._place_of(str(problem.task))} was with {problem.allowed_failures + 1} workers one after the "
                "other that all died, most likely for want of memory: make more partitions, or start workers with "
                "memory_limit=0, for mapped pages count as theirs"
            ) from problem
        except CancelledError as problem:
            raise GraphClustError(
                "the scheduler has lost the tasks of this run: it was restarted, or the client closed; run it again"
            ) from problem
        except BaseException:
            if self.client.status == "running":
                self.client.cancel(futures)
            raise

    def _place_of(self, key: str) -> str:
        part = key.rsplit("-", 1)[1]
        if part == "all":
            return "a task on what all partitions found"
        first, last = self.partitions[int(part)]
        rows = f"rows {self.boundaries[first]} to {self.boundaries[last] - 1}"
        return f"partition {part} of {len(self.partitions)} ({rows})"


def run_partition(
    origin: Origin | None, boundaries: np.ndarray, function: Callable[..., Any], by_block: list[bool], *values: Any
) -> list[Any]:
    """On a worker: a step on the blocks of one partition."""
    return values_by_block(source_at(origin), boundaries, function, list(values), by_block)


def run_once(origin: Origin | None, function: Callable[..., Any], by_block: list[bool], *values: Any) -> Any:
    """On a worker: a step on what all blocks found."""
    together = [
        [value for part in parts for value in part] if split else parts
        for parts, split in zip(values, by_block, strict=True)
    ]
    with np.errstate(all="ignore"):
        return function(source_at(origin), *together)


def source_at(origin: Origin | None) -> GraphSource | None:
    """On a worker: the graph, mapped once a process, if it is the one that was meant."""
    if origin is None:
        return None
    differing = {name: version for name, version in versions().items() if version != origin.versions.get(name)}
    if differing:
        found = ", ".join(f"{name} {version}" for name, version in differing.items())
        wanted = ", ".join(f"{name} {origin.versions.get(name)}" for name in differing)
        raise GraphClustError(
            f"{worker_name()} has {found}, but the client has {wanted}: labels could differ; make them equal"
        )
    place = (origin.path, origin.key, origin.part)
    with _open_lock:
        if place not in _opened:
            graph: Graph = _open_checked_store(origin)
            if origin.part is not None:
                graph = mask_nodes(graph, nodes_to_partition(graph, *origin.part, Progress()).nodes)
            while len(_opened) >= MOST_OPEN:
                del _opened[next(iter(_opened))]
            _opened[place] = GraphSource(graph)
        return _opened[place]


def _open_checked_store(origin: Origin) -> StoredGraph:
    """The client's store, opened by a worker; GraphFormatError where it is missing or another one."""
    where = worker_name()
    try:
        graph = open_store(origin.path, verify="fast")
    except (OSError, GraphFormatError) as problem:
        raise GraphFormatError(
            f"{where} cannot open the store, expected a path that all workers see, on a shared disk: {problem}",
            origin.path,
        ) from None
    if not isinstance(graph, StoredGraph) or graph.key != origin.key:
        raise GraphFormatError(f"{where} finds another store there than the client", origin.path)
    return graph


def worker_name() -> str:
    """The worker that this runs on, for messages."""
    from distributed import get_worker

    try:
        return f"worker {get_worker().address} on {platform.node()}"
    except ValueError:
        return f"process {os.getpid()} on {platform.node()}"


@cache
def versions() -> dict[str, str]:
    """Versions of what the labels depend on."""
    of_packages = {name: str(importlib.import_module(name).__version__) for name in PACKAGES}
    return {"python": ".".join(platform.python_version_tuple()[:2]), **of_packages}


def look_at_workers(client: Any, origin: Origin, patience: float) -> None:
    """Have every worker open the store before anything else, so that its error is seen first."""
    workers = count_workers(client)
    futures = [
        client.submit(can_open, origin, workers=[worker], key=f"graphclust-look-{uuid.uuid4().hex}", pure=False)
        for worker in workers
    ]
    wait_for(client, futures, patience)
    client.gather(futures)


def can_open(origin: Origin) -> bool:
    """On a worker: whether the store is there; raises what is wrong with it."""
    return source_at(origin) is not None


def wait_for(client: Any, futures: list[Any], patience: float) -> None:
    """Return when all are done or one has failed; an error if for `patience` seconds no worker could run them."""
    from distributed import wait

    futures = [future for future in futures if hasattr(future, "status")]
    last_seen = time.monotonic()
    while any(future.status == "pending" for future in futures):
        if any(future.status in ("error", "cancelled", "lost") for future in futures):
            return
        with contextlib.suppress(TimeoutError), client.as_current():  # or another client, on its own loop, would wait
            wait(futures, timeout=POLL)
        if client.status in ("closed", "closing"):
            raise GraphClustError("the client was closed while its tasks ran; open one and run it again")
        if count_workers(client):
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > patience:
            raise GraphClustError(
                f"for {patience:g} s no worker has been running (all gone, or paused for want of memory, "
                "or the scheduler is gone): start some, or give more patience="
            )


def count_workers(client: Any) -> list[str]:
    """Addresses of the workers that take tasks; none where the scheduler does not answer."""
    if client.status != "running":
        return []
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except (OSError, TimeoutError):
        return []
    return [address for address, worker in workers.items() if worker.get("status", "running") == "running"]


def check_client(client: Any) -> None:
    """Refuse what is no client that can take tasks now."""
    from distributed import Client

    if not isinstance(client, Client):
        raise TypeError(f"client is a {type(client).__name__}, expected a dask.distributed.Client that you have opened")
    if client.asynchronous:
        raise ParameterError("client is asynchronous, expected one that waits: Client(..., asynchronous=False)")
    if client.status in ("closed", "closing"):
        raise ParameterError(f"client is {client.status}, expected an open one")
