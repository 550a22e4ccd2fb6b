"""Where compiled loops are kept when neither the package's folder nor the home folder can be written to."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from graphclust.compiled.runtime import cache_folder

PACKAGE = pathlib.Path(cache_folder.__file__).parents[2]


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_read_only_package_and_home(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "graphclust", ignore=shutil.ignore_patterns("__pycache__"))
    # Nobody, not even root, can make a folder where a file is.
    for folder in ("graphs", "runtime"):
        (tmp_path / "graphclust" / "compiled" / folder / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    (tmp_path / "temporary").mkdir()
    command = "from graphclust.compiled.graphs.gate import check_rows; print(check_rows.stats.cache_path)"
    environment = {**os.environ, "HOME": str(tmp_path / "home" / "user"), "TMPDIR": str(tmp_path / "temporary")}
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    result = subprocess.run(
        [sys.executable, "-c", command], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(str(tmp_path / "temporary" / "graphclust-"))


def test_a_folder_that_others_can_write_to_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_folder.tempfile, "tempdir", str(tmp_path))
    folder = cache_folder._private_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert cache_folder._private_folder() == folder
    folder.chmod(0o777)
    assert cache_folder._private_folder() != folder
