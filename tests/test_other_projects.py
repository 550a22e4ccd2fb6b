"""Other projects' own tests pass on our functions and estimators, but for those that are listed with a reason."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from other_projects import matches

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
        "SCIPY_ARRAY_API": "1",  # some versions of scikit-learn's tests insist
    }  # fmt: skip
    command = [sys.executable, "-m", "pytest", "-q", "-p", "other_projects", "-p", "no:cacheprovider", "--tb=short"]
    done = subprocess.run(
        [*command, "-c", str(tmp_path / "pytest.ini"), "--pyargs", *MODULES[suite]],
        cwd=tmp_path, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert json.loads(counts.read_text())["passed"] >= 5


def test_an_entry_names_all_parametrizations_some_or_the_form_without():
    names = ["test_a", "test_a[1-x]", "test_a[2-x]", "test_ab[1-x]"]
    listed = {"test_a": names[:3], "test_a[1*": names[1:2], "test_a[*x]": names[1:3], "test_a[]": names[:1]}
    for pattern, found in listed.items():
        assert [name for name in names if matches(pattern, name)] == found
