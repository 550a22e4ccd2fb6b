"""What the pictures show, held against the numbers that they are drawn from."""

import sys

import networkx as nx
import numpy as np
import pytest
from cases import refuses
from scipy import sparse

import graphclust
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.faces.plots.clusters import (
    block_raster,
    entries_in_squares,
    nearest_clusters,
    places,
    strongest_links,
    weights_between,
)

matplotlib = pytest.importorskip("matplotlib", reason="pip install 'graphclust[plots]'")
matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402

from graphclust import plots  # noqa: E402

PLANTED = graphclust.planted_partition(4, 60, 10, 2, rng=518)
CLUSTERING = graphclust.coreset_sc(PLANTED.graph, 4, rng=0)
TWO_STEP = graphclust.coreset_sc(PLANTED.graph, 4, method="two-step", rng=0)


def with_isolated() -> graphclust.Clustering:
    """Weighted, with loops and isolated nodes."""
    matrix = sparse.block_diag([PLANTED.graph.to_scipy(), sparse.csr_array((3, 3))]).tolil()
    matrix[5, 5] = 7.0
    with pytest.warns(graphclust.GraphWarning):
        return graphclust.coreset_sc(matrix.tocsr(), 4, rng=0)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("size", [1, 7, 100, 512])
@pytest.mark.parametrize("make", [lambda: CLUSTERING, with_isolated])
def test_the_raster_counts_every_entry_where_it_lies(make, size):
    clustering = make()
    graph, labels = clustering.graph, clustering.labels
    raster = block_raster(clustering, size)
    n = int((labels >= 0).sum())
    side = min(size, n)
    assert raster.counts.shape == raster.density.shape == (side, side)
    dense = graph.to_scipy().toarray() != 0
    expected, pairs = np.zeros((2, side, side))
    for i, u in enumerate(raster.order):
        for j, v in enumerate(raster.order):
            expected[i * side // n, j * side // n] += dense[u, v]
            pairs[i * side // n, j * side // n] += 1
    assert np.array_equal(raster.counts, expected) and raster.counts.sum() == graph.n_entries
    assert np.allclose(raster.density, expected / pairs) and np.allclose(raster.density, raster.density.T)
    ordered = labels[raster.order]
    assert (np.diff(ordered) >= 0).all() and ordered[0] == 0
    for c in range(clustering.n_clusters):
        assert raster.starts[c] == pytest.approx(np.flatnonzero(ordered == c)[0] * side / n)
        assert (np.diff(graph.degrees[raster.order[ordered == c]]) <= 0).all()


def test_the_raster_leaves_out_the_edges_of_nodes_in_no_cluster():
    clustering = graphclust.coreset_sc(nx.disjoint_union(nx.barbell_graph(8, 0), nx.path_graph(2)), 2, rng=0)
    assert clustering.labels.tolist()[16:] == [-1, -1]
    for size in (2, 5, 16):
        raster = block_raster(clustering, size)
        assert raster.counts.sum() == clustering.graph.n_entries - 2 and raster.density.max() <= 1.0
    assert raster.density[0, 0] == 0.0


def test_the_raster_is_the_same_in_any_blocks(monkeypatch):
    whole = block_raster(CLUSTERING, 50)
    monkeypatch.setattr("graphclust.faces.plots.clusters.ENTRIES_PER_BLOCK", 100)
    assert np.array_equal(block_raster(CLUSTERING, 50).counts, whole.counts)


def test_the_picture_holds_the_densities():
    ax = plots.adjacency(CLUSTERING, size=48)
    (image,) = ax.get_images()
    assert np.allclose(image.get_array().filled(0.0), block_raster(CLUSTERING, 48).density)
    assert len(ax.patches) == 4 and "240 nodes" in ax.get_xlabel() and ax.get_ylabel() == "cluster"


def test_a_picture_has_the_size_of_its_axes_and_is_not_empty():
    figure, ax = plt.subplots(figsize=(3, 2), dpi=100)
    assert plots.adjacency(CLUSTERING, ax=ax) is ax
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())
    assert pixels.shape == (200, 300, 4) and len(np.unique(pixels.reshape(-1, 4), axis=0)) > 20


def test_links_between_clusters_are_those_of_the_quotient_graph():
    clustering = with_isolated()
    dense, labels = clustering.graph.to_scipy().toarray(), clustering.labels
    expected = np.array([[dense[np.ix_(labels == a, labels == b)].sum() for b in range(4)] for a in range(4)])
    np.fill_diagonal(expected, 0.0)
    assert np.allclose(weights_between(clustering.graph, clustering.labels, clustering.n_clusters).toarray(), expected)
    excess = expected * dense.sum() / np.outer(clustering.volume, clustering.volume)
    links = strongest_links(clustering, per_cluster=1)
    kept = {tuple(sorted((a, int(excess[a].argmax())))) for a in range(4)}
    assert {tuple(pair) for pair in links.pairs.tolist()} == kept
    for (a, b), weight, over in zip(links.pairs.tolist(), links.weight, links.excess, strict=True):
        assert (weight, over) == (pytest.approx(expected[a, b]), pytest.approx(excess[a, b]))
    assert nearest_clusters(clustering).tolist() == excess.argmax(axis=1).tolist()


def test_clusters_without_links_have_no_nearest_and_a_place():
    alone = graphclust.communities(with_isolated().graph, rng=0)
    assert (alone.volume == 0).any() and (nearest_clusters(alone)[alone.volume == 0] == -1).all()
    clustering = graphclust.coreset_sc(nx.disjoint_union_all([nx.complete_graph(5)] * 3), 3, rng=0)
    assert nearest_clusters(clustering).tolist() == [-1, -1, -1]
    assert len(strongest_links(clustering).pairs) == 0
    xy = places(strongest_links(clustering))
    assert xy.shape == (3, 2) and (xy >= 0).all() and (xy <= 1).all() and len(np.unique(xy, axis=0)) == 3
    assert places(strongest_links(graphclust.coreset_sc(nx.complete_graph(5), 1, rng=0))).tolist() == [[0.5, 0.5]]


def test_the_quotient_shows_the_clusters_of_most_volume():
    ax = plots.quotient(CLUSTERING)
    disks = ax.collections[-1]
    assert disks.get_offsets().shape == (4, 2) and np.allclose(disks.get_array(), CLUSTERING.conductance)
    assert [text.get_text() for text in ax.texts] == ["0", "1", "2", "3"]
    many = graphclust.coreset_sc(nx.ring_of_cliques(70, 4), 70, rng=0)
    ax = plots.quotient(many)
    assert len(ax.texts) == 60 and "10 smaller ones not shown" in ax.get_xlabel()


@pytest.mark.parametrize("clustering", [CLUSTERING, TWO_STEP], ids=["without a coreset", "with a coreset"])
def test_the_embedding_shows_the_coreset(clustering):
    ax = plots.embedding(clustering)
    shown = np.concatenate([part.get_offsets() for part in ax.collections])
    if clustering.coreset is not None:
        assert len(shown) == len(clustering.coreset.nodes)
    means = np.array([part.get_offsets().mean(axis=0) for part in ax.collections])
    spread = np.mean([part.get_offsets().std(axis=0).mean() for part in ax.collections])
    distances = np.linalg.norm(means[:, None] - means[None], axis=2)[np.triu_indices(4, 1)]
    assert len(means) == 4 and distances.max() > 3 * spread
    assert "eigenvector 1" in ax.get_xlabel() and ax.get_ylabel() == "eigenvector 2"
    again = np.concatenate([part.get_offsets() for part in plots.embedding(clustering).collections])
    assert np.array_equal(shown, again)
    with pytest.raises(ParameterError, match=r"first=1, second=999 are too many for a coreset of"):
        plots.embedding(clustering, second=999)


def test_stage_times_are_bars_of_the_seconds():
    for result in (CLUSTERING, CLUSTERING.seconds):
        ax = plots.stage_times(result)
        assert [bar.get_width() for bar in ax.patches] == list(CLUSTERING.seconds.values())
        assert [tick.get_text() for tick in ax.get_yticklabels()] == list(CLUSTERING.seconds)
        assert ax.get_xlabel().startswith("seconds, ")


def test_margins_count_every_node():
    ax = plots.margins(np.append(np.random.default_rng(0).random(500), [np.nan, np.inf]), bins=10)
    assert sum(bar.get_height() for bar in ax.patches) == 500 and ax.get_ylabel() == "nodes, of 500"


def test_calibration_by_hand():
    said = np.array([0.1, 0.3, 0.9, 0.7, 0.2, np.nan])
    ax = plots.calibration(said, [False, False, True, True, True, True], bins=2)
    line = ax.containers[0].lines[0]
    assert np.allclose(line.get_xdata(), [0.2, 0.8]) and np.allclose(line.get_ydata(), [1 / 3, 1.0])
    half = ax.containers[0].lines[2][0].get_segments()[0]
    assert np.ptp(half[:, 1]) == pytest.approx(4 * np.sqrt(1 / 3 * 2 / 3 / 3))


PATH = graphclust.cluster_path(PLANTED.graph, range(1, 9), rng=0)


def test_path_values_are_those_of_the_table():
    ax = plots.path_values(PATH, k=4)
    rows = PATH.table()
    (dots,) = ax.collections
    assert np.allclose(dots.get_offsets(), [(row.k, row.modularity) for row in rows])
    assert ax.get_ylabel() == "modularity"
    widths = [np.log(row.best_range[1] / row.best_range[0]) if row.best_range[0] > 0 else 0 for row in rows]
    widest = int(np.argmax(np.where(np.isfinite(widths), widths, 0)))
    assert np.argmax(dots.get_sizes()) == widest == 3  # four blocks were planted
    assert ax.texts[0].get_text() == " k = 4"
    cuts = graphclust.cluster_path(PLANTED.graph, [2, 4], objective="normalized_cut", rng=0)
    heights = plots.path_values(cuts).collections[0].get_offsets()[:, 1]
    assert np.allclose(heights, [row.normalized_cut / row.k for row in cuts.table()])


def test_the_tree_is_cut_into_as_many_clusters_as_marked():
    tree = PATH.tree()
    ax = plots.tree_of_splits(PATH)
    assert len(ax.lines) == 7 and len(ax.get_xticklabels()) == 8
    assert sorted(max(line.get_ydata()) for line in ax.lines) == pytest.approx(sorted(tree[:, 2]))
    for k in range(1, 9):
        *_, cut = plots.tree_of_splits(PATH, k=k).lines
        (height,) = set(cut.get_ydata())
        assert 8 - int((tree[:, 2] < height).sum()) == k
    refuses(ParameterError, "k=9 is not on the path, expected one of its ks, 1 to 8", plots.tree_of_splits, PATH, k=9)
    with pytest.raises(ParameterError, match="path goes to one cluster only"):
        plots.tree_of_splits(graphclust.cluster_path(PLANTED.graph, [1], rng=0))
    refuses(TypeError, "path is a Clustering, expected a ClusterPath", plots.path_values, CLUSTERING)


LEVELS = graphclust.hierarchy(PLANTED.graph, max_size=20, rng=0)


def test_an_icicle_has_a_box_for_each_cluster_of_each_level_below_the_one_it_is_in():
    ax = plots.icicle(LEVELS)
    boxes = [(box.get_x(), box.get_width(), round(box.get_y())) for box in ax.patches]
    for depth, labels in enumerate(LEVELS.levels):
        row = sorted(box for box in boxes if box[2] == depth)
        assert sorted(width for _, width, _ in row) == sorted(np.bincount(labels).tolist())
        assert [left for left, *_ in row] == np.cumsum([0, *(width for _, width, _ in row[:-1])]).tolist()
    inner = [box for box in boxes if box[2] == 1]
    outer = [box for box in boxes if box[2] == 0]
    assert all(any(a <= x and x + w <= a + b for a, b, _ in outer) for x, w, _ in inner)
    assert len(plots.icicle(LEVELS, levels=1).patches) == len(LEVELS.parents[0])
    refuses(TypeError, "hierarchy is a Clustering, expected a Hierarchy", plots.icicle, CLUSTERING)


def test_a_contingency_table_has_the_shares_of_each_row_with_columns_below_the_row_that_holds_most():
    one, other = np.repeat([0, 1, 2], [4, 3, 5]), np.array([7, 7, 7, 5, 5, 5, 5, 6, 6, 6, 6, -1])
    ax = plots.contingency(one, other)
    (image,) = ax.get_images()
    assert image.get_array().filled(0.0).tolist() == [[0.75, 0.0, 0.25], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert [text.get_text() for text in ax.texts] == ["3", "1", "4", "3"]
    ticks = [[tick.get_text() for tick in labels] for labels in (ax.get_yticklabels(), ax.get_xticklabels())]
    assert ticks == [["0", "2", "1"], ["7", "6", "5"]]
    assert "left out" not in ax.get_xlabel()


def test_a_contingency_table_of_many_clusters_shows_the_largest_without_numbers():
    labels = np.arange(1000) // np.repeat([4, 2], 500)
    ax = plots.contingency(labels, labels)
    assert ax.get_images()[0].get_array().shape == (200, 200) and not ax.texts
    assert f"{1000 - 2 * 75 - 4 * 125} nodes in smaller ones left out" in ax.get_xlabel()
    refuses(GraphValidationError, "no node has a label >= 0 in both", plots.contingency, [-1, 0], [0, -1])


PICTURES = {
    "contingency": lambda c, **kw: plots.contingency(c, c, **kw),
    "path_values": lambda c, **kw: plots.path_values(PATH, **kw),
    "tree_of_splits": lambda c, **kw: plots.tree_of_splits(PATH, **kw),
    "icicle": lambda c, **kw: plots.icicle(LEVELS, **kw),
    "adjacency": plots.adjacency, "quotient": plots.quotient, "embedding": plots.embedding,
    "stage_times": plots.stage_times,
    "margins": lambda c, **kw: plots.margins(c.labels / 4, **kw),
    "calibration": lambda c, **kw: plots.calibration(c.labels / 4, c.labels < 2, **kw),
}  # fmt: skip


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_drawn_on_the_axes_that_are_given(name):
    _, (one, other) = plt.subplots(1, 2)
    assert PICTURES[name](CLUSTERING, ax=other) is other
    assert not one.has_data() and other.has_data() and other.get_xlabel() and len(plt.get_fignums()) == 1
    refuses(TypeError, "ax='here' is a str, expected matplotlib axes or None", PICTURES[name], CLUSTERING, ax="here")
    assert set(plots.__all__) == set(PICTURES)


def test_what_cannot_be_drawn_is_named():
    for draw in (plots.adjacency, plots.quotient, plots.embedding):
        refuses(TypeError, "clustering is a ndarray, expected a Clustering", draw, CLUSTERING.labels)
    refuses(ParameterError, "size=0 is out of range", plots.adjacency, CLUSTERING, size=0)
    refuses(TypeError, "result is a int, expected a Clustering or a mapping", plots.stage_times, 3)
    refuses(ParameterError, "result has no stages", plots.stage_times, {})
    refuses(GraphValidationError, r"values has shape \(1, 1\)", plots.margins, [[1.0]])
    refuses(GraphValidationError, "values holds no numbers", plots.margins, [np.nan])
    with pytest.raises(GraphValidationError, match=r"certainty runs from 0\.5 to 2, expected 0 to 1"):
        plots.calibration([0.5, 2.0], [True, False])
    with pytest.raises(GraphValidationError, match=r"correct has shape \(1,\), expected that of certainty: \(2,\)"):
        plots.calibration([0.5, 0.2], [True])


def test_a_missing_matplotlib_is_told_by_its_extra(monkeypatch):
    for name in list(sys.modules):
        if name.split(".")[0] == "matplotlib":
            monkeypatch.setitem(sys.modules, name, None)
    refuses(ImportError, r'pictures need matplotlib: pip install "graphclust\[plots\]"', plots.stage_times, CLUSTERING)


@pytest.mark.slow
def test_a_hundred_million_entries_take_seconds():
    """Against the time in which NumPy counts so many numbers, of which the raster has to do little more."""
    import time

    graph = graphclust.planted_partition(100, 10_000, 80, 20, rng=0).graph
    square = np.arange(graph.n_nodes) * 512 // graph.n_nodes
    start = time.perf_counter()
    counts = entries_in_squares(graph, square, 512)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    np.bincount(np.repeat(square, np.diff(graph.indptr)), minlength=512)
    assert counts.sum() == graph.n_entries > 9e7 and seconds < 10 * (time.perf_counter() - start)
