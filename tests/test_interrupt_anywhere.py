"""Ctrl-C ends every public function that can run for long within two seconds, and carries whole results alone."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from gc import collect

import numpy as np
import pytest
from clusterers import CLUSTERERS, OF_GRAPHS, SIZES, labels_of
from numba.core import event

import graphclust as gc
from graphclust.progress import Progress

MOMENTS = (0.1, 1.0)  # seconds after the start; quick machines are done before the last
PATIENCE = 2.0
PACKAGE = str(pathlib.Path(gc.__file__).parent)


@cache
def planted(k=300, size=2_000, inside=16, outside=4):
    return gc.planted_partition(k, size, inside, outside, rng=1)


@cache
def points(n=200_000, d=20):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, d)) + 3.0 * rng.normal(size=(50, d))[np.arange(n) % 50]


@cache
def coreset():
    return gc.construct_coreset(gc.NormalizedCutKernel.of(planted().graph), 300, 100_000, rng=1)


@cache
def clustering():
    return gc.coreset_sc(planted(60).graph, 60, method="two-step", rng=1)


@cache
def published():
    return gc.coreset_sc(planted(60).graph, 60, method="paper", rng=1)


@cache
def path():
    return gc.cluster_path(planted(60).graph, range(1, 101), rng=1)


def shuffled(labels, share=0.3):
    rng = np.random.default_rng(1)
    return np.where(rng.random(len(labels)) < share, rng.permutation(labels), labels)


@cache
def make_ready():
    """All inputs, so that no interrupt falls into the making of one."""
    for make in (planted, points, coreset, clustering, published, path):
        make()
    for k in (20, 60, 100):
        planted(k)


# name -> what is to be interrupted.
WORK = {
    "coreset_sc, two-step": lambda: gc.coreset_sc(planted().graph, 300, method="two-step", rng=1),
    "coreset_sc, high": lambda: gc.coreset_sc(planted(60).graph, 60, method="two-step", effort="high", rng=1),
    "coreset_sc, multilevel": lambda: gc.coreset_sc(planted(100).graph, 100, method="multilevel", rng=1),
    "coreset_sc, cut": lambda: gc.coreset_sc(planted(100).graph, 100, objective="normalized_cut", rng=1),
    "coreset_sc, parallel": lambda: gc.coreset_sc(planted().graph, 300, coreset=gc.Coreset(sampling="parallel"), rng=1),
    "coreset_sc, paper": lambda: gc.coreset_sc(planted().graph, 300, method="paper", rng=1),
    "coreset_sc, paper by eigsh": lambda: gc.coreset_sc(
        planted().graph, 300, method="paper", coreset=gc.Coreset(embedding="eigsh"), rng=1
    ),
    "coreset_sc without k": lambda: gc.coreset_sc(planted(20).graph, rng=1),
    "cluster_path": lambda: gc.cluster_path(planted(100).graph, range(1, 101), rng=1),
    "ClusterPath.suggest": lambda: path().suggest(),
    "ClusterPath.clustering": lambda: path()._clusterings.clear() or [path()[k] for k in range(50, 60)],
    "certainty": lambda: gc.certainty(clustering(), n_repeats=2, rng=1),
    "coreset_quality": lambda: gc.coreset_quality(published(), rng=1),
    "refine_partition": lambda: gc.refine_partition(planted(60).graph, shuffled(planted(60).labels), rng=1),
    "move_nodes": lambda: gc.move_nodes(planted().graph, shuffled(planted().labels, 0.9), rng=1),
    "merge_clusters": lambda: gc.merge_clusters(planted(20).graph, 20),
    "spectral_clustering": lambda: gc.spectral_clustering(planted(20).graph, 40, rng=1),
    "spectral_embedding": lambda: gc.spectral_embedding(planted(20).graph, 60, rng=1),
    "fast_spectral_clustering": lambda: gc.fast_spectral_clustering(planted().graph, 300, rng=1),
    "construct_coreset": lambda: gc.construct_coreset(
        gc.NormalizedCutKernel.of(planted().graph), 3_000, 100_000, rounds=4, rng=1
    ),
    "d2_seeding": lambda: gc.d2_seeding(gc.NormalizedCutKernel.of(planted().graph), 1_000, method="naive", rng=1),
    "two_step_coreset_graph": lambda: gc.two_step_coreset_graph(gc.NormalizedCutKernel.of(planted().graph), coreset()),
    "kmeans": lambda: gc.kmeans(points(), 200, rng=1),
    "minibatch_kmeans": lambda: gc.minibatch_kmeans(points(), 500, batch_size=50_000, rng=1),
    "nested_minibatch_kmeans": lambda: gc.nested_minibatch_kmeans(points(), 200, batch_size=5_000, rng=1),
    "spherical_kmeans": lambda: gc.spherical_kmeans(points(), 200, rng=1),
    "kmeans_parallel": lambda: gc.kmeans_parallel(points(), 500, rng=1),
    "distance_seeding": lambda: gc.distance_seeding(points(), 1_000, rng=1),
    "kmeans_plusplus": lambda: gc.kmeans_plusplus(points(), 1_000, rng=1),
    "kernel_kmeans": lambda: gc.kernel_kmeans(points()[:15_000], 50, kernel="gaussian", rng=1),
    "minibatch_kernel_kmeans": lambda: gc.minibatch_kernel_kmeans(
        points()[:50_000], 50, kernel="gaussian", max_iter=100, rng=1
    ),
    "truncated_kernel_kmeans": lambda: gc.truncated_kernel_kmeans(
        points()[:50_000], 50, kernel="gaussian", max_iter=100, rng=1
    ),
    "coreset_kernel_kmeans": lambda: gc.coreset_kernel_kmeans(points()[:100_000], 50, coreset_size=5_000, rng=1),
    "knn_graph": lambda: gc.knn_graph(points()[:100_000], 15),
    "knn_graph, Manhattan": lambda: gc.knn_graph(points()[:20_000], 15, metric="manhattan"),
    "planted_partition": lambda: gc.planted_partition(1_000, 1_000, 16, 4, rng=1),
    "stochastic_block_model": lambda: gc.stochastic_block_model([1_000] * 300, 0.2, 0.0, rng=1),
    "lfr_like": lambda: gc.lfr_like(300_000, mixing=0.3, mean_degree=20, rng=1),
}


class Stopwatch:
    """Sends SIGINT to this process after some seconds, and measures how long it is until that is an exception."""

    def __init__(self, seconds):
        self.timer = threading.Timer(seconds, self.send)
        self.sent_at = None

    def send(self):
        self.sent_at = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)


def interrupted(work, seconds):
    """Seconds from the signal to the KeyboardInterrupt; None when the work was done before."""
    watch = Stopwatch(seconds)
    is_working = True

    def stop(number, frame):
        if is_working:
            raise KeyboardInterrupt

    collect()  # or the timer before it dies meanwhile: Python drops what is raised while it tells who holds it weakly
    before = signal.signal(signal.SIGINT, stop)
    try:
        watch.timer.start()
        work()
        is_working = False
        return None
    except KeyboardInterrupt:
        return time.perf_counter() - watch.sent_at
    finally:
        is_working = False
        watch.timer.cancel()
        watch.timer.join()
        signal.signal(signal.SIGINT, before)


def compile_loops(work, seconds=2.0):  # longer than the last of the moments
    """Runs the start of it until nothing is left to compile: the compiler answers a signal when it is through."""
    while True:
        with event.install_recorder("numba:compile") as compiled:
            interrupted(work, seconds)
        if not compiled.buffer:
            return


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("name", WORK)
def test_ctrl_c_ends_it_within_two_seconds(name):
    work = WORK[name]
    make_ready()
    compile_loops(work)
    delays = [interrupted(work, seconds) for seconds in MOMENTS]
    in_time = [delay for delay in delays if delay is not None]
    print(name, [None if delay is None else round(delay, 2) for delay in delays])
    assert in_time and max(in_time) < PATIENCE, delays


@pytest.mark.slow
@pytest.mark.parametrize("effort", ["normal", "high"])
def test_whatever_is_offered_on_the_way_has_a_label_for_each_node(effort):
    """Over several levels, of a graph whose first V-cycles run on regions."""
    graph, lengths = planted(100).graph, set()

    class Offers(Progress):
        def offer(self, make):
            super().offer(make)
            lengths.add(len(self._best().labels))

    gc.coreset_sc(graph, 100, method="multilevel", effort=effort, time_budget=20, progress=Offers(), rng=1)
    assert lengths == {graph.n_nodes}


SHORT_CALLS = """
import faulthandler, random, signal, sys, time
import numpy as np
import graphclust
from graphclust.compiled.graphs.levels import Task
from graphclust.objective.objective import ratio_objective, weigh
from graphclust.engine.contraction import agglomerate
from graphclust.engine.contraction import contract
from graphclust.engine.v_cycle import v_cycle
from graphclust.engine.levels import run_on
from graphclust.engine.local_moving import find_regions, refine

faulthandler.enable()
run = run_on(weigh(graphclust.planted_partition(10, 30, 8, 2, rng=0).graph, "normalized_cut"))
level, task, penalty = run.finest, Task(ratio_objective(run.totals), 10), 4.0 * run.totals.chance

def work(times):
    for _ in range(times):
        contract(level, find_regions(level, penalty, run), run)
        found = refine(level, agglomerate(level, task, run), task, run)
        v_cycle(level, found, task, penalty, run)

def strike(number, frame):
    raise KeyboardInterrupt

work(3)  # what is compiled or loaded answers no signal
signal.signal(signal.SIGALRM, strike)
n_struck, end, draw = 0, time.perf_counter() + 10.0, random.Random(1)
while time.perf_counter() < end:
    try:
        signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.0005, 0.004))
        work(1_000_000)
    except KeyboardInterrupt:
        n_struck += 1
print(n_struck)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform == "win32" or "NUMBA_DISABLE_JIT" in os.environ, reason="needs POSIX signals and loops"
)
def test_a_strike_at_any_moment_of_short_calls_is_a_keyboard_interrupt():
    """Nothing else is raised, and the process lives on; it ended within a second where calls handed arrays over."""
    done = subprocess.run([sys.executable, "-c", SHORT_CALLS], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) > 500


class InterruptAtLine:
    """Ctrl-C before the n-th line of the package that is run, wherever that is; counts the lines."""

    def __init__(self, n: int):
        self.n, self.lines = n, 0

    def __call__(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self.n:
                raise KeyboardInterrupt
        return self

    def of(self, work):
        """What the work returns, or raises."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            return work()
        except KeyboardInterrupt as stop:
            return stop
        finally:
            sys.settrace(before)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")  # the walk does not suit 5 of 20 blocks
@pytest.mark.parametrize("name", [*CLUSTERERS, *OF_GRAPHS])
def test_an_interrupt_anywhere_carries_complete_labels_or_nothing(name, monkeypatch):
    work, chance, n_carried = OF_GRAPHS.get(name) or (lambda: CLUSTERERS[name](None)), random.Random(name), 0
    for at_once in (1 << 19, 0):  # entries of a level on which each step is one call, so that no line interrupts it
        monkeypatch.setattr("graphclust.engine.levels.AT_ONCE", at_once)
        work()  # what is made once is made
        counter = InterruptAtLine(0)
        whole = counter.of(work)
        expected = labels_of(whole)
        least, most = SIZES.get(name, (1, len(expected)))
        for tenth in [chance.randrange(10) for _ in range(5)] + [5, 6, 7, 8, 9]:  # late ones, where there are labels
            stop = InterruptAtLine(int((tenth + chance.random()) / 10 * counter.lines) + 1).of(work)
            if not isinstance(stop, gc.Interrupted):
                assert type(stop) in (KeyboardInterrupt, type(whole))  # some lines are run now and then
                continue
            n_carried += 1
            labels, sizes = labels_of(stop.best), np.bincount(labels_of(stop.best)[expected >= 0])
            assert isinstance(stop.best, np.ndarray if "kernel" in name else type(whole))
            assert labels.shape == expected.shape and ((labels < 0) == (expected < 0)).all()
            assert name.startswith("communities") or len(sizes) == expected.max() + 1
            assert least <= sizes.min() and sizes.max() <= most
            assert not hasattr(stop.best, "remarks") or any("interrupted" in remark for remark in stop.best.remarks)
    assert n_carried >= 1 or name == "communities"  # which has labels to carry for a moment only
