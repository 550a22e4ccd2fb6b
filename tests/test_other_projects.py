"""Other projects' own tests pass on our functions and estimators, but for those that are listed with a reason."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).parent
MODULES = {
    "k-means": ("sklearn.cluster.tests.test_k_means",),
    "spectral clustering": ("sklearn.cluster.tests.test_spectral",),
    "agreement": ("sklearn.metrics.cluster.tests.test_supervised",),
    "communities": ("networkx.algorithms.community.tests",),
}


@pytest.mark.slow
@pytest.mark.parametrize("suite", MODULES)
def test_their_tests_pass_on_ours(suite, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")  # none of this project's options
    counts = tmp_path / "counts.json"
    paths = [str(TESTS), str(TESTS.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(paths), "OTHER_PROJECTS_SUITE": suite, "OTHER_PROJECTS_COUNTS": str(counts),
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-q", "-p", "other_projects", "-p", "no:cacheprovider", "--tb=short"]
    done = subprocess.run(
        [*command, "-c", str(tmp_path / "pytest.ini"), "--pyargs", *MODULES[suite]],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert json.loads(counts.read_text())["passed"] >= 5
