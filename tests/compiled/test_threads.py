"""Threads: the same labels on any number of them, and limits of control groups and of the environment, as of memory."""

import json
import os
import subprocess
import sys

import networkx as nx
import pytest
from cases import refuses

import graphclust
from graphclust import limit_threads
from graphclust.compiled.runtime.blocks import default_threads, most_threads, n_threads, quotas
from graphclust.errors import ParameterError
from graphclust.io.container_limits import available_bytes, container_memory
from graphclust.objective.objective import OBJECTIVES

# Two blocks of entries, and clusters that can hardly be found: a sum that is rounded otherwise changes some label.
THREADS_SCRIPT = """
import warnings, hashlib, json, sys
warnings.simplefilter("ignore")
import graphclust, numpy as np
blocks = graphclust.planted_partition(30, 2000, 14, 22, degree_exponent=2.5, rng=5)
assert blocks.graph.n_entries > 1 << 20
for options in json.loads(sys.argv[1]):
    if "coreset" in options:
        options["coreset"] = graphclust.Coreset(**options["coreset"])
    labels = graphclust.coreset_sc(blocks.graph, 30, rng=11, **options).labels
    print(hashlib.sha256(labels.tobytes()).hexdigest())
"""
BY_DEGREE = [name for name, one in OBJECTIVES.items() if one.by_degree]
USUAL = [{}, {"method": "two-step", "coreset": {"size": 3000}}]
FURTHER = [
    {"objective": "normalized_cut"},
    {"method": "paper", "coreset": {"embedding": "power", "size": 3000}},
    {"method": "paper", "coreset": {"embedding": "eigsh", "size": 3000}},
    {"method": "paper", "coreset": {"sampling": "parallel", "size": 3000}},
    *({"method": "two-step", "coreset": {"sampling": "parallel"}, "objective": name} for name in BY_DEGREE),
    *({"method": "multilevel", "objective": name} for name in OBJECTIVES if name not in BY_DEGREE),
    *({"method": "two-step", "objective": name} for name in OBJECTIVES),
]


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="too large for plain Python")
@pytest.mark.slow
@pytest.mark.parametrize("options", [USUAL, FURTHER], ids=["usual", "further"])
def test_same_labels_on_one_and_two_threads(options):
    outputs = set()
    for numba_threads, blas_threads in (("1", "1"), ("2", "1"), ("1", "2")):
        environment = {**os.environ, "NUMBA_NUM_THREADS": numba_threads, "OPENBLAS_NUM_THREADS": blas_threads,
                       "OMP_NUM_THREADS": blas_threads, "MKL_NUM_THREADS": blas_threads}  # fmt: skip
        run = subprocess.run(
            [sys.executable, "-c", THREADS_SCRIPT, json.dumps(options)],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        outputs.add(run.stdout)
    assert len(outputs) == 1
    labels = outputs.pop().split()
    assert len(labels) == len(options)
    assert len(set(labels)) > len(options) // 2  # methods and objectives that are told apart


@pytest.mark.slow
def test_processes_of_joblib_give_the_same_labels_and_use_the_threads_left_to_them():
    joblib = pytest.importorskip("joblib")
    graph, call = nx.les_miserables_graph(), joblib.delayed(graphclust.communities)
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1), joblib.Parallel(n_jobs=2) as run:
        found = run(call(graph, rng=seed) for seed in range(4))
        assert run(joblib.delayed(n_threads)() for _ in range(4)) == [1] * 4
    here = [graphclust.communities(graph, rng=seed) for seed in range(4)]
    assert [one.labels.tolist() for one in found] == [one.labels.tolist() for one in here]


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return str(root)


TWO, ONE = "sys/fs/cgroup", "sys/fs/cgroup/memory"
UNLIMITED = "9223372036854771712\n"
IN_USE = {f"{TWO}/memory.max": "700\n", f"{TWO}/memory.current": "300\n"}


@pytest.mark.parametrize(
    ("groups", "files", "limit"),
    [
        ("0::/a/b\n", {f"{TWO}/a/b/memory.max": "500\n", f"{TWO}/a/memory.max": "max\n"}, 500),
        ("0::/a/b\n", {f"{TWO}/a/b/memory.max": "max\n", f"{TWO}/a/memory.max": "300\n"}, 300),  # of a group above
        ("0::/a/b\n", {f"{TWO}/a/b/memory.max": "500\n", f"{TWO}/a/memory.max": "300\n"}, 300),
        ("0::/\n", {f"{TWO}/memory.max": "700\n"}, 700),
        ("0::/machine/only\n", {f"{TWO}/memory.max": "700\n"}, 700),  # a path that the container cannot see
        ("0::/\n", IN_USE, 400),  # what is used counts
        ("0::/\n", IN_USE | {f"{TWO}/memory.stat": "anon 9\ninactive_file 80"}, 480),
        ("0::/\n", {f"{TWO}/memory.max": "max\n"}, None),
        ("0::/\n", {}, None),
        (
            "5:cpu,memory:/a\n0::/\n",
            {f"{ONE}/a/memory.limit_in_bytes": "400\n", f"{ONE}/memory.limit_in_bytes": UNLIMITED}
            | {f"{ONE}/a/memory.usage_in_bytes": "150", f"{ONE}/a/memory.stat": "total_inactive_file 50"},
            300,
        ),
        ("5:cpu:/a\n", {f"{ONE}/a/memory.limit_in_bytes": "400\n"}, None),
        ("5:memory:/a\n", {f"{ONE}/a/memory.limit_in_bytes": "no number"}, None),
    ],
)
def test_the_least_limit_of_the_group_and_of_those_above_it_counts(tmp_path, groups, files, limit):
    assert container_memory(write(tmp_path, {"proc/self/cgroup": groups} | files)) == limit


def test_without_control_groups_there_is_no_limit(tmp_path):
    assert container_memory(str(tmp_path)) is None


def test_a_limit_below_what_the_machine_has_is_what_is_available(monkeypatch):
    before = available_bytes()
    monkeypatch.setattr("graphclust.io.container_limits.container_memory", lambda: 1 << 20)
    assert available_bytes() == 1 << 20 < before


@pytest.mark.parametrize(
    ("groups", "files", "found"),
    [
        ("0::/a\n", {f"{TWO}/a/cpu.max": "150000 100000\n", f"{TWO}/cpu.max": "max 100000\n"}, [1.5]),
        ("0::/a\n", {f"{TWO}/a/cpu.max": "300000 100000\n", f"{TWO}/cpu.max": "200000 100000\n"}, [3.0, 2.0]),
        ("1:cpu:/a\n", {f"{TWO}/cpu/a/cpu.cfs_quota_us": "50000", f"{TWO}/cpu/a/cpu.cfs_period_us": "100000"}, [0.5]),
        ("1:cpu:/\n", {f"{TWO}/cpu/cpu.cfs_quota_us": "-1", f"{TWO}/cpu/cpu.cfs_period_us": "100000"}, []),
        ("1:cpuset:/a\n", {}, []),
    ],
)
def test_quotas_are_those_of_the_group_and_of_those_above_it(tmp_path, groups, files, found):
    assert list(quotas(write(tmp_path, {"proc/self/cgroup": groups} | files))) == found


@pytest.fixture
def environment(monkeypatch):
    """The environment without any word of threads; what was read of it is forgotten before and after."""
    for name in ("GRAPHCLUST_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    default_threads.cache_clear()
    yield monkeypatch
    default_threads.cache_clear()


@pytest.mark.parametrize(
    ("ours", "usual", "n"),
    [(None, "3", 3), (None, "3,2", 3), (None, "64", 8), (None, "all", 8), ("5", "3", 5), ("64", None, 8), ("", "2", 2)],
)
def test_our_variable_goes_before_the_usual_one_and_neither_above_the_processors(environment, ours, usual, n):
    environment.setattr("graphclust.compiled.runtime.blocks.quotas", lambda: iter(()))
    for name, value in (("GRAPHCLUST_NUM_THREADS", ours), ("OMP_NUM_THREADS", usual)):
        if value is not None:
            environment.setenv(name, value)
    assert default_threads(8) == n
    environment.setenv("NUMBA_NUM_THREADS", "8")
    default_threads.cache_clear()
    assert default_threads(8) == (n if ours else 8)


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5"])
def test_an_impossible_number_in_our_variable_is_named(environment, value):
    environment.setenv("GRAPHCLUST_NUM_THREADS", value)
    refuses(ValueError, r"GRAPHCLUST_NUM_THREADS=.* expected a whole number >= 1", default_threads, 8)


def test_a_limit_lasts_as_long_as_its_block_and_goes_before_the_environment(environment):
    before, most = n_threads(), most_threads()
    with pytest.raises(RuntimeError), limit_threads(1):
        assert n_threads() == 1
        raise RuntimeError
    assert n_threads() == before
    environment.setenv("OMP_NUM_THREADS", "1")
    with limit_threads(most):
        assert n_threads() == most
    for n in (0, most + 1):
        refuses(ParameterError, f"n={n} is out of range", limit_threads, n)
