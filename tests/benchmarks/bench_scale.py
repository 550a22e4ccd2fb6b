"""Clustering from a store: planted graphs of any size, written and clustered out of core: seconds, passes and memory.

    python bench_scale.py                                          # 2 million nodes, 110 million entries: minutes
    python bench_scale.py --nodes 65000000 --k 1000 10000          # of Friendster's size: 15 GB of disk at a time
    python bench_scale.py --degree-corrected 5000000 --k 1000 --seeds 3 --leiden  # unequal degrees, made in memory

--degree-corrected takes the number of nodes; --leiden compares with igraph, where it fits; the table has the run of
median time of the --seeds.

For each k a graph of k equal blocks is written, clustered in a process of its own for each objective, and removed.
Every run that is done is noted in --folder, so that the same call goes on where it was stopped; --keep leaves the
graphs. Resident memory is that of the process alone, without the pages of the mapped files.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import tempfile
import threading
import time

import numpy as np
from harness import aligned, asked, write_table
from planted_stores import planted_store
from tools import timed

import graphclust as gc

OBJECTIVES = ("modularity", "normalized_cut")
PIECE = 1 << 24


def resident() -> int:
    """Bytes of this process that are not pages of files."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon"))


class Watched(gc.Progress):
    """The most resident memory of each stage, looked at every few hundredths of a second."""

    def __init__(self):
        super().__init__()
        self.peaks: dict[str, int] = {}
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        while True:
            self.peaks[self._stage] = max(self.peaks.get(self._stage, 0), resident())
            time.sleep(0.03)


def write_graph(path: str, options: argparse.Namespace, k: int) -> dict:
    """The store and the labels of a graph, unless they are there."""
    start = time.perf_counter()
    size = (options.degree_corrected or options.nodes) // k
    if options.degree_corrected:
        graph, labels = gc.planted_partition(k, size, options.inside, options.outside, degree_exponent=2.5, rng=1)
        order = np.random.default_rng(2).permutation(graph.n_nodes)
        matrix = graph.to_scipy().astype(np.float32)
        del graph
        gc.save_store(path, matrix[order][:, order], overwrite=True)
        labels = labels[order]
    else:
        _, labels = planted_store(path, k, size, options.inside, options.outside, seed=1)
    np.save(path + ".labels.npy", labels.astype(np.int32))
    return {"write": time.perf_counter() - start}


def cluster(path: str, k: int, objective: str, seed: int) -> dict:
    graph, truth = gc.open_store(path, verify="fast"), np.load(path + ".labels.npy")
    progress, start, busy = Watched(), time.perf_counter(), time.process_time()
    found = gc.coreset_sc(graph, k, method="two-step", objective=objective, rng=seed, progress=progress)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    peaks = dict(progress.peaks)  # before the labels are compared, which takes memory too
    return {
        "seconds": seconds,
        "processor": busy,
        "ari": gc.adjusted_rand_index(found.labels, truth),
        "passes": sum(found.entries_read.values()) / graph.n_entries,
        "peak": max(peaks.values()),
        "estimate": gc.estimate_memory(graph, k, method="two-step"),
        "n_nodes": graph.n_nodes,
        "n_entries": graph.n_entries,
        "decided": found.decided,
        "stages": {
            stage: [took, found.entries_read.get(stage, 0) / graph.n_entries, peaks.get(stage, 0)]
            for stage, took in found.seconds.items()
        },
    }


def leiden(path: str) -> dict:
    """igraph's Leiden by modularity, as it comes: its own number of clusters."""
    import igraph

    graph, truth = gc.open_store(path, verify="fast"), np.load(path + ".labels.npy")
    row = np.repeat(np.arange(graph.n_nodes, dtype=np.int32), np.diff(graph.indptr))
    upper = row < graph.indices
    edges = np.column_stack([row[upper], graph.indices[upper]])
    theirs = igraph.Graph(n=graph.n_nodes)
    for piece in np.array_split(edges, -(-len(edges) // PIECE)):  # all at once they take ten times the graph's memory
        theirs.add_edges(piece.astype(np.int64))
    del row, upper, edges
    random.seed(0)
    seconds, found = timed(theirs.community_leiden, objective_function="modularity", n_iterations=2)
    return {"seconds": seconds, "ari": gc.adjusted_rand_index(np.array(found.membership), truth)}


def in_a_process(function, *arguments):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def main() -> None:
    options = asked(
        __doc__, nodes=2_000_000, degree_corrected=0, inside=44, outside=11, k=[1000], objectives=list(OBJECTIVES),
        seeds=1, folder=os.path.join(tempfile.gettempdir(), "graphclust-scale"), leiden=False, keep=False,
    )  # fmt: skip
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    kind = f"{options.degree_corrected or options.nodes}-{options.inside}-{options.outside}"
    kind += "-corrected" if options.degree_corrected else ""
    notes_file = folder / f"runs-{kind}.json"
    notes = json.loads(notes_file.read_text()) if notes_file.exists() else {}

    def noted(name: str, function, *arguments) -> dict:
        if name not in notes:
            notes[name] = in_a_process(function, *arguments)
            notes_file.write_text(json.dumps(notes, indent=1))
            print(name, {key: value for key, value in notes[name].items() if key != "stages"}, flush=True)
        return notes[name]

    rows, stages = [], []
    for k in options.k:
        path = str(folder / f"{kind}-{k}.store")
        seeds = range(options.seeds)
        runs = [f"{k} {objective} {seed}" for objective in options.objectives for seed in seeds]
        runs += [f"{k} Leiden"] * options.leiden
        if not os.path.exists(path) and not set(runs) <= set(notes):
            notes.pop(f"{k} write", None)
        written = noted(f"{k} write", write_graph, path, options, k)
        for objective in options.objectives:
            of_seeds = [noted(f"{k} {objective} {seed}", cluster, path, k, objective, seed) for seed in seeds]
            run = sorted(of_seeds, key=lambda run: run["seconds"])[len(of_seeds) // 2]
            cells = [f"{run['n_nodes']:,}", f"{run['n_entries']:,}", str(k), objective, f"{written['write']:.0f}"]
            cells += [f"{run['seconds']:.1f}", f"{run['processor']:.1f}", f"{run['passes']:.1f}", f"{run['ari']:.4f}"]
            rows.append([*cells, f"{run['peak'] / 1e9:.2f}", f"{run['estimate'] / 1e9:.2f}"])
            for stage, (seconds, passes, peak) in run["stages"].items():
                stages.append([str(k), objective, stage, f"{seconds:.1f}", f"{passes:.2f}", f"{peak / 1e9:.2f}"])
            shares = ", ".join(f"{share:.1%} by {name}" for name, share in run["decided"].items())
            stages.append([str(k), objective, f"first labels: {shares}", "", "", ""])
            if len(of_seeds) > 1:
                each = ", ".join(f"{of['seconds']:.1f} s with ARI {of['ari']:.4f}" for of in of_seeds)
                stages.append([str(k), objective, f"seeds: {each}", "", "", ""])
        if options.leiden:
            run = noted(f"{k} Leiden", leiden, path)
            rows.append(["", "", str(k), "Leiden", "", f"{run['seconds']:.1f}", "", "", f"{run['ari']:.4f}", "", ""])
        if not options.keep:
            shutil.rmtree(path, ignore_errors=True)
            pathlib.Path(path + ".labels.npy").unlink(missing_ok=True)
    header = ["nodes", "entries", "k", "objective", "s to write", "s to cluster", "of all cores", "passes", "ARI"]
    header += ["GB resident", "GB estimated"]
    of_stages = aligned(["k", "objective", "stage", "seconds", "passes", "GB resident"], stages)
    millions = (options.degree_corrected or options.nodes) / 1e6
    name = f"scale_{millions:g}_million" + ("_degree_corrected" if options.degree_corrected else "")
    notes_below = f"Seconds of all cores: of the processors, where others may use them as well.\n\n{of_stages}"
    write_table(name, "Clustering from a store", header, rows, notes_below)
    if not options.keep:
        notes_file.unlink()


if __name__ == "__main__":
    main()
