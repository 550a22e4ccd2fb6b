"""Where compiled loops are kept when neither the package's folder nor the home folder can be written to."""

import os
import pathlib
import pickle
import shutil
import subprocess
import sys

import pytest
from numba import config

from graphclust.compiled.runtime import cache_folder
from graphclust.compiled.runtime.checked_cache import LoopCache

PACKAGE = pathlib.Path(cache_folder.__file__).parents[2]


def copy_without_folders(tmp_path):
    """The package where no loops can be kept beside it, nor in the home folder."""
    shutil.copytree(PACKAGE, tmp_path / "graphclust", ignore=shutil.ignore_patterns("__pycache__"))
    # Nobody, not even root, can make a folder where a file is.
    for folder in ("graphs", "points", "runtime", "text"):
        (tmp_path / "graphclust" / "compiled" / folder / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")


def run_there(command, tmp_path):
    """Run a command on that package, with a folder for temporary files."""
    environment = {**os.environ, "HOME": str(tmp_path / "home" / "user"), "TMPDIR": str(tmp_path / "temporary")}
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    return subprocess.run(
        [sys.executable, "-c", command], env=environment, cwd=tmp_path, capture_output=True, text=True
    )


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_read_only_package_and_home(tmp_path):
    copy_without_folders(tmp_path)
    (tmp_path / "temporary").mkdir()
    result = run_there(
        "from graphclust.compiled.graphs.csr_checks import check_rows; print(check_rows.stats.cache_path)", tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith(str(tmp_path / "temporary" / "graphclust-"))


NOWHERE = """
import tempfile

def nowhere(*arguments, **options):
    raise FileNotFoundError("No usable temporary directory found")

tempfile.gettempdir = tempfile.mkdtemp = nowhere
import graphclust
from graphclust.compiled.graphs.csr_checks import check_rows
print(check_rows.stats.cache_path, graphclust.as_graph([(0, 1)]).n_edges)
"""


@pytest.mark.slow
@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_without_any_folder_to_write_to_loops_work_and_are_not_kept(tmp_path):
    copy_without_folders(tmp_path)
    result = run_there(NOWHERE, tmp_path)
    assert result.stdout == "None 1\n", result.stderr


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> pathlib.Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(cache_folder.tempfile, "tempdir", str(folder))
    cache_folder.private_folder.cache_clear()
    yield folder
    cache_folder.private_folder.cache_clear()


def test_a_private_folder_that_others_can_write_to_is_not_used(temporary):
    folder = pathlib.Path(cache_folder.private_folder())
    assert folder.stat().st_mode & 0o777 == 0o700
    cache_folder.private_folder.cache_clear()
    assert cache_folder.private_folder() == str(folder)
    folder.chmod(0o777)
    cache_folder.private_folder.cache_clear()
    assert cache_folder.private_folder() != str(folder)


class Canary:
    def __reduce__(self):
        return os.mkdir, ("canary",)


def loop() -> None:
    """Has a cache."""


def plant(cache: LoopCache) -> None:
    """Put a pickle that runs something where the index of a loop is looked for."""
    pathlib.Path(cache._cache_file._index_path).write_bytes(pickle.dumps(Canary()))


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o757])
@pytest.mark.parametrize("where", ["the folder", "the folder of the file"])
def test_loops_are_not_loaded_from_a_folder_that_every_user_can_write_to(tmp_path, monkeypatch, temporary, mode, where):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "loops"))
    own = LoopCache(loop)
    plant(own)
    wide_open = tmp_path / "loops" if where == "the folder" else pathlib.Path(own.cache_path)
    wide_open.chmod(mode)
    with pytest.warns(RuntimeWarning, match=rf"{wide_open}, to which every user can write.*NUMBA_CACHE_DIR"):
        cache = LoopCache(loop)
    assert cache._cache_file._load_index() == {} and not os.path.exists("canary")
    assert cache.cache_path.startswith(str(temporary / "graphclust-"))
    cache._impl.locator.ensure_cache_path()
    cache._cache_file.save("key", "machine code")
    assert LoopCache(loop)._cache_file.load("key") == "machine code", "said once, and kept elsewhere"
    wide_open.chmod(0o755)
    with pytest.raises(FileExistsError):  # the canary can sing, from a folder that is trusted
        os.mkdir("canary")
        LoopCache(loop)._cache_file._load_index()


def test_loops_of_another_user_are_not_loaded(tmp_path, monkeypatch, temporary):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "loops"))
    path = LoopCache(loop).cache_path
    stranger = os.stat(path).st_uid + 7
    assert cache_folder.fault_of_cache(path) is None
    facts = os.stat
    monkeypatch.setattr(
        cache_folder.os, "stat", lambda name: facts(name) if str(name) == str(PACKAGE) else Owned(stranger)
    )
    assert cache_folder.fault_of_cache(path) == f"{tmp_path / 'loops'}, which belongs to another user"
    beside = os.path.join(PACKAGE, "compiled", "graphs", "__pycache__")
    assert cache_folder.fault_of_cache(beside) is None, "who owns the sources needs no loops"


class Owned:
    """A folder of a user, as the system describes it."""

    st_mode = 0o40755

    def __init__(self, st_uid: int):
        self.st_uid = st_uid
