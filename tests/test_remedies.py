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
from public_calls import ELSEWHERE, GRAPH, POINTS, Frame, calls, files
from scipy import sparse

import graphclust
from graphclust.faces.cli import main as cli

# Where anything is a truth value.
SPECIAL_ALONE = {"renormalize", "incremental", "greedy", "self_loops", "met_only", "overwrite", "return_info"}
BAD_FILES = ("negative.csv", "negative.mtx", "large.mtx", "wide.mtx", "half.mtx")


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
        "G": graphs, "K_or_X": [*graphs, *points], "X": points, "K": [*points, asymmetric], "centroids": points,
        "init": points, "k": [0, 10**6, True, None], "n_neighbors": [0, 10**6],
        "labels": [[0], [-2] * 10, [0.5] * 10, [{0}, {1}], {0: 1}, [0, "a"] * 5], "other": [[0], {0: 1}, [{0}, {1}]],
        "path": [*bad_files, GRAPH], "source": [file for file in bad_files if "large" not in file],
        "weight": ["power", len], "coreset_size": [1, 10**9], "memory_limit": [1, 10], "rng": ["x", True],
        "ks": [[], 5, [0], [10**6]], "sample_weight": [[-1.0], -1.0, 0.0], "table": [Frame({"from": [0], "to": [1]})],
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


@for_each("cluster", [graphclust.communities, lambda G: graphclust.coreset_sc(G, 2)])
def test_remedies_are_arguments_of_the_function_called_behind_a_wrapper_too(cluster):
    with pytest.raises(graphclust.GraphValidationError, match='pass kind="signed" if they repel, or pass weight=None'):
        cluster(np.array([[0, -1.0], [-1, 0]]))


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
