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
from scipy import sparse
from soak_questions import ask, check, check_answer, check_sizes, draw_matrix, draw_question, in_a_form, labels_of

import graphclust as gc


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
    # by file: what writes it, and how many nodes there are in it
    writers: dict[str, tuple[Callable, Callable]] = {
        "g.mtx": (gc.save_graph, lambda path: gc.load_graph(path).n_nodes),
        "s": (gc.save_store, lambda path: gc.open_store(path).n_nodes),
        "l.json": (
            lambda path, G, **how: gc.write_labels(path, np.arange(G.n_nodes) % 3, **how),
            lambda path: len(gc.read_labels(path)[0]),
        ),
        "m.npz": (
            lambda path, G, **how: gc.communities(G, rng=0).model().save(path, **how),
            lambda path: len(gc.load_model(path).labels),
        ),
    }
    path = folder / chance.choice((*writers,))
    save, count = writers[path.name]

    def write(new: int) -> None:
        save(path, matrices[new], overwrite=True)

    write(0)
    status, said = in_a_child(lambda: write(1), kill_after=chance.uniform(0, 0.03))
    check(status in (0, signal.SIGKILL), f"a writer ended with {status}: {said}")
    check(count(path) in (matrices[0].n_nodes, matrices[1].n_nodes), "neither the old file nor the new one")
    write(1)
    check(count(path) == matrices[1].n_nodes, "not the new file")
    check(os.listdir(folder) == [path.name], f"left beside the file: {os.listdir(folder)}")
    return f"{path.name}, {'killed' if status else 'done before'}"


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
