"""The first second: what a process waits for its first clustering, with and without compiled loops at hand.

    python bench_cold_start.py --loops FOLDER --wheel FILE      (as root, for a process of another user)

Each figure is of a new process, median of 5: import of graphclust and first call. FOLDER is what `graphclust compile
--into` has filled, FILE a wheel that carries loops. A second table is of a small graph: what a process pays once
beyond the start of numba. --measured FILE keeps what is measured, so that a run that was ended is carried on.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
from typing import Any

from harness import asked, write_table

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from boxes import run_boxed

GRAPHS = {
    "karate club": "nx.karate_club_graph()",
    "les miserables": "nx.les_miserables_graph()",
    "knowledge graph": "nx.powerlaw_cluster_graph(300, 7, 0.5, seed=1)",
    "30,000 nodes": "sparse.load_npz(sys.argv[1])",
}
CALL = """
import sys, time
import networkx as nx, numpy as np
from scipy import sparse
graph = {graph}
start = time.perf_counter()
import graphclust
graphclust.coreset_sc(graph, {k}, rng=0)
print(time.perf_counter() - start)
"""
MAKE = """
import sys, graphclust
from scipy import sparse
sparse.save_npz(sys.argv[1], graphclust.planted_partition(60, 500, 9, 3, rng=1).graph.to_scipy())
"""
RUNS = 5
PACKAGE = pathlib.Path(__file__).parents[2]

SMALL = """
import time
start = time.process_time()
import networkx as nx, numpy as np
from graphclust.compiled.graphs import components
components.flatten(np.arange(3))
G = nx.karate_club_graph()
nx.to_scipy_sparse_array(G)
started = time.process_time()
from graphclust import coreset_sc
imported = time.process_time()
coreset_sc(G, 2, rng=0)
first = time.process_time()
coreset_sc(G, 2, rng=0)
print(started - start, imported - started, first - imported, time.process_time() - first)
"""
PROCESSES = 10  # of the small graph, after one that may compile


def main() -> None:
    path = {"type": pathlib.Path}
    first_uses(asked(__doc__, loops=path, wheel=path, measured=path))
    first_calls()


def first_calls() -> None:
    """The processor time of the first call on a small graph, over several processes."""
    runs = []
    for _ in range(1 + PROCESSES):
        around = os.environ | {"GRAPHCLUST_COMPILE": "always"}
        done = subprocess.run([sys.executable, "-c", SMALL], env=around, capture_output=True, text=True, check=True)
        runs.append([float(seconds) for seconds in done.stdout.split()])
    columns = list(zip(*runs[1:], strict=True))
    rows = [
        [of, *(f"{1e3 * take(seconds):.1f}" for seconds in columns)]
        for of, take in (("least", min), ("median", statistics.median))
    ]
    write_table(
        "first_call",
        "The first call on a small graph",
        ["of 10 processes", "start of networkx, numpy and numba", "import", "first call", "again"],
        rows,
        "Milliseconds of processor time. Zachary's karate club; coreset_sc for two clusters, all compiled before.",
    )


def first_uses(options: Any) -> None:
    """The first call on each graph, of a process in each situation."""
    rows, measured = [], {}
    if options.measured and options.measured.exists():
        measured = json.loads(options.measured.read_text())
    with tempfile.TemporaryDirectory() as root:
        os.chmod(root, 0o755)
        subprocess.run([sys.executable, "-c", MAKE, f"{root}/graph.npz"], env=environment(root), check=True)
        situations = {"first ever": (PACKAGE, None), "later": (PACKAGE, None)}
        if options.loops:
            shutil.copytree(options.loops, f"{root}/loops")
            situations["another user, read-only"] = (PACKAGE, pathlib.Path(f"{root}/loops"))
        if options.wheel:
            subprocess.run(
                [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", f"{root}/site", options.wheel],
                check=True,
            )
            situations["first ever, from the wheel"] = (pathlib.Path(f"{root}/site"), None)
        for name, graph in GRAPHS.items():
            cells = [name]
            for situation, (package, loops) in situations.items():
                seconds = measured.setdefault(f"{name}, {situation}", [])
                if not seconds:
                    seconds += measure(graph, root, package, loops, situation == "later")
                    print(name, situation, *(f"{each:.2f}" for each in seconds), flush=True)
                    if options.measured:
                        options.measured.write_text(json.dumps(measured))
                cells.append(f"{statistics.median(seconds):.2f}")
            rows.append(cells)
    write_table(
        "cold_start",
        "The first call of a process",
        ["graph", *situations],
        rows,
        f"Seconds, import of graphclust and `coreset_sc` with rng=0, median of {RUNS} calls; "
        "NetworkX and SciPy are imported before. Knowledge graph: 300 nodes, 2,033 edges with triangles; 30,000 nodes: "
        "60 planted clusters, 359,274 entries. First ever: an empty cache each time. Later: loops that another process "
        "has compiled. Another user: loops compiled by root, where nothing can be written to.",
    )


def measure(graph: str, root: str, package: pathlib.Path, loops: pathlib.Path | None, is_warm: bool) -> list[float]:
    """Seconds of the first call in so many new processes."""
    code = CALL.format(graph=graph, k=60 if "npz" in graph else 4)
    command, seconds = ("-c", code, f"{root}/graph.npz"), []
    for run in range(RUNS + is_warm):
        with tempfile.TemporaryDirectory(dir=root) as cache:
            around = environment(f"{root}/warm" if is_warm else cache, package)
            if is_warm and run == 0:
                around["GRAPHCLUST_COMPILE"] = "always"  # else a small graph would leave nothing
            if loops is not None:
                done = run_boxed(*command, package=package / "graphclust", GRAPHCLUST_LOOPS=str(loops), HOME="/nowhere")
                done.check_returncode()
            else:
                line = [sys.executable, *command]
                done = subprocess.run(line, env=around, cwd=root, capture_output=True, text=True, check=True)
        if run >= is_warm:
            seconds.append(float(done.stdout))
    return seconds


def environment(cache: str, package: pathlib.Path = PACKAGE) -> dict[str, str]:
    """The environment of a process that uses a folder of compiled loops, and a package."""
    left = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHCLUST_")}
    return left | {"NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(package)}


if __name__ == "__main__":
    main()
