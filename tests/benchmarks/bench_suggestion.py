"""Is the number of clusters that is suggested the same for every seed, right, and 1 where there are no clusters?

    python bench_suggestion.py measure ROWS.jsonl seeds|draws|null|power|planted|of_path [--only TEXT] [--repeats 20]
    python bench_suggestion.py write ROWS.jsonl          results/suggestion_*.md

`measure` adds a line for every graph and seed to a file, so that a long table can be measured in parts; `write` makes
the tables of what is there. The lines behind `seeds` are kept: results/suggestion_seeds_runs.jsonl.

seeds: real graphs of at most 50,000 nodes and graphs of many small groups, each from seeds 0, 1, ...; the suggestion
draws from a fixed seed, so all should agree. draws: the same where that fixed seed is another each time, which tells
how much of the agreement is the graph's. null: random graphs of four kinds without clusters, seeds 0, 1, ... power:
four planted blocks below and above the Kesten-Stigum threshold. planted: the specs of `bench_path`. of_path: how much
less modularity `path[k]` has than `coreset_sc(G, k)`, at the resolution of either, on real graphs. The real graphs are
those that $GRAPHCLUST_DATA names.
"""

import pathlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial

import networkx as nx
import numpy as np
from bench_path import PLANTED
from harness import add_line, asked, is_wanted, read_lines, write_table
from peers_data import graphs_folder, planted, real_graph, real_names

from graphclust import adjusted_rand_index, as_graph, cluster_path, coreset_sc, modularity, planted_partition
from graphclust.profile import select_k as suggestion_module


def cliques(sizes) -> nx.Graph:
    return nx.disjoint_union_all([nx.complete_graph(size) for size in sizes])


def near_duplicates(n_groups: int = 150, seed: int = 0) -> nx.Graph:
    """Groups of 2 to 6 nodes almost all linked, and a few links that are wrong."""
    rng, graph, n = np.random.default_rng(seed), nx.Graph(), 0
    for size in rng.integers(2, 7, n_groups).tolist():
        pairs = [(n + i, n + j) for i in range(size) for j in range(i)]
        graph.add_edges_from([(u, v) for u, v in pairs if v == u - 1 or rng.random() < 0.9])
        n += size
    graph.add_edges_from([(u, v) for u, v in rng.integers(n, size=(n_groups // 10, 2)).tolist() if u != v])
    return graph


def paths(lengths) -> nx.Graph:
    return nx.disjoint_union_all([nx.path_graph(length) for length in lengths])


SMALL_GROUPS: dict[str, tuple[Callable[[], nx.Graph], int | None]] = {
    "100 triangles": (lambda: cliques([3] * 100), 100),
    "300 K3": (lambda: cliques([3] * 300), 300),
    "50 K5": (lambda: cliques([5] * 50), 50),
    "cliques of 4 to 11": (lambda: cliques([*range(4, 12)] * 5), 40),
    "101 edges": (lambda: cliques([2] * 101), 101),
    "paths of 2 to 5": (lambda: paths([2, 3, 4, 5] * 20), 80),
    "ring of 200 K4": (lambda: nx.ring_of_cliques(200, 4), 200),
    "ring of 100 K6": (lambda: nx.ring_of_cliques(100, 6), 100),
    "connected caveman 100 x 4": (lambda: nx.connected_caveman_graph(100, 4), 100),
    "planted 200 x 12": (lambda: planted_partition(200, 12, 8, 1.5, rng=1).graph, 200),
    "near-duplicates": (near_duplicates, None),
    "grid 12 x 20": (lambda: nx.grid_2d_graph(12, 20), None),
}
NULL: dict[str, Callable[[int], nx.Graph]] = {
    "random, 300 nodes, 1,500 edges": lambda seed: nx.gnm_random_graph(300, 1500, seed=seed),
    "random, 1,000 nodes, 2,000 edges": lambda seed: nx.gnm_random_graph(1000, 2000, seed=seed),
    "6-regular, 400 nodes": lambda seed: nx.random_regular_graph(6, 400, seed=seed),
    "Barabási-Albert, 500 nodes, 4 each": lambda seed: nx.barabasi_albert_graph(500, 4, seed=seed),
}
# d lambda^2 of four planted blocks of 75 nodes with d = 11 neighbors; the Kesten-Stigum threshold is 1.
SIGNALS = (0.5, 0.9, 1.5, 1.71, 2.0, 2.5, 3.0, 4.0)


def four_blocks(signal: float, seed: int):
    """Each node has (d + 3 sqrt(signal d)) / 4 neighbors in its block and the rest elsewhere."""
    inside = (11.0 + 3.0 * np.sqrt(11.0 * signal)) / 4.0
    return planted_partition(4, 75, inside, 11.0 - inside, rng=seed).graph


POWER = {f"4 x 75, d λ² = {signal:g}": partial(four_blocks, signal) for signal in SIGNALS}
KS, MOST_NODES = (5, 10, 20), 50_000
ONE_ANSWER = 0.95  # of the seeds of a graph, others being not clear


def graphs() -> Iterator[tuple[str, Callable[[], object], int | None]]:
    """Names, makers and true numbers of clusters, None where none is known."""
    for name, (make, k) in SMALL_GROUPS.items():
        yield name, make, k
    for name in real_names():
        path = graphs_folder() / f"{name}.npz"
        if int(np.load(path)["n"]) <= MOST_NODES:
            yield name, lambda path=path: real_graph(path)[0], None


def measure(rows: pathlib.Path, table: str, only: list[str], repeats: int) -> None:
    """Add a line to the file for every graph and seed that is not there yet."""
    done = {(row["table"], row["graph"], row["seed"]) for row in read_lines(rows)}
    specs: Iterator = graphs()
    if table == "null":
        specs = ((name, make, 1) for name, make in NULL.items())
    elif table == "power":
        specs = ((name, make, 4) for name, make in POWER.items())
    elif table == "of_path":
        specs = (one for one in graphs() if one[0] not in SMALL_GROUPS)
    elif table == "planted":
        specs = ((spec, lambda seed, spec=spec: planted(spec, seed)[0], int(spec.split("x")[0])) for spec, _ in PLANTED)
    for name, make, k in specs:
        if not is_wanted(name, only):
            continue
        for seed in range(repeats):
            if (table, name, seed) in done:
                continue
            graph = as_graph(make(seed) if table in ("null", "power", "planted") else make())
            found = of_path(graph) if table == "of_path" else suggested(graph, seed, table)
            add_line(rows, {"table": table, "graph": name, "seed": seed, "truth": k, **found})
            print(name, seed, found, flush=True)


def suggested(graph, seed: int, table: str) -> dict:
    suggestion_module.DRAWS = seed if table == "draws" else 0
    found = cluster_path(graph, rng=seed).suggest()
    return {"k": found.k, "clear": found.clear, "saved": found.nats_saved}


def of_path(graph) -> dict:
    path, found = cluster_path(graph, range(1, 31), rng=0), {}
    for k in KS:
        alone = coreset_sc(graph, k, rng=0)
        lost = []
        for resolution in (alone.resolution, path[k].resolution):
            values = [modularity(graph, one.labels, resolution=resolution) for one in (alone, path[k])]
            lost.append((values[0] - values[1]) / abs(values[0]))
        found[k] = [*lost, adjusted_rand_index(alone.labels, path[k].labels)]
    return {"lost": found}


def write(rows: pathlib.Path) -> None:
    """The tables of all lines that were measured."""
    tables: dict[str, dict[str, list[dict]]] = defaultdict(lambda: defaultdict(list))
    for row in read_lines(rows):
        tables[row["table"]][row["graph"]].append(row)
    for name, of_graph in tables.items():
        if name == "of_path":
            write_of_path(of_graph)
        else:
            write_suggestions(name, of_graph)


TITLES = {
    "seeds": "The number of clusters that is suggested, over seeds of the path",
    "draws": "The number of clusters that is suggested, over the seed that the suggestion itself draws from",
    "null": "The number of clusters that is suggested for graphs without any",
    "power": "The number of clusters that is suggested for weaker and weaker planted blocks",
    "planted": "The number of clusters that is suggested for planted graphs, over graphs",
}


def write_suggestions(name: str, of_graph: dict[str, list[dict]]) -> None:
    lines, n_right, n_all, n_one = [], 0, 0, 0
    for graph, found in of_graph.items():
        truth, answers = found[0]["truth"], Counter(row["k"] for row in found)
        (k, n_same), *others = answers.most_common()
        n_right, n_all = n_right + answers[truth], n_all + len(found)
        saved, n_clear = [row["saved"] for row in found], sum(row["clear"] for row in found)
        n_one += sum(row["k"] == k or not row["clear"] for row in found) >= ONE_ANSWER * len(found)
        cells = [graph, "" if truth is None else str(truth), str(k), f"{n_same} of {len(found)}"]
        cells += [", ".join(str(other) for other, _ in others), str(n_clear), str(sum(nats > 0.0 for nats in saved))]
        cells += [f"{min(saved):.0f} to {max(saved):.0f}"]
        lines.append(cells)
    header = ["graph", "true", "suggested", "times", "else", "clear", "with evidence", "evidence, nats"]
    notes = f"{n_right} of {n_all} are right."
    if name not in ("null", "power", "planted"):
        notes = f"For {n_one} of {len(lines)} graphs 19 of 20 answers are one number, or not clear."
    notes = f"seeds 0, 1, ..., as many as a row says. {notes}"
    write_table(f"suggestion_{name}", TITLES[name], header, lines, notes)


def write_of_path(of_graph: dict[str, list[dict]]) -> None:
    lines, lost = [], []
    for graph, (row, *_) in of_graph.items():
        lost += [losses for *losses, _ in row["lost"].values()]
        cells = (f"{one:+.2%}, {other:+.2%}, {ari:.2f}" for one, other, ari in row["lost"].values())
        lines.append([graph, *cells])
    of_one, of_path = np.array(lost).T
    notes = (
        f"seed 0. "
        f"At the resolution of coreset_sc {np.median(of_one):+.3%} in the median, at most {of_one.max():+.2%}; at that "
        f"of the path {np.median(of_path):+.3%}, at most {of_path.max():+.2%}; below zero the path has more. The third "
        "number is the adjusted Rand index between the two."
    )
    header = ["graph", *(f"k = {k}" for k in KS)]
    write_table("suggestion_of_path", "How much less path[k] has than coreset_sc(G, k)", header, lines, notes)


def main() -> None:
    words = {"task": {"choices": ("measure", "write")}, "rows": {"type": pathlib.Path}, "table": {"nargs": "?"}}
    words["table"]["choices"] = (*TITLES, "of_path")
    options = asked(__doc__, words, only=[], repeats=20)
    if options.task == "write":
        write(options.rows)
        return
    coreset_sc(planted("5x200:10:1")[0], rng=0)  # compile
    measure(options.rows, options.table, options.only, 1 if options.table == "of_path" else options.repeats)


if __name__ == "__main__":
    main()
