"""Histories of random batches of edits, beside a twin that rebuilds the graph from its edges after each batch."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from graphclust import Progress, as_graph, communities, coreset_sc, hierarchy, load_model
from graphclust.objective.cuts import cut_and_volume
from graphclust.updates.edits import apply_edits

pytestmark = pytest.mark.filterwarnings("ignore::graphclust.GraphWarning")
MOST = 14.0  # that a cluster may weigh
KINDS = {
    "communities": lambda G, weights: communities(G, rng=0),
    "bounded": lambda G, weights: communities(G, max_size=MOST, node_weight=weights, rng=0),
    "exactly k": lambda G, weights: coreset_sc(G, 5, objective="modularity", components="all", rng=0),
    "hierarchy": lambda G, weights: hierarchy(G, max_size=MOST, node_weight=weights, rng=0),
}


class StopsAt(Progress):
    """Ctrl-C as a stage begins."""

    def __init__(self, name):
        super().__init__()
        self.last = name

    def stage(self, name):
        if name == self.last:
            raise KeyboardInterrupt
        return super().stage(name)


class Twin:
    """Edges and weights of nodes in plain dictionaries."""

    def __init__(self, seed):
        graph = nx.random_partition_graph([12] * 5, 0.5, 0.03, seed=seed)
        self.rng, self.n_named = np.random.default_rng(seed), graph.number_of_nodes()
        self.weights = {f"n{u}": 1.0 for u in graph}
        self.edges = {tuple(sorted((f"n{u}", f"n{v}"))): 1.0 for u, v in graph.edges}

    def graph(self):
        made = nx.Graph()
        made.add_nodes_from(self.weights)
        made.add_weighted_edges_from((*edge, w) for edge, w in self.edges.items())
        return made

    def batch(self):
        """Random edits in the forms of `update`, made here too."""
        rng, nodes = self.rng, list(self.weights)
        edges, new = list(self.edges), [f"n{self.n_named + i}" for i in range(int(rng.integers(0, 3)))]
        self.n_named += len(new)
        gone = [nodes[rng.integers(len(nodes))]] if rng.random() < 0.3 and len(nodes) > 50 else []
        chosen = [edges[i] for i in rng.choice(len(edges), int(rng.integers(0, 6)), replace=False)]
        staying = [edge for edge in chosen if not {*gone} & {*edge}]
        half = len(staying) // 2
        reweighted = [(*edge, float(rng.integers(1, 9)) / 4.0) for edge in staying[half:]]
        ends, added = [u for u in nodes if u not in gone] + new, {}
        for u in [*new[1:], *rng.choice(ends, 3)]:  # the first new node stays without edges, unless drawn
            near = [b if a == u else a for a, b in edges if u in (a, b)] or ends
            v = near[rng.integers(len(near))] if rng.random() < 0.5 else rng.choice(ends)
            pair = tuple(sorted((str(u), str(v))))
            if pair[0] != pair[1] and pair not in self.edges and not {*gone} & {*pair}:
                added[pair] = float(rng.integers(1, 9)) / 4.0
        weighed = {str(u): float(rng.integers(1, 4)) for u in [*new, *rng.choice(ends, 1)]}
        for u in gone:
            self.edges = {edge: w for edge, w in self.edges.items() if u not in edge}
            del self.weights[u]
        self.edges = {edge: w for edge, w in self.edges.items() if edge not in staying[:half]}
        self.edges |= {(u, v): w for u, v, w in reweighted} | added
        self.weights |= dict.fromkeys(new, 1.0) | weighed
        return {
            "added": [(v, u, w) for (u, v), w in added.items()], "removed": staying[:half], "reweighted": reweighted,
            "added_nodes": new, "removed_nodes": gone, "node_weight": weighed,
        }  # fmt: skip


def check_graph(graph, before, twin, edits):
    """The graph is that of the twin, and that of the same edits one kind after the other."""
    place = {name: row for row, name in enumerate(graph.nodes)}
    assert place.keys() == twin.weights.keys()
    matrix = np.zeros((len(place), len(place)))
    for (u, v), w in twin.edges.items():
        matrix[place[u], place[v]] = matrix[place[v], place[u]] = w
    assert (graph.to_scipy().toarray() == matrix).all()
    again = as_graph(graph.to_scipy())
    assert (graph.degrees == again.degrees).all() and (graph.loops == again.loops).all()
    for kind in ("added_nodes", "added", "reweighted", "removed", "removed_nodes"):
        before = apply_edits(before, **{kind: edits[kind]}).graph
    assert before == graph


def check_clusters(found, labels, ids, twin, kind):
    """Connected clusters within the bound, labels without gaps, and an id for each."""
    edges, k, aside = found.graph.to_scipy().tocoo(), len(ids), labels < 0
    assert sorted(set(labels[~aside].tolist())) == list(range(k)) and len(set(ids.tolist())) == k
    inside = (labels[edges.row] == labels[edges.col]) & ~aside[edges.row]
    inner = coo_array((edges.data[inside], (edges.row[inside], edges.col[inside])), edges.shape)
    # k clusters take new components in; else each is connected
    parts = set(zip(labels[~aside].tolist(), found.graph.components[~aside].tolist(), strict=True))
    n_parts = len(parts) if kind == "exactly k" else k
    assert connected_components(inner)[0] == n_parts + np.count_nonzero(aside)
    if kind == "bounded":
        weights = np.array([twin.weights[name] for name in found.nodes])
        assert np.bincount(labels, weights).max() <= MOST


def members_of(found):
    names = found.listed_nodes() if hasattr(found, "levels") else found.nodes
    if hasattr(found, "levels"):
        return {one: frozenset(names[place] for place in places) for one, places in found.listed_members().items()}
    return {one: frozenset(np.array(names)[found.labels == c].tolist()) for c, one in enumerate(found.ids.tolist())}


def check_ids(members, found, gone):
    """Ids of clusters that are gone are not given again, and what became of the clusters before is told."""
    later = members_of(found)
    assert not gone & later.keys()
    gone |= members.keys() - later.keys()
    told = {one for change in found.changes if change.kind != "kept" for one in (*change.before, *change.after)}
    assert {one for one in members.keys() | later.keys() if members.get(one) != later.get(one)} <= told
    kept = {one for change in found.changes if change.kind == "kept" for one in change.before}
    assert all(members[one] == later[one] for one in kept)
    assert {one for change in found.changes for one in change.before} >= members.keys()


def run(kind, n_batches, seed, folder):
    """A history; a restart from a file and an interruption every ten batches change nothing."""
    twin = Twin(seed)
    found = KINDS[kind](twin.graph(), twin.weights)
    gone, is_levels = set(), kind == "hierarchy"
    for step in range(n_batches):
        before, members, edits = found, members_of(found), twin.batch()
        if step % 10 == 4:
            file = folder / f"{step}{kind[0]}.{'json' if is_levels else 'npz'}"
            before.save(file) if is_levels else before.model().save(file)
            loaded = load_model(file).update(before.graph, **edits, rng=step)
            for stage in ("edits", "ids"):
                with pytest.raises(KeyboardInterrupt):
                    before.update(**edits, rng=step, progress=StopsAt(stage))
            assert members_of(before) == members
        found = before.update(**edits, rng=step)
        if step % 10 == 4:
            assert loaded == found and loaded.changes == found.changes and loaded.n_ids == found.n_ids
        check_graph(found.graph, before.graph, twin, edits)
        if is_levels:
            check_clusters(found, found.levels[0], found.ids[0], twin, kind)
            weights = np.array([twin.weights[name] for name in found.nodes])
            assert np.bincount(found.levels[-1], weights).max() <= MOST
            sums, labels, k = found.coarsest._cut_and_volume, found.levels[0], len(found.ids[0])
        else:
            check_clusters(found, found.labels, found.ids, twin, kind)
            assert kind != "exactly k" or found.n_clusters == 5
            sums, labels, k = found._cut_and_volume, found.labels, found.n_clusters
        for kept, fresh in zip(sums, cut_and_volume(found.graph, labels, k), strict=True):
            assert kept == pytest.approx(fresh, rel=1e-12, abs=1e-12 * found.graph.total_volume)
        check_ids(members, found, gone)


@pytest.mark.parametrize("kind", KINDS)
def test_a_history_is_that_of_a_graph_made_anew(kind, tmp_path):
    run(kind, 15, 1, tmp_path)


@pytest.mark.slow
def test_a_thousand_batches_are_those_of_a_graph_made_anew(tmp_path):
    for kind, n_batches in {"communities": 400, "bounded": 50, "exactly k": 350, "hierarchy": 200}.items():
        run(kind, n_batches, 2, tmp_path)
