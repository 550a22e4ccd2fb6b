"""`graphclust compile`: afterwards nothing is left to be compiled by what people usually do."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import graphclust
from graphclust.faces.cli import main as cli

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")

USUAL = """
import sys, warnings
import networkx as nx, numpy as np
from numba.core import event
warnings.simplefilter("ignore")
points = np.random.default_rng(1).normal(size=(300, 5))
weighted = nx.gnm_random_graph(60, 200, seed=1)
for *_, edge in weighted.edges(data=True):
    edge["weight"] = 2.5
with open(sys.argv[1], "w") as file:
    file.writelines(f"{u} {v}\\n" for u, v in weighted.edges)
with event.install_recorder("numba:compile") as recorder:
    import graphclust as gc
    planted = gc.planted_partition(4, 100, 8, 1, rng=1).graph
    matrix, read = nx.to_scipy_sparse_array(weighted), gc.load_graph(sys.argv[1])
    for G in (nx.karate_club_graph(), nx.star_graph(9), weighted, matrix, read, planted):
        for options in ({}, {"method": "two-step"}, {"method": "paper"}, {"effort": "low"}):
            clustering = gc.coreset_sc(G, 3, rng=0, **options)
        gc.modularity(G, clustering.labels)
    gc.kmeans(points, 4, rng=0)
    gc.kernel_kmeans(points, 4, rng=0)
    gc.kernel_kmeans(weighted, 4, rng=0)
loops = [record.data["dispatcher"].py_func for _, record in recorder.buffer if record.is_start]
print(*(loop.__name__ for loop in loops if loop.__module__.startswith("graphclust")))
"""


@pytest.mark.slow
def test_every_example_runs_and_the_folder_is_named(capsys):
    assert cli.main(["compile"]) == 0
    out, err = capsys.readouterr()
    found = re.fullmatch(r"(\d+) loops compiled in ([\d.]+) s, kept in (.+)\n", out)
    assert found and pathlib.Path(found[3]).is_dir() and err == ""


@pytest.mark.slow
def test_nothing_is_left_to_compile(tmp_path):
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(pathlib.Path(graphclust.__file__).parents[1]),
    }

    def run(*command: str) -> str:
        return subprocess.run(
            [sys.executable, *command], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    assert int(run("-m", "graphclust", "compile").split()[0]) > 50
    assert run("-c", USUAL, "edges.txt").split() == []
    assert run("-m", "graphclust", "compile").startswith("0 loops compiled in 0.0 s")
