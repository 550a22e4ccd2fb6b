"""Pin what the engine does: labels, values, seconds and entries read on some forty graphs, and compare with a file.

    GRAPHCLUST_DATA=... python pinned.py --write FILE [--seconds S]
    GRAPHCLUST_DATA=... python pinned.py --compare FILE [--only WORD]

Each row is a graph x a question x an objective x a method, at one seed. The first form keeps the rows as JSON, and goes
on where it ended if the file is there; results/pinned.json holds those of the engine as it is. The second runs them
again and prints each row whose labels changed, with both values and times, and then how many are the
same, better and worse. Values are the larger the better: modularity, and less the cut. Times are of this machine.
"""

import hashlib
import json
import os
import pathlib
import tempfile
import time
from collections.abc import Collection, Iterator
from typing import Any

import networkx as nx
import numpy as np
from harness import asked, machine
from peers_data import largest_component, lfr, meshes, nearest_neighbors, planted, real_graph, with_random_weights
from scipy import sparse

import graphclust
from graphclust.objective.objective import OBJECTIVES

CUTS = {"normalized_cut": "normalized_cut", "ratio_cut": "edge_cut"}
REAL = (
    "email-Eu-core", "fb100_Caltech36_dorm", "fb100_MIT8_dorm", "graphdata_amazon_photo", "graphdata_coauthor_cs",
    "heterophilous_actor", "karateclub_facebook", "metis_PGPgiantcompo", "planetoid_cora", "planetoid_pubmed",
    "sdcn_hhar10", "snap_email-enron",
)  # fmt: skip
PLANTED = (
    "5x2000:12:4", "50x1000:8:2", "100x500:10:2:dc:unbalanced", "20x1000:12:2:unbalanced", "200x100:12:3",
    "10x90:8:3", "200x2000:12:6",
)  # fmt: skip
SMALL = {
    "karate": nx.karate_club_graph, "les miserables": nx.les_miserables_graph,
    "florentine": nx.florentine_families_graph, "davis": nx.davis_southern_women_graph,
}  # fmt: skip
SEED = 7


def graphs(folder: pathlib.Path) -> Iterator[tuple[str, Any, tuple[int, ...]]]:
    """Name, graph, and the numbers of clusters that are asked for."""
    for name, make in SMALL.items():
        yield name, make(), (2, 4)
    for name in REAL:
        matrix, labels = real_graph(next(folder.rglob(f"{name}.npz")))
        yield f"{name}, all components", matrix, (5,)
        yield name, largest_component(matrix, labels)[0], (5, 20)
    for spec in PLANTED:
        yield spec, planted(spec)[0], (int(spec.split("x")[0]),)
    for mixing in (0.3, 0.5):
        matrix, classes = lfr(mixing)
        yield f"LFR, mixing {mixing}", matrix, (int(classes.max()) + 1,)
    for kind in ("exponential", "log-normal"):
        yield f"50x1000:20:4, {kind} weights", with_random_weights(planted("50x1000:20:4")[0], kind), (50,)
    yield "pendigits 15-NN", nearest_neighbors("pendigits", 15)[0], (10,)
    for name, matrix in meshes():
        yield name, matrix, (8, 64)
    pieces = nx.disjoint_union_all([nx.planted_partition_graph(5, 200, 0.05, 0.002, seed=1), *[nx.path_graph(9)] * 6])
    yield "blocks and paths", pieces, (5,)
    pieces.add_nodes_from(range(2_000, 2_010))
    yield "blocks, paths and isolated nodes", pieces, (5,)


def questions(k_values: tuple[int, ...], n_entries: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is asked of a graph, and the arguments that ask it."""
    for k in k_values:
        for objective in OBJECTIVES:
            yield f"k={k} {objective}", {"k": k, "objective": objective}
        if n_entries > 100_000:
            yield f"k={k} two-step", {"k": k, "method": "two-step"}
    for resolution in (0.3, 1.0, 5.0):
        yield f"resolution {resolution}", {"resolution": resolution}


def run(graph: graphclust.Graph, arguments: dict[str, Any]) -> dict[str, Any]:
    """The row of one question."""
    ask = graphclust.coreset_sc if "k" in arguments else graphclust.communities
    start = time.perf_counter()
    found = ask(graph, rng=SEED, **arguments)
    seconds = time.perf_counter() - start
    by = CUTS.get(found.objective)
    value = found.modularity if by is None else -getattr(found, by)
    labels = hashlib.sha256(found.labels.astype(np.int64).tobytes()).hexdigest()[:16]
    read = sum(found.entries_read.values()) / max(graph.n_entries, 1)
    return {"labels": labels, "value": value, "clusters": found.n_clusters, "seconds": seconds, "read": read}


def rows(only: str, known: Collection[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of each question whose name holds the word and is not known yet, name and row."""
    for _, arguments in questions((2,), 0):  # compile
        run(graphclust.as_graph(nx.karate_club_graph()), arguments)
    with tempfile.TemporaryDirectory() as room:
        for name, given, k_values in graphs(pathlib.Path(os.environ["GRAPHCLUST_DATA"])):
            graph = graphclust.as_graph(sparse.csr_matrix(given) if sparse.issparse(given) else given)
            held = [(name, graph)]
            if name == "200x2000:12:6":
                held.append((f"{name}, a store", graphclust.save_store(f"{room}/graph.store", graph)))
            for title, one in held:
                for question, arguments in questions(k_values, graph.n_entries):
                    if only in f"{title} | {question}" and f"{title} | {question}" not in known:
                        yield f"{title} | {question}", run(one, arguments)


def main() -> None:
    file = {"type": pathlib.Path, "metavar": "FILE"}
    options = asked(__doc__, write=file, compare=file, only="", seconds=np.inf)
    end = time.monotonic() + options.seconds
    before = json.loads(options.compare.read_text())["rows"] if options.compare else {}
    made: dict[str, dict[str, Any]] = {}
    if options.write and options.write.exists():
        made = json.loads(options.write.read_text())["rows"]
    counts = {"same": 0, "better": 0, "worse": 0, "new": 0}
    for name, row in rows(options.only, made):
        made[name] = row
        old = before.get(name)
        if old is None:
            counts["new"] += 1
        elif old["labels"] == row["labels"]:
            counts["same"] += 1
        else:
            counts["better" if row["value"] >= old["value"] else "worse"] += 1
            change = (row["value"] - old["value"]) / max(abs(old["value"]), 1e-12)
            seconds = f"{old['seconds']:.3f} -> {row['seconds']:.3f} s"
            print(f"{name}: {old['value']:.6f} -> {row['value']:.6f} ({change:+.3%}), {seconds}", flush=True)
        if time.monotonic() > end:
            break
    print(", ".join(f"{number} {word}" for word, number in counts.items()))
    if options.write:
        options.write.write_text(json.dumps({"machine": machine(), "seed": SEED, "rows": made}, indent=0) + "\n")


if __name__ == "__main__":
    main()
