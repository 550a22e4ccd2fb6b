"""What is said of a graph before it is clustered: by hand, and its memory as it is measured."""

import shlex

import networkx as nx
import numba
import numpy as np
import pytest
from cases import refuses
from graph_files import BANNER, load
from peaks import traced

import graphclust
from graphclust import graph_facts, limit_threads, load_graph
from graphclust.errors import GraphValidationError
from graphclust.faces.cli.main import main
from graphclust.io.graph_input import as_graph


def test_facts_of_a_small_graph_are_those_by_hand(tmp_path):
    _, graph, info = load(tmp_path, BANNER + "6 6 6\n1 2 2\n2 1 2\n2 3 4\n4 5 1\n5 4 1\n6 6 3\n")
    facts = graph_facts(graph, info)
    assert (facts["n_nodes"], facts["n_edges"], facts["n_loops"], facts["n_isolated"]) == (6, 4, 1, 0)
    assert (facts["n_components"], facts["largest_component"]) == (3, 3)
    assert facts["degrees"] == {"min": 1.0, "median": 2.5, "mean": pytest.approx(17 / 6), "max": 6.0}
    assert facts["directions"] == {"one": 1, "two_equal": 2, "two_unequal": 0}


def test_whatever_the_gate_takes_is_described(tmp_path):
    network = nx.path_graph(4)
    (tmp_path / "g.txt").write_text("0 1\n1 2\n2 3\n")
    expected = graph_facts(as_graph(network))
    assert (expected["n_edges"], expected["degrees"]["max"]) == (3, 2.0)
    matrix = nx.to_scipy_sparse_array(network)
    for G in (network, matrix, matrix.toarray(), tmp_path / "g.txt"):
        same = {"named_nodes": False, "remarks": []}  # which the forms may differ in
        assert graph_facts(G) | same == expected | same
    refuses(GraphValidationError, "negative", graph_facts, -matrix.astype(float))


def test_a_grid_whose_nodes_have_names_is_no_mesh():
    grid = nx.grid_2d_graph(12, 12)
    assert graph_facts(nx.to_scipy_sparse_array(grid))["kind"] == "mesh"
    named = nx.relabel_nodes(grid, {node: f"person {node}" for node in grid})
    facts = graph_facts(named)
    assert facts["kind"] == "symmetric" and facts["proposals"][0].startswith("graphclust communities FILE :")


def test_what_to_do_next_reads_the_file_as_it_was_read(capsys, tmp_path):
    file = tmp_path / "my calls.csv"
    file.write_text("id,from,to,minutes\n1,ann,bob,3\n2,bob,cyd,4\n")
    options = ["--source", "from", "--target", "to", "--weight", "minutes"]
    assert main(["info", str(file), *options]) == 0
    proposals = [line.split(" : ")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("next")]
    assert len(proposals) == 2
    for proposal in proposals:
        words = shlex.split(proposal.removeprefix("next"))
        assert words[2:9] == [str(file), *options]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n", "m", "weighted"),
    [("a.txt", 50_000, 600_000, False), ("b.txt", 200_000, 300_000, True), ("c.mtx", 300_000, 300_000, True),
     ("d.mtx", 20_000, 600_000, False)],
)  # fmt: skip
def test_memory_is_foretold_within_a_quarter(tmp_path, name, n, m, weighted):
    rng = np.random.default_rng(7741)
    columns = [rng.integers(1, n + 1, m), rng.integers(1, n + 1, m), *([rng.random(m)] if weighted else [])]
    header = f"%%MatrixMarket matrix coordinate {'real' if weighted else 'pattern'} general\n{n} {n} {m}\n"
    with (tmp_path / name).open("w") as file:
        file.write(header if name.endswith("mtx") else "")
        np.savetxt(file, np.column_stack(columns), fmt=["%d", "%d", "%.8f"][: len(columns)])
    load_graph(tmp_path / name, return_info=True, weights="file")  # compile: what a compiler takes would count
    available = numba.get_num_threads()
    for n_threads in {1, min(2, available), available}:
        with limit_threads(n_threads):
            peak, (graph, info) = traced(lambda: load_graph(tmp_path / name, return_info=True, weights="file"))
            memory = graph_facts(graph, info)["memory"]
        assert peak < 1.1 * memory["to_load"]
        if n_threads <= 2:  # with more it is chance how many pieces of text are held at once
            assert memory["to_load"] == pytest.approx(peak, rel=0.25)
    assert memory["graph"] == sum(a.nbytes for a in (graph.indptr, graph.indices, graph.degrees, graph.loops)) + (
        graph.weights.nbytes if weighted else 0
    )


@pytest.mark.slow
@pytest.mark.parametrize("degree", [5, 20, 60])
def test_memory_to_cluster_is_not_more_than_foretold(degree):
    graph, _ = graphclust.planted_partition(50, 1_000, degree, degree / 5, rng=2209)
    graphclust.coreset_sc(graph, 50, rng=0)  # compile
    peak, _ = traced(lambda: graphclust.coreset_sc(graph, 50, rng=0))
    assert peak + graph_facts(graph)["memory"]["graph"] <= graph_facts(graph)["memory"]["to_cluster"]
