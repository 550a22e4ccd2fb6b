"""Clusters at a resolution, their number free: value, time and connectedness beside Leiden and VieClus.

    GRAPHCLUST_DATA=... python bench_communities.py --measure TOOL ... [--objective modularity] [--resolution 1.0] [...]
    GRAPHCLUST_DATA=... python bench_communities.py

With --measure the tools run on all real graphs and three planted ones, largest component, and what they find is kept in
results/communities_runs.json: slow ones run once, and a few graphs at a time. Without, the tables are written from that
file. For Potts the resolution is a multiple of the density. igraph's Leiden runs two iterations (its default), and
until nothing changes; NetworKit its parallel Leiden. Figures are medians of the seeds 0, 1, ...; graphs of more than
four million entries have one, except by default. Needs igraph, networkit and vieclus.
"""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from harness import RESULTS, asked, machine, write_table
from peers_data import graphs_folder, largest_component, planted, real, real_names
from scipy import sparse
from scipy.sparse import csgraph
from tools import as_igraph, timed

import graphclust

PLANTED = ("200x2000:12:6", "50x1000:20:4", "20x1000:12:2:dc:unbalanced")
LEAST_GRAPHS = 20  # of a table; one of more graphs is not replaced by one of fewer
LARGEST = "200x5000:16:4"  # on two threads, in a table of its own
WITHOUT = ("1x10000:8:0", "1x10000:8:0:dc")  # clusters, in another
RUNS = RESULTS / "communities_runs.json"
LARGE = 4_000_000  # entries
TOLERATED = {"modularity 1": 0.001}  # of the value, below converged Leiden's; elsewhere a share of it
TOLERATED_SHARE = 0.0005
KNOWN_TO = 1e-6  # the best known values
OURS, HIGH, BUDGET = "graphclust", "high", "10 s"
TWO, CONVERGED, PARALLEL, VIECLUS = "Leiden, 2 iterations", "Leiden, converged", "NetworKit", "VieClus, 10 s"
QUESTIONS = [("modularity", at) for at in (1.0, 0.1, 5.0, 50.0)]
QUESTIONS += [("constant_potts", at) for at in (1.0, 10.0, 100.0)]
# From a graph, objective, resolution and seed the call that is timed, which returns labels.
Tool = Callable[[sparse.csr_matrix, str, float, int], Callable[[], Any]]


def ours(**more) -> Tool:
    return lambda matrix, objective, resolution, seed: (
        lambda: graphclust.communities(matrix, objective=objective, resolution=resolution, rng=seed, **more).labels
    )


def leiden(iterations: int) -> Tool:
    def prepare(matrix, objective, resolution, seed):
        graph, _ = as_igraph(matrix)
        random.seed(seed)
        # of Potts igraph's sum is over pairs of nodes, ours over ordered ones and each node with itself
        name = "modularity" if objective == "modularity" else "CPM"
        options = {"objective_function": name, "resolution": resolution, "n_iterations": iterations}
        return lambda: graph.community_leiden(**options).membership

    return prepare


def parallel_leiden(matrix, objective, resolution, seed):
    import networkit

    upper = sparse.triu(matrix, 1).tocoo()
    ends = upper.row.astype(np.uint64), upper.col.astype(np.uint64)
    graph = networkit.GraphFromCoo((upper.data.astype(float), ends), n=matrix.shape[0], weighted=False)
    networkit.setSeed(seed, False)
    run = networkit.community.ParallelLeiden(graph, gamma=resolution)
    return lambda: run.run().getPartition().getVector()


def vieclus(matrix, objective, resolution, seed):
    import vieclus as tool

    matrix.sort_indices()
    rows = matrix.indptr.tolist(), matrix.data.astype(int).tolist(), matrix.indices.tolist()
    return lambda: tool.cluster([1] * matrix.shape[0], *rows, True, seed, 10.0)[-1]


TOOLS: dict[str, Tool] = {
    OURS: ours(), HIGH: ours(effort="high"), BUDGET: ours(time_budget=10.0),
    TWO: leiden(2), CONVERGED: leiden(-1), PARALLEL: parallel_leiden, VIECLUS: vieclus,
}  # fmt: skip


def value(matrix: sparse.csr_matrix, labels: np.ndarray, objective: str, resolution: float) -> float:
    """Modularity, or the Potts value over the weight of the graph."""
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    whole, entries = degrees.sum(), matrix.tocoo()
    inside = entries.data[labels[entries.row] == labels[entries.col]].sum() / whole
    if objective == "modularity":
        return float(inside - resolution * (np.bincount(labels, weights=degrees) ** 2).sum() / whole**2)
    return float(inside - resolution * (np.bincount(labels).astype(float) ** 2).sum() / whole)


def n_disconnected(matrix: sparse.csr_matrix, labels: np.ndarray) -> int:
    entries = matrix.tocoo()
    same = labels[entries.row] == labels[entries.col]
    inner = sparse.coo_matrix((np.ones(same.sum()), (entries.row[same], entries.col[same])), shape=matrix.shape)
    _, part = csgraph.connected_components(inner, directed=False)
    return int((np.bincount(np.unique(np.c_[labels, part], axis=0)[:, 0]) > 1).sum())


def graphs(names: list[str]) -> Iterator[tuple[str, sparse.csr_matrix, np.ndarray | None]]:
    """Name, largest component, planted clusters; those of the names, which may be specs of other planted graphs."""
    for name in real_names():
        if not names or name in names:
            yield name, real(name)[0], None
    for spec in [name for name in names if ":" in name] if names else PLANTED:
        yield spec, *largest_component(*planted(spec))


def measure(tool: str, matrix: sparse.csr_matrix, objective: str, resolution: float, n_seeds: int) -> dict:
    """Values, seconds, numbers of clusters and of disconnected ones, of each seed, and the labels of the last."""
    at = resolution * (1.0 if objective == "modularity" else matrix.sum() / matrix.shape[0] ** 2)
    found: dict = {"values": [], "seconds": [], "clusters": [], "not connected": []}
    if tool == OURS and matrix.nnz > LARGE:
        TOOLS[tool](matrix, objective, at, 0)()  # compile
    for seed in range(n_seeds if tool == OURS or matrix.nnz <= LARGE else 1):
        seconds, labels = timed(TOOLS[tool](matrix, objective, at, seed))
        labels = np.unique(labels, return_inverse=True)[1]
        found["values"].append(value(matrix, labels, objective, at))
        found["seconds"].append(seconds)
        found["clusters"].append(int(labels.max()) + 1)
        found["not connected"].append(n_disconnected(matrix, labels))
    return found | {"labels": labels}


def read_runs() -> dict:
    """question -> graph -> "entries", and tool -> what `measure` returns; "machine" -> question and tool -> a line."""
    return json.loads(RUNS.read_text()) if RUNS.exists() else {"machine": {}}


def median(of: dict) -> float:
    return float(np.median(of["values"]))


def over(found: dict, tool: str) -> float:
    """How far the default is above a tool, as a share of the value."""
    return (median(found[OURS]) - median(found[tool])) / abs(median(found[tool]))


def spread(of: dict) -> str:
    return f"{100 * np.ptp(of['values']) / abs(median(of)):.3f}"


def holds(question: str, found: dict) -> bool:
    """Whether the default is at least at converged Leiden's value, less what is tolerated."""
    tolerated = TOLERATED.get(question, TOLERATED_SHARE * abs(median(found[CONVERGED])))
    return median(found[OURS]) >= median(found[CONVERGED]) - tolerated


def seconds(of: dict) -> float:
    return float(np.median(of["seconds"]))


def table_of(question: str, runs: dict, tools: tuple[str, ...]) -> list[str] | None:
    """Write the table of one question; returns its line of the table of all questions, None where a tool is missing."""
    compared = {name: of for name, of in runs[question].items() if all(tool in of for tool in tools)}
    found = {name: of for name, of in compared.items() if name not in (LARGEST, *WITHOUT)}
    if len(found) < LEAST_GRAPHS:
        return None
    objective, resolution = question.split()
    rows, below = [], {tool: [] for tool in tools}
    for name, of in found.items():
        best = max(median(of[tool]) for tool in tools)
        for tool in tools:
            below[tool].append((best - median(of[tool])) / abs(best))
        cells = [f"{median(of[tool]):.5f}" for tool in tools] + [f"{seconds(of[tool]):.3f}" for tool in tools]
        counts = "/".join(str(max(of[tool]["not connected"])) for tool in tools)
        clusters = [str(int(np.median(of[tool]["clusters"]))) for tool in (OURS, CONVERGED)]
        against = f"{100 * over(of, CONVERGED):+.3f}{'' if holds(question, of) else ' missed'}"
        spreads = [spread(of[tool]) for tool in (OURS, CONVERGED)]
        rows.append([name, str(of["entries"]), *cells, against, *clusters, counts, *spreads])
    in_all = {tool: sum(seconds(of[tool]) for of in found.values()) for tool in tools}
    short = [f"-{100 * np.mean(below[tool]):.3f} %" for tool in tools]
    differences = [100 * over(of, CONVERGED) for of in found.values()]
    last = ["mean below the best, seconds in all", "", *short, *(f"{in_all[tool]:.2f}" for tool in tools)]
    rows.append([*last, f"{np.mean(differences):+.3f}", *[""] * 5])
    header = ["graph", "entries", *(f"value: {tool}" for tool in tools), *(f"s: {tool}" for tool in tools)]
    header += ["over Leiden, converged, %", "clusters", "clusters: Leiden", "not connected"]
    header += ["spread, %", "spread: Leiden, %"]
    title = f"{ {'modularity': 'Modularity', 'constant_potts': 'Potts'}[objective] } at resolution {resolution}"
    title += ", a multiple of the density" if objective == "constant_potts" else ""
    name = f"communities_{objective}_{resolution}"
    before = RESULTS / f"{name}.md"
    n_before = before.read_text().count("\n|") - 2 if before.exists() else 0
    text = notes(question, runs, tools)
    write_table(name, f"{title}, the number of clusters free", header, rows, text, len(rows) >= n_before)
    missed = [f"{name} {100 * over(of, CONVERGED):+.3f} %" for name, of in found.items() if not holds(question, of)]
    split = sum(max(of[OURS]["not connected"]) for of in found.values())
    figures = [str(len(found)), f"{np.mean(differences):+.3f} %", f"{np.min(differences):+.3f} %", ", ".join(missed)]
    return [question.replace("_", " "), *figures, f"{in_all[OURS]:.2f}", f"{in_all[CONVERGED]:.2f}", str(split)]


def notes(question: str, runs: dict, tools: tuple[str, ...]) -> str:
    return "\n".join(f"- {tool}: {runs['machine'][f'{question}: {tool}']}" for tool in tools)


def table_of_effort(runs: dict) -> None:
    """Write how far from the best known more effort and more time are; time where all graphs were measured with it."""
    path = graphs_folder().parents[1] / "bench" / "best_known_modularity.json"
    known = json.loads(path.read_text())["modularity"]
    question = "modularity 1"
    found = {name: of for name, of in runs[question].items() if name in known}
    tools = [tool for tool in (OURS, HIGH, BUDGET) if all(tool in of for of in found.values())]
    if HIGH not in tools:
        return
    rows, short, n_new = [], {tool: [] for tool in tools}, 0
    for name, of in found.items():
        for tool in tools:
            short[tool].append(100 * (known[name] - median(of[tool])) / known[name])
        most = max(max(of[tool]["values"]) for tool in tools)
        n_new += most > known[name] + KNOWN_TO
        cells = [f"{known[name]:.6f}", *(f"{short[tool][-1]:.4f}" for tool in tools)]
        cells += [f"{most:.6f}" if most > known[name] + KNOWN_TO else ""]
        cells += [f"{seconds(of[tool]):.2f}" for tool in tools] + [spread(of[tool]) for tool in (OURS, HIGH)]
        cells += ["/".join(str(len(of[tool]["values"])) for tool in tools)]
        rows.append([name, str(of["entries"]), *cells, "/".join(str(max(of[tool]["not connected"])) for tool in tools)])
    means = [f"{np.mean(short[tool]):.4f}, worst {np.max(short[tool]):.4f}" for tool in tools]
    times = [f"{np.mean([seconds(of[tool]) for of in found.values()]):.2f}" for tool in tools]
    rows.append(["mean", "", "", *means, f"{n_new} of {len(rows)}", *times, *[""] * 4])
    header = ["graph", "entries", "best known", *(f"% below: {tool}" for tool in tools), "new best"]
    header += [*(f"s: {tool}" for tool in tools), "spread, %", "spread: high, %", "seeds", "not connected"]
    explained = (
        "The best known, to the sixth digit, are the better of VieClus's with 100 s and of igraph's Leiden's until "
        "nothing changes."
    )
    if BUDGET in tools:
        rivals = {name: median(of[VIECLUS]) if VIECLUS in of else known[name] for name, of in found.items()}
        lower = [name for name, of in found.items() if median(of[BUDGET]) < rivals[name] - KNOWN_TO]
        explained += f" With 10 s VieClus, with as many or with 100, is above us on: {', '.join(lower) or 'none'}."
    text = f"{notes(question, runs, tools)}\n\n{explained}"
    write_table("communities_effort", "Modularity at resolution 1 by effort and by time", header, rows, text)


def table_of_planted(runs: dict) -> None:
    """Write the time that a planted graph of 20 million entries takes, on two threads."""
    of = runs["modularity 1"].get(LARGEST, {})
    tools, rows = (OURS, PARALLEL), []
    if not all(tool in of for tool in tools):
        return
    for tool in tools:
        cells = [f"{seconds(of[tool]):.2f}", f"{median(of[tool]):.5f}", f"{of[tool]['ARI']:.4f}"]
        cells += [str(int(np.median(of[tool]["clusters"]))), str(max(of[tool]["not connected"]))]
        rows.append([tool, *cells, spread(of[tool])])
    header = ["tool", "seconds", "value", "ARI", "clusters", "not connected", "spread, %"]
    text = "\n".join(f"- {tool}: {of[tool]['machine']}" for tool in tools)
    write_table("communities_planted", f"Modularity at resolution 1, planted {LARGEST}", header, rows, text)


def table_without_clusters(runs: dict) -> None:
    """Write the values of random graphs of 10,000 nodes, of like degrees and of degrees by a power law."""
    rows, tools = [], (OURS, HIGH, TWO, CONVERGED, PARALLEL)
    found = {name: runs["modularity 1"].get(name, {}) for name in WITHOUT}
    if not all(tool in of for of in found.values() for tool in tools):
        return
    for name, of in found.items():
        for tool in tools:
            cells = [f"{median(of[tool]):.5f}", spread(of[tool]), f"{seconds(of[tool]):.2f}"]
            rows.append([name, tool, *cells, str(int(np.median(of[tool]["clusters"])))])
    header = ["graph", "tool", "value", "spread, %", "seconds", "clusters"]
    title = "Modularity at resolution 1 of random graphs, which have no clusters"
    text = "\n".join(f"- {tool}: {found[WITHOUT[0]][tool]['machine']}" for tool in tools)
    write_table("communities_without", title, header, rows, text)


def write_tables() -> None:
    runs, lines = read_runs(), []
    table_of_planted(runs)
    table_without_clusters(runs)
    for objective, resolution in QUESTIONS:
        question = f"{objective} {resolution:g}"
        tools = (OURS, TWO, CONVERGED, PARALLEL) if question == "modularity 1" else (OURS, CONVERGED)
        line = table_of(question, runs, tools) if question in runs else None
        lines += [line] if line else []
    header = ["question", "graphs", "mean over Leiden, converged", "worst", "missed", "s: graphclust"]
    header += ["s: Leiden, converged", "clusters not connected"]
    explained = (
        f"Missed: below converged Leiden's value by more than {100 * TOLERATED_SHARE:.2f} %, at modularity 1 by more "
        f"than {TOLERATED['modularity 1']}. The resolution of Potts is a multiple of the density."
    )
    title = "All resolutions, against Leiden until nothing changes"
    write_table("communities", title, header, lines, explained)
    table_of_effort(runs)


def main() -> None:
    options = asked(
        __doc__, measure={"nargs": "+", "choices": tuple(TOOLS)}, objective={"default": "modularity"},
        resolution=1.0, seeds=3, graphs=[], missing=False,
    )  # fmt: skip
    if not options.measure:
        return write_tables()
    graphclust.communities(sparse.csr_matrix(np.kron(np.eye(4), np.ones((6, 6)))), objective=options.objective)
    question = f"{options.objective} {options.resolution:g}"
    for name, matrix, truth in graphs(options.graphs):
        for tool in options.measure:
            if options.missing and tool in read_runs().get(question, {}).get(name, {}):
                continue
            found = measure(tool, matrix, options.objective, options.resolution, options.seeds)
            labels = found.pop("labels")
            if truth is not None:
                found["ARI"] = float(graphclust.adjusted_rand_index(truth, labels))
            print(name, tool, found, flush=True)
            runs = read_runs()
            if name in (LARGEST, *WITHOUT):
                found["machine"] = machine()
            else:
                runs["machine"][f"{question}: {tool}"] = machine()
            of = runs.setdefault(question, {}).setdefault(name, {})
            of |= {"entries": int(matrix.nnz), tool: found}
            whole = RUNS.with_suffix(".new")
            whole.write_text(json.dumps(runs, indent=1, sort_keys=True) + "\n")
            whole.replace(RUNS)


if __name__ == "__main__":
    main()
