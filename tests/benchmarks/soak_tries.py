"""What a soak tries: each draws its work from `chance`, raises where a promise is broken, and says what it did."""

import contextlib
import io
import json
import os
import pathlib
import pickle
import random
import resource
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from deaths import in_a_child
from fuzz_files import changed
from graphs import GRAPHS
from graphs import make as named_matrix
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import graphclust as gc

REFUSED = (gc.GraphClustError, TypeError)  # by a message that names the argument: `refused` looks


def check(holds: Any, what: str) -> None:
    """A promise, by its words."""
    if not holds:
        raise AssertionError(what)


# ------------------------------------------------------------------------------------------- graphs and questions


def draw_matrix(chance: random.Random, most: int = 2_000) -> sparse.csr_array:
    """A symmetric matrix with or without weights, loops, lonely nodes and components."""
    rng = np.random.default_rng(chance.randrange(2**32))
    kind = chance.choice(("named", "planted", "planted", "random", "random", "lfr", "tree"))
    n = int(10 ** chance.uniform(0.5, np.log10(most)))
    if kind == "named":
        return named_matrix(
            chance.choice([name for name in GRAPHS if name not in ("one node", "no edges", "loops only")])
        )
    if kind == "planted":
        size = max(n // chance.randrange(2, 12), 4)
        graph = gc.planted_partition(max(n // size, 2), size, min(6.0, size - 2), chance.uniform(0, 2), rng=rng).graph
        upper = sparse.triu(graph.to_scipy())
    elif kind == "lfr":
        graph = gc.lfr_like(max(n, 200), 8.0, chance.uniform(0.05, 0.5), largest=100, rng=rng)[0]
        upper = sparse.triu(graph.to_scipy())
    elif kind == "tree":
        above = [rng.integers(u) if u else 0 for u in range(n)]
        upper = sparse.coo_array((np.ones(n), (above, range(n))), shape=(n, n))
    else:
        upper = sparse.triu(sparse.random_array((n, n), density=min(chance.uniform(1, 12) / n, 1.0), rng=rng))
    upper = sparse.coo_array(upper)
    weights = chance.choice(("ones", "ones", "whole", "real", "wide"))
    data = {
        "ones": np.ones(upper.nnz), "whole": rng.integers(1, 9, upper.nnz).astype(float),
        "real": rng.random(upper.nnz) + 0.01, "wide": 10.0 ** rng.uniform(-6, 6, upper.nnz),
    }[weights]  # fmt: skip
    upper = sparse.csr_array((data, (upper.row, upper.col)), shape=upper.shape)
    return sparse.csr_array(upper + sparse.triu(upper, 1).T)


def in_a_form(matrix: sparse.csr_array, chance: random.Random, folder: pathlib.Path) -> tuple[Any, str]:
    """The same graph as a caller may hold it, its nodes in their order."""
    form = chance.choice(("csr", "csc", "coo", "wide", "readonly", "graph", "store", "shuffled rows"))
    if form in ("csc", "coo"):
        return matrix.asformat(form), form
    copy = matrix.copy()
    if form == "wide":
        copy.indices, copy.indptr = copy.indices.astype(np.int64), copy.indptr.astype(np.int64)
    elif form == "readonly":
        for array in (copy.data, copy.indices, copy.indptr):
            array.flags.writeable = False
    elif form == "graph":
        return gc.as_graph(copy), form
    elif form == "store":
        return gc.save_store(folder / f"s{chance.randrange(10**9)}", copy), form
    elif form == "shuffled rows":
        for u in range(copy.shape[0]):
            row = slice(copy.indptr[u], copy.indptr[u + 1])
            order = np.random.default_rng(u).permutation(row.stop - row.start)
            copy.indices[row], copy.data[row] = copy.indices[row][order], copy.data[row][order]
        copy.has_sorted_indices = False
    return copy, form


def draw_question(chance: random.Random, n: int) -> tuple[str, dict[str, Any]]:
    """A public function and its options; some ask for what cannot be."""
    k = min(chance.choice((1, 2, 3, 5, 8, 20)), n + chance.randrange(2))
    name = chance.choice(("coreset_sc", "coreset_sc", "communities", "communities", "balanced_partition", "hierarchy",
                          "cluster_path", "well_connected"))  # fmt: skip
    options: dict[str, Any] = {"rng": chance.randrange(1000)}

    def maybe(share: float, **more: Any) -> None:
        if chance.random() < share:
            options.update(more)

    if name == "coreset_sc":
        options["k"] = k
        maybe(0.3, method=chance.choice(("multilevel", "two-step", "paper")))
        maybe(0.3, objective=chance.choice(("modularity", "normalized_cut", "constant_potts", "edge_cut")))
        maybe(0.2, components=chance.choice(("all", "large")))
        maybe(0.2, effort=chance.choice(("low", "high")))
        maybe(0.2, max_imbalance=chance.choice((0.1, 0.5, 1.0)))
        maybe(0.2, max_size=chance.uniform(1, 2) * n / k + 1)
        maybe(0.1, min_size=chance.uniform(0.1, 0.9) * n / k)
    elif name in ("communities", "hierarchy"):
        maybe(0.4, resolution=10 ** chance.uniform(-1, 1))
        maybe(0.3, max_size=chance.choice((3, 10, 50, n)))
        maybe(0.3, min_size=chance.choice((1, 2, 4)))
        maybe(0.3, connectivity=chance.choice(("well", 1, 2)))
        if name == "communities":
            maybe(0.3, small=chance.choice(("apart", "unite")))
    elif name == "balanced_partition":
        options["k"] = k
        maybe(0.5, max_imbalance=chance.choice((0.01, 0.1, 0.5)))
    elif name == "cluster_path":
        options["ks"] = range(1, k + 1)
        maybe(0.3, objective="normalized_cut")
    else:
        options["connectivity"] = chance.choice(("log10", 0, 1, 2))
        options["labels"] = np.random.default_rng(k).integers(0, k, n)
    return name, options


def ask(G: Any, name: str, options: dict[str, Any], threads: int = 2) -> Any:
    """The answer, or the words of a refusal."""
    try:
        with gc.limit_threads(threads):
            return getattr(gc, name)(G, **options)
    except REFUSED as problem:
        text = str(problem)
        check(text and "\n" not in text and "Traceback" not in text, f"an error without plain words: {text!r}")
        return text


def labels_of(answer: Any) -> list:
    """All labels of any answer, to compare."""
    if isinstance(answer, str):
        return [answer]
    if isinstance(answer, gc.Hierarchy):
        return [level.tolist() for level in answer.levels]
    if isinstance(answer, gc.ClusterPath):
        return [answer[k].labels.tolist() for k in sorted({1, max(row.k for row in answer.table())})]
    return answer.labels.tolist()


def check_answer(matrix: sparse.csr_array, name: str, options: dict[str, Any], answer: Any) -> None:
    """Promises of labels that can be seen without the code that made them."""
    n = matrix.shape[0]
    if isinstance(answer, gc.Hierarchy):
        below = None
        for labels in reversed(answer.levels):
            check(below is None or len({*zip(below, labels, strict=True)}) == len({*below}), "levels do not nest")
            below = labels
            if options.get("connectivity") is not None:
                check_cuts(matrix, labels, options["connectivity"])
        return
    if isinstance(answer, gc.ClusterPath):
        for row in answer.table():
            labels = answer[row.k].labels
            check(len({*labels[labels >= 0]}) == row.k, f"a path has {len({*labels})} clusters at k={row.k}")
        return
    labels, sizes = answer.labels, check_sizes(n, name, options, answer)
    remarks = " ".join(answer.remarks)
    if options.get("connectivity") is not None:
        check_cuts(matrix, labels, options["connectivity"])
    is_free = name in ("communities", "coreset_sc") and options.get("objective") != "edge_cut"
    if is_free and options.get("method") != "paper" and "connected" not in remarks and "united" not in remarks:
        for c in range(len(sizes)):
            inside = np.flatnonzero(labels == c)
            n_parts = connected_components(matrix[inside][:, inside], directed=False)[0]
            check(n_parts == 1, f"cluster {c} has {n_parts} parts; remarks: {answer.remarks}")


def check_sizes(n: int, name: str, options: dict[str, Any], answer: Any) -> np.ndarray:
    """Labels of all nodes without gaps, as many clusters as asked for, within the bounds; returns their sizes."""
    labels = answer.labels
    check(labels.shape == (n,), f"labels of shape {labels.shape} for {n} nodes")
    sizes = np.bincount(labels[labels >= 0])
    check(labels.min() >= -1 and (sizes > 0).all(), "labels have gaps")
    remarks = " ".join(answer.remarks)
    is_less = f"of k={options.get('k')} clusters have nodes" in remarks  # of the published method, which says so
    if options.get("k") is not None and not is_less:
        check(len(sizes) == options["k"], f"{len(sizes)} clusters for k={options['k']}")
    most = options.get("max_size", np.inf)
    if "max_imbalance" in options and name != "cluster_path":
        most = min(most, np.ceil((1 + options["max_imbalance"]) * n / options["k"] - 1e-9) + 0.001)
    check(len(sizes) == 0 or sizes.max() <= most, f"a cluster of {sizes.max(initial=0)} nodes, at most {most}")
    if name == "coreset_sc" and "min_size" in options:
        check(sizes.min() >= options["min_size"], f"a cluster of {sizes.min()} nodes, at least {options['min_size']}")
    return sizes


def check_cuts(matrix: sparse.csr_array, labels: np.ndarray, asked: Any) -> None:
    """The minimum cut of each cluster of two nodes and more, by NetworkX."""
    import networkx as nx

    for c in range(labels.max(initial=-1) + 1):
        inside = np.flatnonzero(labels == c)
        if not 1 < len(inside) <= 80:
            continue
        graph = nx.Graph(nx.from_scipy_sparse_array(matrix[inside][:, inside]))
        graph.remove_edges_from(nx.selfloop_edges(graph))
        least = np.log10(len(inside)) if asked in ("well", "log10") else asked
        cut = nx.stoer_wagner(graph, weight=None)[0] if nx.is_connected(graph) else 0
        check(cut > least, f"cluster {c} of {len(inside)} nodes has a cut of {cut}, expected more than {least}")


# --------------------------------------------------------------------------------------------------------- tries


def partitions(chance: random.Random, folder: pathlib.Path) -> str:
    """Any question of any graph: the promises of labels, whatever the storage and the threads, the input as it was."""
    matrix = draw_matrix(chance)
    name, options = draw_question(chance, matrix.shape[0])
    before = [array.tobytes() for array in (matrix.data, matrix.indices, matrix.indptr)]
    answer = ask(matrix, name, options)
    check(
        before == [array.tobytes() for array in (matrix.data, matrix.indices, matrix.indptr)], "the input has changed"
    )
    if isinstance(answer, str):
        check(ask(matrix, name, options) == answer, "another refusal at the second time")
        return f"{name} refused"
    check_answer(matrix, name, options, answer)
    other, form = in_a_form(matrix, chance, folder)
    again = ask(other, name, options, threads=1)
    check(labels_of(again) == labels_of(answer), f"other labels from {form} on one thread: {name} {options}")
    return name


def edits(chance: random.Random, folder: pathlib.Path) -> str:
    """Updates of updates: the graph is the one made anew, k and bounds hold, a model that was saved does the same."""
    matrix = draw_matrix(chance, most=400).tolil()
    n = matrix.shape[0]
    kind, options = chance.choice(
        (("communities", {}), ("communities", {"max_size": max(n // 3, 2)}), ("coreset_sc", {"k": min(4, n)}),
         ("coreset_sc", {"k": min(3, n), "max_imbalance": 0.6}), ("balanced_partition", {"k": min(3, n)}))
    )  # fmt: skip
    now = ask(matrix.tocsr(), kind, {**options, "rng": 1})
    if isinstance(now, str):
        return f"{kind} refused"
    for turn in range(chance.randrange(1, 5)):
        edges = [(int(u), int(v)) for u, v in zip(*sparse.triu(matrix).tocoo().coords, strict=True)]
        there = {*edges}
        removed = chance.sample(edges, min(len(edges) - 1, chance.randrange(6)))
        added: dict[tuple[int, int], float] = {}
        for _ in range(chance.randrange(8)):
            pair = tuple(sorted((chance.randrange(n), chance.randrange(n + 3))))
            if pair not in there:
                added[pair] = chance.choice((1.0, 2.5))
        n = max([n, *(v + 1 for _, v in added)])
        matrix.resize((n, n))
        for u, v in removed:
            matrix[u, v] = matrix[v, u] = 0
        for (u, v), weight in added.items():
            matrix[u, v] = matrix[v, u] = weight
        changes = {"added": [(u, v, weight) for (u, v), weight in added.items()] or None, "removed": removed or None}
        path = folder / f"m{turn}.npz"
        now.model().save(path)
        before, model = now.graph, gc.load_model(path)
        try:
            now = now.update(**changes, rng=turn)
        except gc.GraphClustError as problem:
            check("\n" not in str(problem), "an error of many lines")
            return f"update of {kind} refused"
        same = model.update(before, **changes, rng=turn)
        check((same.labels == now.labels).all(), "a saved model updates otherwise than its clustering")
        check(abs(now.graph.to_scipy() - matrix.tocsr()).max() < 1e-12, "the updated graph is another one")
        labels = now.labels
        sizes = np.bincount(labels[labels >= 0])
        check(labels.shape == (n,) and (sizes > 0).all(), "labels of an update have gaps")
        if "k" in options:
            check(len(sizes) == options["k"], f"{len(sizes)} clusters after an update for k={options['k']}")
        check(sizes.max() <= options.get("max_size", np.inf), "an update passes max_size")
    return f"update of {kind}"


GRAPH_FILES = (".mtx", ".mtx.gz", ".tsv", ".csv", ".graph", ".npz", ".graphml", ".gml", ".gexf")
LABEL_FILES = (".tsv", ".csv", ".json", ".npz", ".part", ".parquet")


def files(chance: random.Random, folder: pathlib.Path) -> str:
    """What is written is read back; what is damaged is read as a valid graph or refused by name."""
    matrix = draw_matrix(chance, most=200)
    path = folder / f"g{chance.choice(GRAPH_FILES)}"
    try:
        gc.save_graph(path, matrix)
    except gc.GraphClustError:
        check(not path.exists(), "a refused file is there")
        return f"{path.suffix} cannot hold it"
    back = gc.load_graph(path).to_scipy()
    if back.shape == matrix.shape and path.suffix not in (".tsv", ".csv"):  # whose nodes come in another order
        check(abs(back - matrix).max() <= 1e-12 * matrix.max(), f"another graph comes out of {path.suffix}")
    check(np.isclose(back.sum(), matrix.sum(), rtol=1e-9), f"another weight comes out of {path.suffix}")
    content = path.read_bytes()
    for _ in range(5):
        path.write_bytes(changed(content, [content], chance))
        try:
            graph = gc.load_graph(path, memory_limit=1 << 30)
            check(graph.n_nodes < 1 << 30 and len(graph.indptr) == graph.n_nodes + 1, "no valid graph")
        except gc.GraphClustError as problem:
            check(str(path) in str(problem) and "\n" not in str(problem), f"an error without its path: {problem}")
    found = gc.communities(matrix, rng=1)
    target = folder / f"l{chance.choice(LABEL_FILES)}"
    try:
        gc.write_labels(target, found)
        check((gc.read_labels(target)[1] == found.labels).all(), f"other labels come out of {target.suffix}")
    except (gc.GraphClustError, ImportError):
        check(not target.exists(), "a refused file is there")
    return f"{path.suffix} and {target.suffix}"


def kills(chance: random.Random, folder: pathlib.Path) -> str:
    """A writer dies at any moment: the file is the old one or the new one, and the next writer leaves nothing else."""
    matrices = [gc.planted_partition(3, 200 + 100 * new, 6, 1, rng=1).graph for new in (0, 1)]
    # by kind: its name, what writes it and how many nodes there are in it
    kinds: dict[str, tuple[str, Callable, Callable]] = {
        "save_graph": ("g.mtx", gc.save_graph, lambda path: gc.load_graph(path).n_nodes),
        "save_store": ("s", gc.save_store, lambda path: gc.open_store(path).n_nodes),
        "write_labels": (
            "l.json", lambda path, G, **how: gc.write_labels(path, np.arange(G.n_nodes) % 3, **how),
            lambda path: len(gc.read_labels(path)[0]),
        ),
        "model": (
            "m.npz", lambda path, G, **how: gc.communities(G, rng=0).model().save(path, **how),
            lambda path: len(gc.load_model(path).labels),
        ),
    }  # fmt: skip
    kind = chance.choice((*kinds,))
    name, save, count = kinds[kind]
    path = folder / name

    def write(new: int) -> None:
        save(path, matrices[new], overwrite=True)

    write(0)
    status, said = in_a_child(lambda: write(1), kill_after=chance.uniform(0, 0.03))
    check(status in (0, signal.SIGKILL), f"a writer ended with {status}: {said}")
    check(count(path) in (matrices[0].n_nodes, matrices[1].n_nodes), "neither the old file nor the new one")
    write(1)
    check(count(path) == matrices[1].n_nodes, "not the new file")
    check(os.listdir(folder) == [path.name], f"left beside the file: {os.listdir(folder)}")
    return f"{kind}, {'killed' if status else 'done before'}"


def interrupts(chance: random.Random, folder: pathlib.Path) -> str:
    """Ctrl-C at any moment: a KeyboardInterrupt, with a whole result or none; the next call is what it always is."""
    matrix = draw_matrix(chance)
    name, options = draw_question(chance, matrix.shape[0])
    start = time.monotonic()
    expected = ask(matrix, name, options)
    seconds = time.monotonic() - start

    def strike(number: int, frame: Any) -> None:
        raise KeyboardInterrupt("struck")

    before, said = signal.signal(signal.SIGALRM, strike), "done before"
    try:
        signal.setitimer(signal.ITIMER_REAL, max(chance.uniform(0, seconds), 1e-5))
        ask(matrix, name, options)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt as stop:
        said = "interrupted"
        if isinstance(stop, gc.Interrupted):
            check_sizes(matrix.shape[0], name, options, stop.best)
            said = "interrupted with a result"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    check(labels_of(ask(matrix, name, options)) == labels_of(expected), f"other labels after an interrupt of {name}")
    return said


def memory(chance: random.Random, folder: pathlib.Path) -> str:
    """Little memory: the answer, or a MemoryError; never a signal."""
    matrix = gc.planted_partition(20, chance.choice((500, 2_000)), 10, 2, rng=1).graph
    name, options = chance.choice((("coreset_sc", {"k": 20}), ("communities", {}), ("cluster_path", {"ks": [5, 20]})))
    spare = chance.uniform(0, 2) * gc.estimate_memory(matrix, 20)
    getattr(gc, name)(matrix, **options, rng=1)  # what is compiled or loaded is so before

    def work() -> str:
        with open("/proc/self/statm") as file:
            held = int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
        resource.setrlimit(resource.RLIMIT_AS, (int(held + spare),) * 2)
        getattr(gc, name)(matrix, **options, rng=1)
        return "fits"

    status, said = in_a_child(work)
    check(status == 0 and said in ("fits", "MemoryError"), f"{spare / 2**20:.0f} MiB for {name}: {status} {said}")
    return f"{name}: {said}"


def budgets(chance: random.Random, folder: pathlib.Path) -> str:
    """A time budget of anything: complete labels that hold what was asked, within seconds."""
    matrix = draw_matrix(chance, most=20_000)
    name = ""
    while name not in ("coreset_sc", "communities", "balanced_partition"):
        name, options = draw_question(chance, matrix.shape[0])
    budget = chance.choice((1e-9, 0.001, 0.01, 0.1))
    start = time.monotonic()
    answer = ask(matrix, name, {**options, "time_budget": budget})
    check(time.monotonic() - start < budget + 60, "a budget of moments took a minute")  # the machine may be busy
    if not isinstance(answer, str):
        check_answer(matrix, name, options, answer)
    return f"{name}{' refused' if isinstance(answer, str) else ''}"


def threads(chance: random.Random, folder: pathlib.Path) -> str:
    """Threads of Python side by side find what they find one after the other."""
    matrix = draw_matrix(chance)
    questions = [draw_question(chance, matrix.shape[0]) for _ in range(3)]
    expected = [labels_of(ask(matrix, *question)) for question in questions]
    found: list[Any] = [None] * 3

    def work(at: int) -> None:
        found[at] = labels_of(ask(matrix, *questions[at]))

    crew = [threading.Thread(target=work, args=(at,)) for at in range(3)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    check(found == expected, f"other labels side by side: {questions}")
    return "three at a time"


def forks(chance: random.Random, folder: pathlib.Path) -> str:
    """A forked process finds the same, and what it finds can be pickled back."""
    matrix = draw_matrix(chance)
    name, options = draw_question(chance, matrix.shape[0])
    expected = labels_of(ask(matrix, name, options))
    status, said = in_a_child(lambda: json.dumps(labels_of(ask(matrix, name, options)) == expected))
    check(status == 0 and said == "true", f"{name} in a forked process: {status} {said}")
    found = ask(matrix, "communities", {"rng": 1})
    check((pickle.loads(pickle.dumps(found)).labels == found.labels).all(), "a pickle changes labels")
    return name


def commands(chance: random.Random, folder: pathlib.Path) -> str:
    """The command line: an exit code of the help, one line of an error, no file of a failed run."""
    from graphclust.faces.cli.main import main

    matrix = draw_matrix(chance, most=300)
    source, target = folder / "g.mtx", folder / f"out{chance.choice((*LABEL_FILES, '.xyz'))}"
    gc.save_graph(source, matrix)
    k = str(chance.choice((1, 2, 5, 400)))
    words = chance.choice(
        (["cluster", "-k", k], ["communities"], ["communities", "--connectivity", "well"], ["partition", "-k", k],
         ["hierarchy", "--max-size", k], ["path"], ["info"])
    )  # fmt: skip
    line = [words[0], str(source), *words[1:], *chance.choice(([], ["-q"]))]
    line += ["-o", str(target)] if words[0] not in ("info", "path", "hierarchy") else []
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(line)
        except SystemExit as stop:
            code = stop.code
    check(code in (0, 1, 2), f"{line}: exit code {code}")
    last = err.getvalue().strip().splitlines()[-1:] or [""]
    check(code == 0 or ("graphclust" in last[0] and "Traceback" not in err.getvalue()), f"{line}: {err.getvalue()}")
    check(code == 0 or not target.exists(), f"{line}: a failed run leaves a file")
    return f"{words[0]}: {code}"


def points(chance: random.Random, folder: pathlib.Path) -> str:
    """Points of any scale, with copies: as many labels as points, the same on one thread, the input as it was."""
    rng = np.random.default_rng(chance.randrange(2**32))
    n, d, k = chance.randrange(2, 600), chance.randrange(1, 8), chance.randrange(1, 6)
    X = rng.normal(size=(n, d)) * 10.0 ** chance.randrange(-6, 7)
    if chance.random() < 0.3:
        X = X[rng.integers(0, n, n) // 4]
    name, options = chance.choice(
        (("kmeans", {"k": k}), ("minibatch_kmeans", {"k": k, "batch_size": 64}), ("kernel_kmeans", {"k": k}),
         ("spherical_kmeans", {"k": k}), ("knn_graph", {"n_neighbors": k}))
    )  # fmt: skip
    before = X.tobytes()
    found, again = (ask(X, name, {**options, "rng": 3}, threads=t) for t in (2, 1))
    check(X.tobytes() == before, "points have changed")
    if isinstance(found, str):
        check(found == again, "another refusal on one thread")
        return f"{name} refused"
    if name == "knn_graph":
        check(found.n_nodes == n and abs(found.to_scipy() - again.to_scipy()).sum() == 0, "another graph on one thread")
        return name
    check(found.labels.shape == (n,) and 0 <= found.labels.min() <= found.labels.max() < k, "labels out of range")
    check((found.labels == again.labels).all(), f"other labels of {name} on one thread")
    return name


TRIES: dict[str, Callable[[random.Random, pathlib.Path], str]] = {
    "partitions": partitions, "edits": edits, "files": files, "kills": kills, "interrupts": interrupts,
    "memory": memory, "budgets": budgets, "threads": threads, "forks": forks, "commands": commands, "points": points,
}  # fmt: skip
