"""Equal parts: edge cuts, shares and times beside METIS, KaHIP, KaMinPar and Mt-KaHyPar.

    GRAPHCLUST_DATA=... NUMBA_NUM_THREADS=1 python bench_balance.py [--tools ours,metis,...] [--k 2,8,64]

Nine graphs, k = 2, 8 and 64, at most 3 % more than the average, and for our parts at most 3 % less. Runs of the other
tools are kept in results/balance_runs.jsonl, with machine and version, and not made again; ours are made each time. The
table of all k and tools is written. Times are of the processor; what converts the graph into a tool's own form is not
held against its time. All tools have one thread.

Needs pymetis, kahip, kaminpar and mtkahypar for those of their runs that are not kept.
"""

import pathlib
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
from harness import RESULTS, add_line, asked, machine, read_lines, write_table
from peers_data import largest_component, real
from scipy import sparse
from tools import timed

import graphclust

IMBALANCE = 0.03
KEPT = RESULTS / "balance_runs.jsonl"
REAL = (
    "metis_delaunay_n15", "planetoid_pubmed", "karateclub_facebook", "snap_email-enron", "graphdata_coauthor_cs",
    "metis_PGPgiantcompo",
)  # fmt: skip
ENDS = ((min, "smallest"), (max, "largest"))
Matrix = sparse.csr_matrix
Call = Callable[[], Any]  # what is timed; returns labels


def ours(matrix: Matrix, k: int, seed: int, preset: str) -> Call:
    options = {"max_imbalance": IMBALANCE, "effort": preset or "normal", "rng": seed}
    return lambda: graphclust.balanced_partition(matrix, k, **options).labels


def metis(matrix: Matrix, k: int, seed: int, preset: str) -> Call:
    """Recursive bisection for few parts, as its manual advises, else k-way."""
    import pymetis

    options = pymetis.Options(seed=seed, ufactor=round(1000 * IMBALANCE))
    rows = {"xadj": matrix.indptr, "adjncy": matrix.indices}
    return lambda: pymetis.part_graph(k, **rows, options=options, recursive=k <= 8)[1]


def kahip(matrix: Matrix, k: int, seed: int, preset: str) -> Call:
    """Its presets for social networks where some node has many times the neighbors of an average one."""
    import kahip as tool

    degrees = np.diff(matrix.indptr)
    mode = getattr(tool, preset.upper() + "SOCIAL" * bool(degrees.max() > 10 * degrees.mean()))
    rows = [np.ones(matrix.shape[0], int), matrix.indptr, matrix.data.astype(int), matrix.indices]
    given = [values.tolist() for values in rows]
    return lambda: tool.kaffpa(*given, k, IMBALANCE, True, seed, mode)[1]


def kaminpar(matrix: Matrix, k: int, seed: int, preset: str) -> Call:
    import kaminpar as tool

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "graph.metis"
        graphclust.save_graph(path, matrix)
        graph = tool.load_graph(str(path), tool.GraphFileFormat.METIS)
    tool.reseed(seed)
    partitioner = tool.KaMinPar(1, tool.context_by_name(preset or "default"))
    return lambda: partitioner.compute_partition(graph, k, IMBALANCE)


def mtkahypar(matrix: Matrix, k: int, seed: int, preset: str) -> Call:
    import mtkahypar as tool

    if not hasattr(mtkahypar, "library"):
        mtkahypar.library = tool.initialize(1)
    context = mtkahypar.library.context_from_preset(getattr(tool.PresetType, (preset or "default").upper()))
    context.set_partitioning_parameters(k, IMBALANCE, tool.Objective.CUT)
    context.logging = False
    tool.set_seed(seed)
    upper = sparse.triu(matrix, 1).tocoo()
    edges = list(zip(upper.row.tolist(), upper.col.tolist(), strict=True))
    graph = mtkahypar.library.create_graph(context, matrix.shape[0], len(edges), edges)
    return lambda: graph.partition(context)


TOOLS: dict[str, Callable[[Matrix, int, int, str], Call]] = {
    "ours": ours, "metis": metis, "kahip": kahip, "kaminpar": kaminpar, "mtkahypar": mtkahypar,
}  # fmt: skip
PACKAGES = {"metis": "pymetis"}  # of tools that are not called as their package
NAMES = {
    "ours:low": "graphclust, low effort", "ours": "graphclust", "ours:high": "graphclust, high effort",
    "metis": "METIS", "kahip:eco": "KaHIP, eco", "kaminpar": "KaMinPar",
    "kaminpar:eco": "KaMinPar, eco", "mtkahypar": "Mt-KaHyPar", "mtkahypar:quality": "Mt-KaHyPar, quality",
}  # fmt: skip


def grid(side: int, dimensions: int) -> Matrix:
    path = sparse.diags([1.0, 1.0], [-1, 1], shape=(side, side))
    whole = path
    for _ in range(dimensions - 1):
        whole = sparse.kronsum(path, whole)
    return sparse.csr_matrix(whole)


def graphs() -> Iterator[tuple[str, Matrix]]:
    from scipy.spatial import cKDTree

    up = sparse.diags([1.0], [1], shape=(150, 150))
    diagonal = sparse.kron(up, up)
    yield "grid 150 x 150, diagonals", sparse.csr_matrix(grid(150, 2) + diagonal + diagonal.T)
    yield "grid 28 x 28 x 28", grid(28, 3)
    points = np.random.default_rng(7).random((20_000, 3))
    near = cKDTree(points).query(points, 11)[1][:, 1:]
    one_way = sparse.csr_matrix((np.ones(near.size), (np.repeat(np.arange(20_000), 10), near.ravel())))
    yield "10-NN in space", largest_component(sparse.csr_matrix(one_way.maximum(one_way.T)), np.zeros(20_000, int))[0]
    for name in REAL:
        yield name, real(name)[0]


def run_of(matrix: Matrix, name: str, k: int, tool: str, seed: int) -> dict:
    kind, _, preset = tool.partition(":")
    seconds, labels = timed(TOOLS[kind](matrix, k, seed, preset), clock=time.process_time)
    if kind == "mtkahypar":
        labels = [labels.block_id(u) for u in range(matrix.shape[0])]
    labels = np.asarray(labels)
    sizes = np.bincount(labels, minlength=k)
    return {
        "graph": name, "k": k, "tool": tool, "seed": seed, "cut": graphclust.edge_cut(matrix, labels),
        "seconds": round(seconds, 4), "smallest": int(sizes.min()), "largest": int(sizes.max()),
        "nodes": len(labels), "machine": machine(),
        "version": version("graphclust" if kind == "ours" else PACKAGES.get(kind, kind)),
    }  # fmt: skip


OUTSIDE: dict[str, Callable[[dict], bool]] = {
    "above": lambda run: run["largest"] > np.ceil((1 + IMBALANCE) * np.ceil(run["nodes"] / run["k"])),
    "below": lambda run: run["smallest"] < np.floor((1 - IMBALANCE) * run["nodes"] / run["k"]),
}


def table_of(
    runs: dict[tuple, dict], cases: list[tuple[str, int]], tools: list[str], seeds: range, whole: bool
) -> None:
    rows, over, seconds = [], {tool: [] for tool in tools}, dict.fromkeys(tools, 0.0)
    for name, k in cases:
        of = {tool: [runs[name, k, tool, seed] for seed in seeds] for tool in tools}
        best = min(run["cut"] for some in of.values() for run in some)
        cells = []
        for tool, some in of.items():
            cuts, took = [run["cut"] for run in some], float(np.median([run["seconds"] for run in some]))
            over[tool].append(np.median(cuts) / best)
            seconds[tool] += took
            share, mean = [size([run[end] for run in some]) for size, end in ENDS], some[0]["nodes"] / k
            shares = " to ".join(f"{each / mean:.2f}" for each in share)
            cells.append(f"{np.median(cuts):.0f} +-{50 * np.ptp(cuts) / np.median(cuts):.1f} %, {took:.2f} s, {shares}")
        rows.append([name, str(k), f"{best:.0f}", *cells])
    means = [f"{np.exp(np.mean(np.log(over[tool]))):.3f}, {seconds[tool]:.1f} s" for tool in tools]
    rows.append(["geometric mean over the best, seconds in all", "", "", *means])
    for said, is_outside in OUTSIDE.items():
        outside = [sum(any(is_outside(runs[*case, tool, seed]) for seed in seeds) for case in cases) for tool in tools]
        rows.append([f"cases with a part {said} the bound", "", "", *map(str, outside)])
    notes = (
        f"Medians of {len(seeds)} seeds, and half of their range; the least and the most that a part holds with any of "
        "them, over the average; best: the smallest cut of all runs of all tools. Seconds are of the processor, one "
        "thread each. A part may hold 3 % more than the average, rounded up; ours no less than 3 % less, rounded down."
    )
    header = ["graph", "k", "best", *(NAMES[tool] for tool in tools)]
    write_table("balance", "Equal parts: edge cuts", header, rows, notes, whole)


def main() -> None:
    options = asked(__doc__, tools=",".join(NAMES), seeds=3, k="2,8,64")
    tools, seeds, cases = options.tools.split(","), range(1, options.seeds + 1), []
    runs = {(run["graph"], run["k"], run["tool"], run["seed"]): run for run in read_lines(KEPT)}
    graphclust.balanced_partition(grid(12, 2), 3, rng=0)
    for name, matrix in graphs():
        for k in map(int, options.k.split(",")):
            cases.append((name, k))
            for tool in tools:
                for seed in seeds:
                    if (name, k, tool, seed) in runs:
                        continue
                    runs[name, k, tool, seed] = run = run_of(matrix, name, k, tool, seed)
                    print(run, flush=True)
                    if not tool.startswith("ours"):
                        add_line(KEPT, run)
    table_of(runs, cases, tools, seeds, whole=len(cases) == 27 and set(tools) == set(NAMES))


if __name__ == "__main__":
    main()
