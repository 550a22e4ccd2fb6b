"""Every result records the seed that gives it again, also one that was drawn, and what else made it."""

import json

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from shell import said

import graphclust as gc

GRAPH = nx.connected_watts_strogatz_graph(60, 4, 0.3, seed=3)
WAYS = {
    "coreset_sc": lambda G, rng: gc.coreset_sc(G, 4, rng=rng),
    "paper": lambda G, rng: gc.coreset_sc(G, 4, method="paper", coreset=gc.Coreset(size=30), rng=rng),
    "k unknown": lambda G, rng: gc.coreset_sc(G, rng=rng),
    "spectral": lambda G, rng: gc.spectral_clustering(G, 4, rng=rng),
    "fast spectral": lambda G, rng: gc.fast_spectral_clustering(G, 2, rng=rng),
    "path": lambda G, rng: gc.cluster_path(G, range(2, 8), rng=rng)[4],
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@for_each("way", WAYS)
def test_a_seed_that_was_drawn_gives_the_labels_again(way):
    first, other = WAYS[way](GRAPH, None), WAYS[way](GRAPH, None)
    assert isinstance(first.seed, int) and first.seed != other.seed
    again = WAYS[way](GRAPH, first.seed)
    assert again == first and again.seed == first.seed


@pytest.mark.filterwarnings("ignore::UserWarning")
@for_each("way", WAYS)
def test_a_seed_is_recorded_as_it_was_given(way):
    assert WAYS[way](GRAPH, 7).seed == WAYS[way](GRAPH, np.int64(7)).seed == 7
    assert type(WAYS[way](GRAPH, np.int64(7)).seed) is int
    assert WAYS[way](GRAPH, np.random.default_rng(7)).seed == "a Generator (PCG64)"
    assert WAYS[way](GRAPH, np.random.Generator(np.random.Philox(7))).seed == "a Generator (Philox)"


def test_a_path_and_its_suggestion_record_it():
    path = gc.cluster_path(GRAPH, range(2, 8))
    again = gc.cluster_path(GRAPH, range(2, 8), rng=path.seed)
    assert [path[k].labels.tolist() for k in path.ks] == [again[k].labels.tolist() for k in path.ks]
    suggestion = path.suggest()
    assert suggestion.seed == path.seed and suggestion == again.suggest()
    assert suggestion.origin == path.origin
    assert path.origin["k"] == "2 to 7" and path.origin["options"]["objective"] == "modularity"


def test_a_clustering_records_the_file_the_version_and_the_options(tmp_path):
    file = tmp_path / "g.csv"
    gc.save_graph(file, GRAPH)
    for graph in (file, str(file), gc.load_graph(file)):
        found = gc.coreset_sc(graph, 3, rng=0, time_budget=60.0, objective="normalized_cut")
        assert found.origin == {
            "version": gc.__version__, "file": str(file), "k": 3, "seed": 0, "options": found.parameters,
        }  # fmt: skip
        assert found.parameters["time_budget"] == 60.0 and found.parameters["objective"] == "normalized_cut"
    assert gc.coreset_sc(file, 3, weight=None, rng=0).origin["file"] == str(file)
    assert gc.coreset_sc(file, 3, weight=None, rng=0).parameters["weight"] is None
    assert gc.coreset_sc(GRAPH, 3, rng=0).origin["file"] is None
    assert gc.coreset_sc(gc.save_store(tmp_path / "s", GRAPH), 3, rng=0).origin["file"] == str(tmp_path / "s")


def test_a_report_in_every_form_says_it(tmp_path):
    file = tmp_path / "<g>.csv"
    gc.save_graph(file, GRAPH)
    found = gc.coreset_sc(file, 3, rng=91)
    data = json.loads(json.dumps(found.report()))
    assert (data["seed"], data["file"], data["version"]) == (91, str(file), gc.__version__)
    (line,) = (line for line in str(found).splitlines() if "made by" in line)
    assert "seed 91" in line and f"graphclust {gc.__version__}" in line and str(file) in line
    page = gc.report_page(found)
    for name, value in (("seed", "91"), ("file", str(file).replace("<g>", "&lt;g&gt;")), ("k", "3")):
        assert f'<th scope="row" class="word">{name}</th><td class="word">{value}</td>' in page


def test_the_command_line_says_it(capsys, tmp_path):
    file = tmp_path / "g.csv"
    gc.save_graph(file, GRAPH)
    words = ("cluster", file, "-k", 3, "--seed", 5, "--weights", "ignore", "--report", "json")
    data = json.loads(said(capsys, *words)[1])
    assert (data["seed"], data["file"], data["parameters"]["weights"]) == (5, str(file), "ignore")
    data = json.loads(said(capsys, "path", "karate", "--to", 5, "--seed", 5, "--report", "json")[1])
    assert (data["seed"], data["file"], data["k"]) == (5, "karate", "1 to 5")
    code, out, _ = said(capsys, "path", "karate", "--to", 5, "--seed", 5)
    assert code == 0 and "\nseed: 5\n" in out
