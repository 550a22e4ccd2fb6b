"""What an error tells its reader to do can be done: the arguments, functions and options that it names are there.

Every public function is called with one argument wrong at a time, and so is every command.
"""

import builtins
import contextlib
import importlib
import inspect
import re
import shutil
import warnings

import networkx as nx
import numpy as np
import pytest
from cases import for_each
from scipy import sparse

import graphclust
from graphclust import as_graph, coreset_sc, d2_seeding, importance_sample
from graphclust.faces.cli import main as cli

GRAPH = nx.barbell_graph(5, 0)
LABELS = [0] * 5 + [1] * 5
POINTS = np.arange(24.0).reshape(12, 2) % 7
KERNEL = graphclust.NormalizedCutKernel.of(GRAPH)
SEEDS = d2_seeding(KERNEL, 4, rng=0)
CORESET = importance_sample(KERNEL, SEEDS, 6, rng=0)
CLUSTERING = coreset_sc(GRAPH, 2, rng=0)
TABLE = {"source": np.array([0, 1]), "target": np.array([1, 2])}


class Frame(dict):
    """What of a table needs no pandas."""

    @property
    def columns(self):
        return list(self)


def files(folder):
    """The paths of the calls below."""
    for name, text in {
        "g.csv": "source,target,weight\na,b,1\nb,c,2\n",
        "negative.csv": "source,target,weight\na,b,-1\nb,c,2\n",
        "negative.mtx": "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 -1\n3 2 1\n",
        "large.mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n900000000 900000000 1\n2 1\n",
        "wide.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n",
        "l.tsv": "node\tlabel\na\t0\nb\t1\n",
        "half.mtx": "1 2\n2 3\n",
    }.items():
        (folder / name).write_text(text)
    CLUSTERING.model().save(folder / "m.npz")
    graphclust.save_store(folder / "store", GRAPH)


def calls(folder):
    """Public function -> arguments that it takes."""
    graph, k, points = {"G": GRAPH}, {"k": 2}, {"X": POINTS, "k": 2}
    labels, kernels = graph | {"labels": LABELS}, {"K_or_X": POINTS, "k": 2, "max_iter": 1}
    return {
        "adjusted_mutual_information": {"labels": LABELS, "other": LABELS},
        "adjusted_rand_index": {"labels": LABELS, "other": LABELS},
        "element_centric_similarity": {"labels": LABELS, "other": LABELS},
        "v_measure": {"classes": LABELS, "labels": LABELS},
        "variation_of_information": {"labels": LABELS, "other": LABELS},
        "as_graph": graph,
        "block_power_embedding": {"B": as_graph(GRAPH).to_scipy(), "n_columns": 2},
        "block_sums": {"X": POINTS, "centroids": POINTS[:2]},
        "certainty": {"clustering": CLUSTERING},
        "classic_graph": {"name": "karate"},
        "cluster_coreset": {"induced": KERNEL.graph.to_scipy(), "weights": np.ones(10)} | k,
        "cluster_path": graph | {"ks": [2, 3]},
        "balanced_partition": graph | k,
        "communities": graph,
        "conductance": labels,
        "construct_coreset": {"kernel": KERNEL, "size": 6} | k,
        "convert_to_store": {"path": folder / "g.csv", "store": folder / "new"},
        "coreset_graph": {"kernel": KERNEL, "coreset": CORESET},
        "coreset_kernel_kmeans": kernels | {"coreset_size": 6},
        "coreset_quality": {"clustering": CLUSTERING},
        "coreset_sc": graph | k,
        "d2_seeding": {"kernel": KERNEL, "n_seeds": 4},
        "graph_facts": graph,
        "distance_seeding": points,
        "edge_cut": labels,
        "estimate_memory": graph | k,
        "extend_labels": {"kernel": KERNEL, "coreset": CORESET, "coreset_labels": np.zeros(len(CORESET.nodes), int)},
        "fast_spectral_clustering": graph | k,
        "fast_spectral_embedding": graph | k,
        "fetch_snap": {"name": "com-Amazon", "memory_limit": 1},
        "fetch_suitesparse": {"name": "Newman/karate", "memory_limit": 1},
        "graph_from_neighbors": {"indices": [[1], [0]]},
        "graph_from_table": {"table": Frame(TABLE)},
        "hierarchy": graph | {"max_size": 4},
        "importance_sample": {"kernel": KERNEL, "seeds": SEEDS, "size": 6},
        "kernel_coreset_quality": kernels | {"coreset_size": 6},
        "kernel_k_means_cost": labels,
        "kernel_kmeans": kernels,
        "kernel_kmeans_plusplus": {"K_or_X": POINTS, "n_seeds": 2},
        "kmeans": points,
        "kmeans_parallel": points,
        "kmeans_plusplus": points,
        "knn_graph": {"X": POINTS, "n_neighbors": 2},
        "lfr_like": {"n_nodes": 100, "mean_degree": 6.0, "mixing": 0.2},
        "load_graph": {"path": folder / "g.csv"},
        "load_model": {"path": folder / "m.npz"},
        "merge_clusters": graph | k,
        "minibatch_kernel_kmeans": kernels,
        "minibatch_kmeans": points,
        "modularity": labels,
        "well_connected": labels,
        "move_nodes": labels,
        "nearest_centroids": {"X": POINTS, "centroids": POINTS[:2]},
        "nearest_neighbor_kernel": {"X": POINTS, "n_neighbors": 2},
        "nearest_neighbors": {"X": POINTS, "n_neighbors": 2},
        "nested_minibatch_kmeans": points,
        "normalized_cut": labels,
        "normalized_mutual_information": {"labels": LABELS, "other": LABELS},
        "open_store": {"path": folder / "store"},
        "planted_partition": {"n_blocks": 2, "block_size": 10, "inside_degree": 4.0, "outside_degree": 1.0},
        "quotient_graph": labels,
        "read_labels": {"path": folder / "l.tsv"},
        "refine_partition": labels,
        "remap_labels": {"old": LABELS, "new": LABELS},
        "report_page": {"clustering": CLUSTERING},
        "sampling_probabilities": {"kernel": KERNEL, "seeds": SEEDS},
        "save_graph": {"path": folder / "new.csv"} | graph,
        "save_store": {"path": folder / "new_store"} | graph,
        "spectral_clustering": graph | k,
        "spectral_embedding": graph | k,
        "spherical_kmeans": points,
        "stochastic_block_model": {"sizes": [5, 5], "p": 0.5, "q": 0.1},
        "truncated_kernel_kmeans": kernels,
        "two_step_coreset_graph": {"kernel": KERNEL, "coreset": CORESET},
        "two_step_factor": {"kernel": KERNEL, "coreset": CORESET},
        "cluster_volumes": labels,
        "write_labels": {"path": folder / "new.tsv", "labels": LABELS},
        "write_report": {"file": folder / "new.html", "clustering": CLUSTERING},
    }  # fmt: skip


# Where anything is a truth value.
SPECIAL_ALONE = {"renormalize", "incremental", "greedy", "self_loops", "met_only", "overwrite", "return_info"}
BAD_FILES = ("negative.csv", "negative.mtx", "large.mtx", "wide.mtx", "half.mtx")
ELSEWHERE = {"cluster_anndata", "limit_threads"}  # the first needs anndata, the other takes a number alone


def wrong_values(folder, name):
    """What may be handed over for an argument of this name, and is no such thing."""
    anything = [] if name in SPECIAL_ALONE else ["nonsense", -1]
    bad_files = [str(folder / file) for file in BAD_FILES]
    matrix = np.ones((3, 3))
    asymmetric = np.array([[0.0, 1.0], [0.0, 0.0]])
    with_none = nx.Graph([(0, 1, {"weight": None})])
    graphs = [
        GRAPH.to_directed().__class__([(0, 1), (1, 2)]), asymmetric, -matrix, matrix * 1j, matrix * np.nan,
        np.ma.masked_array(matrix, matrix > 2), np.ones((3, 2)), Frame({"from": [0], "to": [1]}), [[0, 1], [1, 0]],
        nx.empty_graph(3), nx.Graph(), with_none, {0: [1]}, (0, 1), [(0, 1), (1, 2, 3)], [{"from": 0}],
        sparse.csr_array(asymmetric),
        *bad_files,
    ]  # fmt: skip
    points = [matrix * np.nan, np.ones(3), np.ones((0, 2)), [["a"]], sparse.csr_array(matrix), np.ones((2, 3)) * 1e200]
    special = {
        "G": graphs,
        "K_or_X": [*graphs, *points],
        "X": points,
        "K": [*points, asymmetric],
        "centroids": points,
        "init": points,
        "k": [0, 10**6, True, None],
        "n_neighbors": [0, 10**6],
        "labels": [[0], [-2] * 10, [0.5] * 10, [{0}, {1}], {0: 1}, [0, "a"] * 5],
        "other": [[0], {0: 1}, [{0}, {1}]],
        "path": [*bad_files, GRAPH],
        "source": [file for file in bad_files if "large" not in file],
        "weight": ["power", len],
        "coreset_size": [1, 10**9],
        "memory_limit": [1, 10],
        "rng": ["x", True],
        "ks": [[], 5, [0], [10**6]],
        "sample_weight": [[-1.0], -1.0, 0.0],
        "table": [Frame({"from": [0], "to": [1]})],
        "format": ["metis"],
    }  # fmt: skip
    return anything + special.get(name, [])


CALL = re.compile(r"([A-Za-z_][\w.]*)\(((?:[^()]|\([^()]*\))*)\)")
ARGUMENT = re.compile(r"(?<![\w.\"'-])([a-z]\w*)=(?![=\s])")
WORD = re.compile(r"(?<![\w.\"'(])([a-z]+(?:_[a-z]+)+)(?![\w\"'(])( (?:to|of) ([a-z_]+))?")


def signature_of(name):
    return inspect.signature(getattr(graphclust, name)).parameters


def faults(message, parameters, arguments, known):
    """What a message names that is not there."""
    found = []
    for name, inside in CALL.findall(message):
        head, *rest = name.split(".")
        if not rest and head in graphclust.__all__:
            missing = set(ARGUMENT.findall(inside)) - set(signature_of(head))
            found += [f"{name} takes no {argument}=" for argument in missing]
        elif not rest:
            found += [] if hasattr(builtins, head) else [f"there is no {name}()"]
        elif head in graphclust.__all__:
            found += [] if hasattr(getattr(graphclust, head), rest[0]) else [f"{head} has no {rest[0]}"]
        elif head in ("G", "X") or head in parameters:
            given = [*arguments.values(), np.ones(1), sparse.csr_array]
            found += [] if any(hasattr(value, rest[0]) for value in given) else [f"{head} has no {rest[0]}"]
        elif head in ("numpy", "networkx", "pandas", "scipy"):
            with contextlib.suppress(ImportError):
                found += [] if hasattr(importlib.import_module(head), rest[0]) else [f"there is no {name}()"]
        elif head != "scanpy":
            found.append(f"there is no {name}()")
    outside = CALL.sub("", message)
    found += [f"no argument {name}=" for name in ARGUMENT.findall(outside) if name not in parameters]
    words = WORD.findall(outside)
    for name in {name for name, *_ in words} & known - {*graphclust.__all__}:
        others = [function for word, _, function in words if word == name and function in graphclust.__all__]
        if name not in parameters and not any(name in signature_of(function) for function in others):
            found.append(f"no argument {name}")
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("remedies")
    files(place)
    return place


def test_every_public_function_is_called(folder):
    functions = {name for name in graphclust.__all__ if inspect.isfunction(getattr(graphclust, name))}
    assert functions == calls(folder).keys() | ELSEWHERE


@pytest.mark.slow
def test_what_an_error_names_is_there(folder, monkeypatch):
    monkeypatch.setenv("GRAPHCLUST_CACHE", str(folder / "cache"))
    monkeypatch.chdir(folder)  # "nonsense" is a path too
    known = {name for function in calls(folder) for name in signature_of(function)}
    found, n_errors = [], 0
    for function, arguments in calls(folder).items():
        for name in signature_of(function):
            for value in wrong_values(folder, name):
                given = arguments | {name: value}
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        getattr(graphclust, function)(**given)
                except Exception as problem:
                    n_errors += 1
                    wrong = faults(str(problem), signature_of(function), given, known)
                    found += [f"{function}({name}={value!r}): {fault}: {problem}" for fault in wrong]
                for made in [*folder.glob("new*"), *folder.glob("nonsense*")]:
                    shutil.rmtree(made) if made.is_dir() else made.unlink()
    assert n_errors > 1_000 and not found, "\n".join(found)


@for_each(
    ("message", "fault"),
    [
        ('expected weights >= 0, or pass weights="abs"', "no argument weights="),
        ('pass load_graph(path, absolute="yes")', "load_graph takes no absolute="),
        ("pass read_graph(path)", "there is no read_graph()"),
        ("pass G.to_unknown()", "G has no to_unknown"),
        ("pass numpy.matrix_of(G)", "there is no numpy.matrix_of()"),
        ("pass a larger memory_limit", "no argument memory_limit"),
    ],
)
def test_what_is_not_there_would_be_found(message, fault):
    known = {*signature_of("load_graph")}
    assert faults(message, signature_of("modularity"), {"G": GRAPH}, known) == [fault]
    right = (
        'pass load_graph(path, weights="abs"), G.to_undirected(), weight=None or a larger memory_limit to load_graph'
    )
    assert faults(right, signature_of("modularity"), {"G": GRAPH}, known) == []


COMMANDS = [
    "cluster {negative} -k 2", "cluster {negative_matrix} -k 2", "cluster {large} -k 2", "cluster {wide} -k 2",
    "cluster {half} -k 2", "cluster {missing} -k 2", "cluster {points} -k 2", "cluster karate -k 0",
    "cluster karate -k 99", "cluster karate -k 2 -o {labels}", "cluster karate -k 2 -o {folder}/l.unknown",
    "cluster karate -k 2 -o {folder}/p --html {folder}/p", "cluster karate -k 2 --html {labels}",
    "cluster karate -k 2 --seed -1", "cluster karate -k 2 --threads 9999", "cluster karate -k 2 --resolution 0",
    "cluster karate -k 2 --coreset-size 1", "cluster karate -k 2 --method paper --effort high",
    "cluster karate -k 2 --method multilevel --coreset-size 30", "cluster karate -k 2 --time-budget 0",
    "cluster karate -k 2 --objective normalized_cut --resolution 2", "cluster {graph} -k 2 --memory-limit 0",
    "cluster {graph} -k 2 --max-bytes 1", "cluster {graph} -k 2 --bipartite", "cluster {graph} -k 2 --format metis",
    "cluster suitesparse:no/such -k 2", "path karate --from 0", "path karate --to 99", "path karate --from 5 --to 2",
    "path {negative}", "info {wide}", "info {large}", "info {missing}", "info {negative_matrix}",
    "compare {labels} {graph}", "compare {labels} {missing}", "compare {labels} {labels} --graph {negative}",
    "communities {graph} --resolution 0", "communities {graph} --effort most", "communities {negative}",
    "convert {graph} {labels}", "convert {graph} {folder}/x.unknown", "convert {graph} {folder}/x.graph",
    "convert {graph} {folder}/x.txt", "convert {graph} - --to store", "convert {negative} {folder}/x.mtx",
    "knn {points} -k 0 -o {folder}/x.mtx", "knn {points} -k 99 -o {folder}/x.mtx", "knn {points} -o {folder}/x.unknown",
    "knn {missing} -o {folder}/x.mtx", "knn {graph} -o {folder}/x.mtx",
    "knn {points} -k 2 --n-probes 0 -o {folder}/x.mtx",
    "knn {points} -k 2 --metric precomputed -o {folder}/x.mtx", "demo --seed -1", "datasets nothing-like-this",
]  # fmt: skip


def test_every_option_that_the_command_line_names_is_one_of_the_command(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("GRAPHCLUST_CACHE", str(folder / "cache"))
    (commands,) = (action.choices for action in cli._parser()._actions if action.choices)
    np.savetxt(folder / "points.csv", POINTS[:, :2] + 0.5, delimiter=",")
    places = {
        "folder": folder, "graph": folder / "g.csv", "labels": folder / "l.tsv", "negative": folder / "negative.csv",
        "negative_matrix": folder / "negative.mtx", "large": folder / "large.mtx", "wide": folder / "wide.mtx",
        "half": folder / "half.mtx", "points": folder / "points.csv", "missing": folder / "missing.csv",
    }  # fmt: skip
    found, n_errors = [], 0
    for text in COMMANDS:
        words = text.format(**places).split()
        with contextlib.suppress(SystemExit):
            cli.main(words)
        said = capsys.readouterr().err
        n_errors += bool(said)
        known = {option for action in commands[words[0]]._actions for option in action.option_strings}
        found += [
            f"{text}: no {option}: {said}"
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", said)
            if option not in known
        ]
        found += [
            f"{text}: {name}= is Python's: {said}" for name in ARGUMENT.findall(CALL.sub("", said)) if name != "k"
        ]
        found += [f"{text}: a traceback: {said}" for word in ("Traceback", "fault of graphclust") if word in said]
    assert n_errors > 40 and not found, "\n".join(found)
