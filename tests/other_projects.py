"""A pytest plugin that runs another project's tests on our functions and estimators.

It puts ours in the place of theirs before the tests are imported, runs the tests that use one of them and leaves out
the rest. A test that is listed in `other_projects_listed.py` must fail; every other one must pass. What came of them is
written as JSON to the file that the environment variable OTHER_PROJECTS_COUNTS names; the set of tests and what they
use is that of OTHER_PROJECTS_SUITE.
"""

import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import types
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
from other_projects_listed import LISTED

import graphclust
import graphclust.interop.scanpy
from graphclust.interop.seeds import as_rng


def modularity(G, communities, weight="weight", resolution=1):
    """By NetworkX's name and arguments, and with its self-loops."""
    options = {"weight": attribute(G, weight), "resolution": resolution}
    return graphclust.modularity(G, communities, self_loops="once" if G.is_directed() else "twice", **options)


def attribute(G, weight):
    """The attribute of the weights, None where no edge has it."""
    return weight if any(weight in attributes for *_, attributes in G.edges(data=True)) else None


def normalized_mutual_info_score(labels_true, labels_pred, *, average_method="arithmetic"):
    """By scikit-learn's name and arguments."""
    return graphclust.normalized_mutual_information(labels_true, labels_pred, average=average_method)


def adjusted_mutual_info_score(labels_true, labels_pred, *, average_method="arithmetic"):
    """By scikit-learn's name and arguments."""
    return graphclust.adjusted_mutual_information(labels_true, labels_pred, average=average_method)


def asyn_fluidc(G, k, max_iter=100, seed=None):
    """Exactly k communities: what `coreset_sc` is for."""
    return iter(graphclust.coreset_sc(G, k, weight=None, rng=as_rng(seed)).communities())


def louvain_communities(G, weight="weight", resolution=1, *, seed=None):
    """As many communities as `coreset_sc` suggests, where Louvain's are as many as modularity wants."""
    weight, resolution = attribute(G, weight), float(resolution)
    return graphclust.coreset_sc(G, weight=weight, resolution=resolution, rng=as_rng(seed)).communities()


# By suite, of each package the names that are replaced, and by what.
SWAPS: dict[str, dict[str, dict[str, Any]]] = {
    "k-means": {"sklearn.cluster": {"KMeans": graphclust.KMeans, "MiniBatchKMeans": graphclust.MiniBatchKMeans}},
    "spectral clustering": {"sklearn.cluster": {"SpectralClustering": graphclust.SpectralClustering}},
    "agreement": {
        "sklearn.metrics.cluster": {
            "adjusted_rand_score": graphclust.adjusted_rand_index,
            "adjusted_mutual_info_score": adjusted_mutual_info_score,
            "normalized_mutual_info_score": normalized_mutual_info_score,
        }
    },
    "communities": {
        "networkx.algorithms.community": {
            "modularity": modularity, "asyn_fluidc": asyn_fluidc, "louvain_communities": louvain_communities
        }
    },
    "cells": {"scanpy.tools": {"leiden": graphclust.interop.scanpy.leiden}},
}  # fmt: skip


class Swapped:
    """The plugin itself, for one suite."""

    def __init__(self, name: str, counts: str):
        self.listed, self.counts_file = LISTED[name], pathlib.Path(counts)
        self.ours: dict[str, Any] = {}
        self.counts: Counter[str] = Counter()
        for package, swaps in SWAPS[name].items():
            self.ours |= swaps
            for theirs, ours in swaps.items():
                setattr(importlib.import_module(package), theirs, ours)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the tests that use something of ours; expect those that are listed to fail."""
        kept = [item for item in items if self.uses_ours(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
        for item in items:
            for reason, patterns in self.listed.items():
                if any(matches(pattern, item.name) for pattern in patterns.split()):
                    item.add_marker(pytest.mark.xfail(reason=reason, strict=True))

    def uses_ours(self, item: Any) -> bool:
        """Whether a name that was replaced stands in the test's code or among its parameters."""
        parameters = getattr(item, "callspec", None)
        given = parameters.params.values() if parameters else ()
        return not self.ours.keys().isdisjoint(names(item.function.__code__)) or any(
            value is ours for value in given for ours in self.ours.values()
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count tests by what came of them."""
        if report.when == "call" or (report.skipped and report.when == "setup"):
            listed = hasattr(report, "wasxfail") or "[XPASS(strict)]" in str(report.longrepr)
            self.counts["listed" if listed else report.outcome] += 1

    def pytest_sessionfinish(self) -> None:
        """Hand over the counts."""
        self.counts_file.write_text(json.dumps(self.counts))


def names(code: types.CodeType) -> Iterator[str]:
    """All names that a function uses, and those within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names(constant)


def source_of(package: str, folder: pathlib.Path) -> pathlib.Path:
    """The unpacked source of the version that is installed, fetched; skips the test where it cannot be."""
    wanted = f"{package}=={version(package)}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", package, wanted]
    if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"the source of {wanted} cannot be fetched")
    with tarfile.open(next(folder.glob(f"{package}-*.tar.gz"))) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        archive.extractall(folder)
    return next(folder.glob(f"{package}-*/"))


def matches(pattern: str, name: str) -> bool:
    """Whether a test's name is that of the list, see there."""
    if "[" not in pattern:
        return name.split("[")[0] == pattern
    return re.fullmatch(re.escape(pattern.removesuffix("[]")).replace(r"\*", ".*"), name) is not None


def pytest_configure(config: pytest.Config) -> None:
    """Replace theirs before any test is imported."""
    suite = os.environ["OTHER_PROJECTS_SUITE"]
    config.pluginmanager.register(Swapped(suite, os.environ["OTHER_PROJECTS_COUNTS"]))
