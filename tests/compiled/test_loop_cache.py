"""Compiled loops on the disk: checked by content, kept where that is allowed, refused from strangers."""

import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
from textwrap import indent

import pytest
from boxes import NOBODY, open_to_all, run_boxed
from cases import for_each, refuses

from graphclust.compiled.runtime import loop_cache
from graphclust.compiled.runtime.loops import start_compiler
from graphclust.errors import ParameterError
from graphclust.faces.precompile import compile_ahead

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")

# Calls loops that call others.
JOIN_NEIGHBORS = """
import numpy as np
from graphclust.compiled.graphs import components
parent, indptr, indices = np.arange(3), np.array([0, 1, 2, 2]), np.array([1, 0])
components.join_first_neighbors(0, 3, 2, indptr, indices, parent)
components.flatten(parent)
assert parent.tolist() == [0, 0, 2]
"""
LOOPS = ["flatten", "join", "join_first_neighbors", "root"]


def record_compiles(code: str) -> str:
    """The code as a script that prints what it compiles; a lambda, a plain function to the compiler, has no file."""
    return f"""
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
{indent(code, "    ")}
loops = [record.data["dispatcher"].py_func for _, record in recorder.buffer if record.is_start]
print(*(loop.__name__ for loop in loops if loop.__module__.startswith("graphclust") and loop.__name__ != "<lambda>"))
"""


PACKAGE = loop_cache.PACKAGE
SCRIPT = record_compiles(JOIN_NEIGHBORS)
INTO = "from graphclust.compiled.runtime.loop_cache import keep_in\nkeep_in({folder!r})\n"


def run(code: str, package: pathlib.Path = PACKAGE, **environment: str) -> subprocess.CompletedProcess:
    """Run code with a package in a process whose user has no folder but those of the environment."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "HOME")}
    own = {"PYTHONPATH": str(package.parent), "HOME": "/dev/null/home", "GRAPHCLUST_COMPILE": "always"}
    return subprocess.run(
        [sys.executable, "-c", code], env=inherited | own | environment, cwd=package.parent,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def compiled(**options) -> list[str]:
    """The loops that a new process compiles."""
    ended = run(SCRIPT, **options)
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    return sorted(ended.stdout.split())


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> pathlib.Path:
    """A folder with the loops of the script, made by this user; other users may read it."""
    folder = tmp_path_factory.mktemp("made")
    open_to_all(folder)
    assert sorted(run(INTO.format(folder=str(folder)) + SCRIPT).stdout.split()) == LOOPS
    return folder


@pytest.fixture
def package(tmp_path) -> pathlib.Path:
    """A copy of the package, of another age."""
    copy = tmp_path / "graphclust"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copyfile)
    open_to_all(tmp_path)
    return copy


@pytest.mark.slow
def test_damaged_files_are_replaced_and_cost_one_loop_each(made, tmp_path):
    folder = tmp_path / "damaged"
    shutil.copytree(made, folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert len(files) == len(LOOPS)
    whole = {path: path.read_bytes() for path in files}
    for path, damaged in zip(files, (lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b[:-1] + b"?"), strict=False):
        path.write_bytes(damaged(whole[path]))
    # A loop that is sound brings those that it calls.
    assert set(compiled(NUMBA_CACHE_DIR=str(folder))) and compiled(NUMBA_CACHE_DIR=str(folder)) == []
    assert sorted(path for path in folder.rglob("*") if path.is_file()) == files


@pytest.mark.slow
def test_a_disk_without_room_does_not_stop_the_work(tmp_path):
    full = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    ended = run(full + SCRIPT, NUMBA_CACHE_DIR=str(tmp_path))
    assert ended.returncode == 0 and "compiled loops cannot be kept in" in ended.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_loops_are_read_by_content_from_the_folder_that_is_named_and_from_the_package(made, package, tmp_path):
    for path in made.rglob("*"):
        os.utime(path, (0, 0))
    assert compiled(package=package, GRAPHCLUST_LOOPS=str(made), GRAPHCLUST_NO_COMPILE="1") == []
    shutil.copytree(made, package / "compiled" / "cache")
    assert compiled(package=package, NUMBA_CACHE_DIR=str(tmp_path / "own")) == []
    assert not (tmp_path / "own").exists(), "nothing was kept"
    with open(package / "compiled" / "graphs" / "heap.py", "a") as source:
        source.write("# another version\n")
    elsewhere = {"GRAPHCLUST_LOOPS": str(made), "HOME": str(tmp_path)}  # where no earlier run has kept this version
    refused = run(SCRIPT, package=package, GRAPHCLUST_NO_COMPILE="1", **elsewhere)
    assert re.search(r"components.* is not compiled for .*run `graphclust compile`", refused.stderr)
    assert compiled(package=package, **elsewhere) == LOOPS


@pytest.mark.slow
def test_a_user_without_name_home_or_folder_reads_loops_of_root_and_none_of_strangers(made, package, tmp_path):
    def boxed(folder: pathlib.Path) -> subprocess.CompletedProcess:
        return run_boxed("-c", SCRIPT, package=package, GRAPHCLUST_LOOPS=str(folder), GRAPHCLUST_COMPILE="always")

    ended = boxed(made)
    assert (ended.stdout.split(), ended.stderr) == ([], "")
    ended = boxed(tmp_path / "missing")
    assert sorted(ended.stdout.split()) == LOOPS and ended.stderr == ""
    strange = tmp_path / "strange"
    shutil.copytree(made, strange)
    for path in (strange, *strange.rglob("*")):
        os.chown(path, NOBODY - 1, NOBODY)
    ended = boxed(strange)
    assert sorted(ended.stdout.split()) == LOOPS
    assert re.search(rf"not taken from {strange}\S*, which belongs to another user", ended.stderr)


@pytest.fixture
def forgetful(monkeypatch):
    """What is remembered of folders is forgotten before and after."""

    def forget():
        for remembered in (loop_cache.root_to_keep, loop_cache.folders_to_read, loop_cache._warn_once):
            remembered.cache_clear()

    monkeypatch.setattr(loop_cache, "_Override", type("_Override", (), {"root": None}))
    forget()
    yield forget
    forget()


def test_loops_are_kept_in_the_first_folder_that_can_be_written_and_is_trusted(tmp_path, monkeypatch, forgetful):
    def kept() -> str | None:
        forgetful()
        return loop_cache.root_to_keep()

    (tmp_path / "file").write_text("")  # nobody, not even root, can make a folder in it
    monkeypatch.setattr(loop_cache.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    assert kept() == str(tmp_path / "named")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    assert kept() == str(tmp_path / "caches" / "graphclust" / "loops")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "caches"))
    private = tmp_path / "temporary" / f"graphclust-{os.getuid()}"
    assert kept() == str(private)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"], "nothing is made before a loop is kept"
    private.mkdir(parents=True)
    private.chmod(0o777)
    with pytest.warns(RuntimeWarning, match=rf"{private}, to which every user can write.*NUMBA_CACHE_DIR"):
        assert kept() is None
    monkeypatch.setattr(loop_cache.tempfile, "gettempdir", lambda: str(tmp_path / "file"))
    assert kept() is None
    for name in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(loop_cache.os.path, "expanduser", lambda path: path)  # a user without a name
    assert kept() is None


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
@pytest.mark.parametrize("part", ["root", "root/version", "root/version/graphs"])
def test_no_loop_is_read_from_below_a_folder_that_others_can_write_to(tmp_path, monkeypatch, mode, part):
    monkeypatch.setattr(loop_cache, "_is_private", lambda group, user: False)
    root, room = str(tmp_path / "root"), tmp_path / "root" / "version" / "graphs"
    room.mkdir(parents=True)
    for folder in (room, *room.parents[:2]):
        folder.chmod(0o755)
    assert loop_cache.fault_of(str(room), root) is None
    (tmp_path / part).chmod(mode)
    assert re.match(rf"{tmp_path / part}, to which .* can write", loop_cache.fault_of(str(room), root))


PROCESSOR = ("linux", "own", "+avx,+sse2,-avx512f")


class Canary:
    def __reduce__(self):
        return os.mkdir, ("canary",)


def test_a_file_is_read_if_it_is_whole_and_nobody_else_could_have_written_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, content = tmp_path / "loop", pickle.dumps((PROCESSOR, "machine code"))
    tmp_path.chmod(0o755)
    loop_cache._write(str(path), loop_cache._digest(content) + content)
    assert loop_cache._read(path, PROCESSOR) == "machine code"
    path.chmod(0o666)
    assert loop_cache._read(path, PROCESSOR) is None
    tmp_path.chmod(0o700)
    assert loop_cache._read(path, PROCESSOR) == "machine code", "nobody else can get at it"
    path.write_bytes(bytes(16) + pickle.dumps((PROCESSOR, Canary())))
    assert loop_cache._read(path, PROCESSOR) is None and not os.path.exists("canary")


@for_each(
    ("made_for", "serves"),
    [
        (("linux", "generic", ""), True),
        (("linux", "generic", "+sse2"), True),
        (("linux", "other", "+sse2,-avx"), True),
        (("linux", "generic", "+avx512f"), False),
        (("linux", "other", ""), False),  # what it needs is not said
        (("macos", "generic", ""), False),
    ],
)
def test_a_loop_serves_on_processors_that_have_what_it_needs(made_for, serves):
    assert loop_cache.serves(made_for, PROCESSOR) == serves


def test_a_fingerprint_changes_with_any_source_with_the_compiler_and_with_its_settings(monkeypatch, tmp_path):
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "loop.py").write_text("1")
    monkeypatch.setattr(loop_cache, "files", lambda package: tmp_path)
    compute = loop_cache.fingerprint.__wrapped__
    found = [compute()]
    (tmp_path / "room" / "loop.py").write_text("2")
    found.append(compute())
    monkeypatch.setenv("NUMBA_OPT", "1")
    found.append(compute())
    monkeypatch.setattr(loop_cache.importlib.metadata, "version", lambda name: "99")
    found.append(compute())
    assert len(set(found)) == 4
    os.utime(tmp_path / "room" / "loop.py", (0, 0))
    monkeypatch.setattr(loop_cache.sys, "version_info", (*sys.version_info[:2], 99))
    (tmp_path / "room" / "__pycache__").mkdir()
    assert compute() == found[-1], "neither times nor other files count, nor releases that only mend Python"


def test_compiling_into_a_folder_after_loops_are_at_work_is_refused(tmp_path):
    start_compiler()
    refuses(ParameterError, r"into=.* in a process of its own", compile_ahead, into=str(tmp_path))
    assert loop_cache._Override.root is None
