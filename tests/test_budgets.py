"""A time budget ends the work early with a complete result; Ctrl-C carries the best result so far."""

import logging
import sys
import time
from functools import partial

import networkx as nx
import numpy as np
import pytest
from cases import for_each, refuses
from clusterers import CLUSTERERS, PLANTED, labels_of

import graphclust as gc
from graphclust import Coreset, Interrupted, Progress

AT_ONCE = 1e-9


class InterruptAt:
    """Ctrl-C at the n-th step; counts the steps."""

    def __init__(self, n: int):
        self.n, self.steps = n, 0

    def __call__(self, stage, done, total):
        self.steps += 1
        if self.steps == self.n:
            raise KeyboardInterrupt


def carried_to_the_end(cluster):
    """What an interrupt at the last step of cluster(progress) carries, and what it gives without one."""
    counter = InterruptAt(0)
    whole = cluster(counter)
    with pytest.raises(Interrupted) as stop:
        cluster(InterruptAt(counter.steps))
    return stop.value.best, whole


def test_what_is_carried_is_nearly_as_good_as_the_end():
    """Of the whole graph, with the nodes in their places, and not of a coarser one."""
    best, whole = carried_to_the_end(lambda progress: gc.coreset_sc(PLANTED, 20, rng=0, progress=progress))
    assert best.modularity > 0.9 * whole.modularity


@pytest.mark.parametrize(
    ("options", "resolution"),
    [
        ({}, 1.0),
        ({"resolution": 2}, 2.0),
        ({"objective": "constant_potts"}, 231 / 34**2 * 2),  # the mean weight between two of the nodes
        ({"objective": "normalized_cut"}, None),
    ],
)
def test_what_is_carried_can_be_saved_and_has_a_resolution(options, resolution, tmp_path):
    karate = nx.karate_club_graph()
    best, _ = carried_to_the_end(lambda progress: gc.coreset_sc(karate, 3, rng=0, progress=progress, **options))
    best.model().save(tmp_path / "model.npz")
    assert gc.load_model(tmp_path / "model.npz").resolution == pytest.approx(resolution)


def test_isolated_nodes_and_crumbs_are_in_what_is_carried():
    matrix = PLANTED.to_scipy().tolil()
    matrix.resize((4_003, 4_003))
    matrix[4_000, 4_001] = matrix[4_001, 4_000] = 1
    graph = matrix.tocsr()
    with pytest.warns(gc.GraphWarning):
        best, _ = carried_to_the_end(lambda progress: gc.coreset_sc(graph, 5, rng=0, progress=progress))
    labels = best.labels
    assert labels.shape == (4_003,) and (labels[:4_000] >= 0).all() and (labels[4_000:] == -1).all()


def test_what_is_carried_is_within_a_least_size(monkeypatch):
    monkeypatch.setattr("graphclust.engine.levels.AT_ONCE", 0)  # in one call the hook is not looked at
    graph = nx.connected_caveman_graph(12, 8)  # of which two caves are one cluster
    best, _ = carried_to_the_end(lambda progress: gc.communities(graph, min_size=14, rng=0, progress=progress))
    assert best.sizes.min() >= 14 and best.modularity == pytest.approx(gc.modularity(best.graph, best.labels))
    assert all(nx.is_connected(graph.subgraph(np.flatnonzero(best.labels == c).tolist())) for c in range(best.k))


def test_the_published_method_has_nothing_to_carry():
    """What it clusters on the way is the coreset."""
    small = gc.planted_partition(4, 50, 10, 2, rng=0).graph
    counter = InterruptAt(0)
    gc.coreset_sc(small, 4, method="paper", coreset=gc.Coreset(size=100), rng=0, progress=counter)
    with pytest.raises(KeyboardInterrupt) as stop:
        gc.coreset_sc(
            small, 4, method="paper", coreset=gc.Coreset(size=100), rng=0, progress=InterruptAt(counter.steps)
        )
    assert not isinstance(stop.value, Interrupted)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["multilevel", "two-step"])
def test_a_budget_that_is_used_up_leaves_out_what_only_improves(method):
    def clustered(time_budget):
        counter = InterruptAt(0)
        options = {"method": method, "effort": "high", "time_budget": time_budget}
        return gc.coreset_sc(PLANTED, 20, **options, rng=0, progress=counter), counter.steps

    (hasty, n_hasty), (patient, _), (unlimited, n_all) = (clustered(budget) for budget in (AT_ONCE, 1e6, None))
    assert hasty.n_clusters == 20 and (hasty.labels >= 0).all()
    said = [any("the time budget of 1e-09 s ran out" in r for r in found.remarks) for found in (hasty, patient)]
    assert said == [True, False]
    assert (patient.labels == unlimited.labels).all() and patient.remarks == unlimited.remarks
    assert hasty.modularity <= unlimited.modularity
    assert n_hasty < 0.7 * n_all


class TimeIsUpAt(Progress):
    """A budget that is used up when it is asked for the n-th time; counts how often it was."""

    def __init__(self, n: int):
        super().__init__(time_budget=1e6)
        self.n, self.asked, self.read_in_time = n, 0, 0

    def out_of_time(self):
        self.asked += 1
        if self.asked == self.n:
            self.read_in_time = self.n_read
        if self.asked >= self.n:
            self._deadline = 0.0
        return super().out_of_time()

    @property
    def n_read(self) -> int:
        return sum(self.entries_read.values())


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"method": "multilevel"}, marks=pytest.mark.slow),
        pytest.param({"method": "two-step"}, marks=pytest.mark.slow),
        pytest.param({"coreset": Coreset(sampling="parallel")}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_wherever_time_runs_out_there_are_k_complete_clusters(options):
    def clustered(progress):
        return gc.coreset_sc(PLANTED, 20, **options, rng=0, progress=progress)

    endless = TimeIsUpAt(10**9)
    clustered(endless)
    for n in np.unique(np.linspace(1, endless.asked, 12).astype(int)).tolist():
        progress = TimeIsUpAt(n)
        found = clustered(progress)
        assert found.n_clusters == 20 and (found.labels >= 0).all() and found.resolution > 0
        assert progress.cut_short and any("ran out in the stage" in remark for remark in found.remarks)


@pytest.mark.parametrize("objective", ["modularity", "normalized_cut"])
def test_little_is_read_after_time_is_up(objective):
    """At high effort, wherever it runs out after the first stages: a family does not go on to have children."""
    options = {"effort": "high", "objective": objective, "rng": 0}
    endless = TimeIsUpAt(10**9)
    gc.coreset_sc(PLANTED, 20, **options, progress=endless)
    for n in np.linspace(5, endless.asked, 5).astype(int).tolist():
        progress = TimeIsUpAt(n)
        gc.coreset_sc(PLANTED, 20, **options, progress=progress)
        assert progress.n_read - progress.read_in_time < 0.06 * endless.n_read


@pytest.mark.parametrize("objective", ["modularity", "normalized_cut"])
@pytest.mark.parametrize(
    "way",
    [{"method": "two-step"}, pytest.param({"coreset": Coreset(sampling="parallel")}, marks=pytest.mark.slow)],
    ids=str,
)
def test_more_time_is_never_worse_and_is_used_while_it_gains(way, objective):
    """Half of the links leave a block: one coreset does not show the blocks well, and more of them do."""
    graph = gc.planted_partition(12, 60, 6, 6, rng=3).graph
    resolution = 1.0 if objective == "modularity" else None

    def value_within(n):
        progress = TimeIsUpAt(n)
        found = gc.coreset_sc(graph, 12, objective=objective, resolution=resolution, rng=2, progress=progress, **way)
        return found.modularity if objective == "modularity" else -found.normalized_cut, progress

    without = TimeIsUpAt(10**9)
    without.time_budget = None
    found = gc.coreset_sc(graph, 12, objective=objective, resolution=resolution, rng=2, progress=without, **way)
    values = [found.modularity if objective == "modularity" else -found.normalized_cut]
    for more in (1, 20, 80, 640 if way.get("method") else 160):
        value, progress = value_within(without.asked + more)
        assert progress.cut_short and progress.asked >= without.asked + more, "to the end"
        values.append(value)
    assert (np.diff(values) >= -1e-12).all() and values[-1] > values[0] + 1e-6, values


def test_a_search_ends_after_coresets_in_vain():
    """Long before a budget is used up: of two cliques the first coreset shows all that there is."""
    progress = TimeIsUpAt(1_500)
    found = gc.coreset_sc(nx.barbell_graph(8, 0), 2, method="two-step", rng=2, progress=progress)
    assert found.sizes.tolist() == [8, 8] and progress.asked > 500 and not progress.cut_short


@pytest.mark.parametrize(("method", "least"), [("multilevel", 0.85), ("two-step", 0.95)])
def test_a_budget_that_is_used_up_takes_a_short_way_to_good_clusters(method, least):
    planted = gc.planted_partition(20, 200, 12, 2, rng=518)
    hasty, whole = (
        gc.coreset_sc(planted.graph, 20, method=method, rng=0, time_budget=budget) for budget in (AT_ONCE, None)
    )
    read = [sum(found.entries_read.values()) for found in (hasty, whole)]
    assert read[0] < read[1] and read[0] < 12 * planted.graph.n_entries
    assert gc.adjusted_rand_index(hasty.labels, planted.labels) > least


@pytest.mark.slow
def test_a_third_of_the_time_is_a_third_of_the_time():
    graph = gc.planted_partition(60, 250, 12, 3, rng=2209).graph
    seconds = []
    for share in (0, None, 0.35):
        budget = {0: AT_ONCE, None: None, 0.35: 0.35 * seconds[-1] if seconds else None}[share]
        start = time.perf_counter()
        found = gc.coreset_sc(graph, 60, effort="high", time_budget=budget, rng=0)
        seconds.append(time.perf_counter() - start)
    assert found.n_clusters == 60 and seconds[2] < 0.7 * seconds[1], seconds


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
@for_each("name", CLUSTERERS)
def test_a_progress_brings_a_budget_to_any_function(name):
    progress = Progress(time_budget=AT_ONCE)
    hasty, whole = CLUSTERERS[name](progress), CLUSTERERS[name](None)
    assert progress.cut_short and labels_of(hasty).shape == labels_of(whole).shape
    if hasattr(whole, "n_iter"):
        assert 1 <= hasty.n_iter < whole.n_iter


def test_parts_of_equal_size_without_time_are_of_one_try():
    hasty, whole = (gc.balanced_partition(PLANTED, 8, rng=0, time_budget=b) for b in (AT_ONCE, None))
    read = [sum(found.entries_read.values()) for found in (hasty, whole)]
    assert read[0] < 0.5 * read[1] and hasty.sizes.max() <= whole.sizes.mean() * 1.03 + 1


def test_a_path_out_of_time_has_every_k_and_says_so():
    hasty, whole = (gc.cluster_path(PLANTED, range(1, 41), rng=0, time_budget=b) for b in (AT_ONCE, 1e6))
    assert hasty.ks == whole.ks == gc.cluster_path(PLANTED, range(1, 41), rng=0).ks
    assert len(hasty.descent.stops) < 0.1 * len(whole.descent.stops)
    assert [row.sizes.sum() for row in hasty.table()] == 40 * [PLANTED.n_nodes]
    for k in (1, 7, 20, 40):
        found = hasty[k]
        assert found.n_clusters == k and (found.labels >= 0).all()
        assert any(remark.startswith("of the path: the time budget of 1e-09 s ran out") for remark in found.remarks)
    assert not whole[20].remarks


def test_a_suggestion_without_time_does_not_say_that_the_graph_is_unclear():
    said = gc.cluster_path(PLANTED, [5, 10, 20], rng=0).suggest(time_budget=AT_ONCE).reasons[0]
    assert said.startswith("the graph was not tried for a number that it shows; ")
    club = gc.as_graph(nx.karate_club_graph())  # without evidence: stability would tell
    assert gc.cluster_path(club, rng=0).suggest(time_budget=AT_ONCE).k == 2


def test_one_clustering_of_a_path_has_a_budget_of_its_own():
    path = gc.cluster_path(PLANTED, [20], rng=0)
    hasty, whole = path.clustering(20, time_budget=AT_ONCE), path[20]
    assert hasty.n_clusters == 20 and any("time budget of 1e-09 s" in remark for remark in hasty.remarks)
    assert not whole.remarks and hasty.modularity < whole.modularity and path.clustering(20, time_budget=1) is whole


def test_an_interrupt_of_one_clustering_of_a_path_carries_it(monkeypatch):
    monkeypatch.setattr("graphclust.engine.levels.AT_ONCE", 0)  # in one call the hook is not looked at
    graph = gc.planted_partition(5, 100, 12, 2, rng=518).graph  # of few entries: cycles on the nodes
    path = gc.cluster_path(graph, [5], rng=0)
    with pytest.raises(Interrupted) as stop:
        path.clustering(5, progress=InterruptAt(1))
    assert stop.value.best.n_clusters == 5 and any("interrupted" in remark for remark in stop.value.best.remarks)


def test_a_suggestion_out_of_time_is_of_what_is_known():
    path = gc.cluster_path(PLANTED, range(1, 41), rng=0)
    counter, all_steps = InterruptAt(0), InterruptAt(0)
    hasty, whole = path.suggest(time_budget=AT_ONCE, progress=counter), path.suggest(progress=all_steps)
    assert hasty.k == whole.k == 20 and whole.clear and not hasty.clear
    assert all(np.isnan(candidate.stability) for candidate in hasty.candidates)
    assert "whether they are stable was not tried" in str(hasty) and "the time budget of 1e-09 s ran out" in str(hasty)
    assert counter.steps < 0.1 * all_steps.steps


@pytest.mark.slow
def test_choosing_k_is_a_part_of_the_budget():
    counter, all_steps = InterruptAt(0), InterruptAt(0)
    hasty = gc.coreset_sc(PLANTED, rng=0, time_budget=AT_ONCE, progress=counter)
    whole = gc.coreset_sc(PLANTED, rng=0, progress=all_steps)
    assert whole.n_clusters == 20 and hasty.n_clusters == hasty.k and counter.steps < 0.5 * all_steps.steps
    assert any("the time budget of 1e-09 s ran out" in remark for remark in hasty.remarks)


def test_stability_out_of_time_is_of_one_repeat():
    clustering = gc.coreset_sc(PLANTED, 20, rng=0)
    hasty = clustering.certainty(n_repeats=3, rng=0, progress=Progress(time_budget=AT_ONCE))
    assert hasty.stability.shape == (20,) and (hasty.stability > 0.5).all()


def test_what_nobody_will_ask_for_is_not_kept():
    progress = Progress()
    progress.offer(lambda: "kept")
    assert progress._best is None
    with pytest.raises(Interrupted) as stop, progress.interruptible(str.upper), progress.interruptible():
        progress.offer(lambda: "kept")
        with progress.within(None):
            progress.offer(lambda: "a part")
        raise KeyboardInterrupt
    assert stop.value.best == "KEPT" and progress._best is None


def test_labels_do_not_depend_on_how_often_the_hook_is_looked_at(monkeypatch):
    monkeypatch.setattr("graphclust.engine.levels.AT_ONCE", 0)  # in one call it is not looked at
    graph = gc.stochastic_block_model([1_000], 0.02, 0.0, rng=518).graph  # no clusters: many ways to go wrong
    found = set()
    for entries in (1 << 24, 1 << 9):
        monkeypatch.setattr("graphclust.engine.contraction.ENTRIES_PER_STEP", entries)
        found.add(gc.coreset_sc(graph, 12, rng=0).labels.tobytes())
    assert len(found) == 1


def test_impossible_budgets_are_named():
    for call in (partial(gc.coreset_sc, k=2), gc.hierarchy):
        refuses(gc.ParameterError, "time_budget=0 is out of range", call, PLANTED, time_budget=0)
    refuses(TypeError, "time_budget='1' is a str", Progress, time_budget="1")
    refuses(TypeError, "progress=3 is a int, expected a function, True or None", gc.coreset_sc, PLANTED, 2, progress=3)


def test_of_two_budgets_the_earlier_end_counts():
    progress = Progress(time_budget=AT_ONCE)
    progress.limit(1e6)
    time.sleep(0.001)
    assert progress.out_of_time() and progress.cut_short == "improving"
    assert not Progress().out_of_time()


def test_stages_are_logged(caplog):
    with caplog.at_level(logging.INFO, logger="graphclust"):
        gc.coreset_sc(PLANTED, 5, rng=0, time_budget=AT_ONCE)
    said = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("partition: 0.") and line.endswith(" s") for line in said)
    assert any("the time budget of 1e-09 s ran out in stage: partition" in line for line in said)
    caplog.clear()
    gc.coreset_sc(PLANTED, 5, rng=0)
    assert not caplog.records


def test_progress_true_shows_nothing_in_a_file(capsys):
    for progress in (True, False):
        gc.coreset_sc(PLANTED, 5, rng=0, progress=progress)
    captured = capsys.readouterr()
    assert captured.out == captured.err == "" and Progress(True).listener is None


class Terminal:
    """A stream that is a terminal."""

    encoding = "utf-8"

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        pass


def test_progress_true_shows_a_line_in_a_notebook_without_tqdm(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr("graphclust.progress.PATIENCE", 0.0)
    progress = Progress(True)
    with progress.stage("sampling"):
        progress.step(3, 4)
    shown = capsys.readouterr().err
    assert "sampling" in shown and "75%" in shown and shown.endswith("\r")


@pytest.mark.parametrize("with_tqdm", [True, False])
def test_progress_true_shows_a_bar_on_a_terminal_and_wipes_it(monkeypatch, with_tqdm):
    if with_tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr("graphclust.progress.PATIENCE", 0.0)
    progress = Progress(True)
    assert type(progress.listener).__name__ == ("TqdmBar" if with_tqdm else "ProgressLine")
    with progress.stage("sampling"):
        for done in range(1, 4):
            time.sleep(0.12)
            progress.step(done, 4)
    assert "sampling" in terminal.text and "75%" in terminal.text
    assert terminal.text.endswith("\r") and terminal.text.rsplit("\r", 2)[-2].strip() == ""
