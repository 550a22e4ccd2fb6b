"""Files of compiled loops that were cut short, emptied or changed: every one is found, and compiled again."""

import os
import pathlib
import pty
import shutil
import subprocess
import sys

import pytest
from compile_records import JOIN_NEIGHBORS, record_compiles
from compile_records import LOOPS as JOINED

from graphclust.compiled.runtime.checked_cache import CheckedFiles

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")

# One loop is called with two types of numbers.
SCRIPT = record_compiles(
    JOIN_NEIGHBORS
    + """
from graphclust.compiled.text import node_ids
table = np.full(8, node_ids.EMPTY)
for ids in (np.array([5, 6, 5]), np.array([7, 7, 5], np.int32)):
    n_new = node_ids.insert(ids, np.uint64(3), np.uint64(61), table)
assert n_new == 1
"""
)
LOOPS = sorted([*JOINED, "insert", "insert"])


def compiled(folder: pathlib.Path, script: str = SCRIPT, **environment) -> list[str]:
    """The loops that a new process compiles, which uses this folder."""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment},
    )  # fmt: skip
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    return ended.stdout.split()


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> pathlib.Path:
    """A folder with the loops of the script."""
    folder = tmp_path_factory.mktemp("loops") / "whole"
    assert sorted(compiled(folder)) == LOOPS
    assert compiled(folder) == []
    return folder


def flipped(content: bytes) -> bytes:
    """With one bit changed, in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGE = {
    "half": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "changed": flipped,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage", [pytest.param(name, marks=[pytest.mark.slow] if name != "changed" else []) for name in DAMAGE]
)
def test_damaged_files_are_replaced_once(whole, tmp_path, damage):
    folder = tmp_path / "damaged"
    shutil.copytree(whole, folder)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 2 * len(set(LOOPS)) + 1
    for path in files:
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert sorted(compiled(folder)) == LOOPS
    assert compiled(folder) == []
    assert {path.name for path in folder.rglob("*")} == {path.name for path in whole.rglob("*")}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", ["changed"])
def test_one_damaged_file_costs_one_loop(whole, tmp_path, kind, damage):
    folder = tmp_path / "damaged"
    shutil.copytree(whole, folder)
    path = next(folder.rglob(f"node_ids.insert*.{kind}"))
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert set(compiled(folder)) == {"insert"} and compiled(folder) == []


@pytest.mark.parametrize("step", ["_load_index", "_save_index", "_save_data"])
@pytest.mark.parametrize("before", [True, False])
def test_two_processes_that_save_at_a_time_do_not_mix_up_their_types(tmp_path, step, before):
    ours, theirs, reader = (CheckedFiles(str(tmp_path), "loop", ("when", "size")) for _ in range(3))
    ours._load_index = dict  # read when nothing was there yet
    proceed = getattr(theirs, step)

    def interrupted(*arguments):
        if before:
            ours.save("of integers", "adds integers")
        result = proceed(*arguments)
        if not before:
            ours.save("of integers", "adds integers")
        return result

    setattr(theirs, step, interrupted)
    theirs.save("of floats", "adds floats")
    found = reader.load("of integers"), reader.load("of floats")
    # An entry may be lost, and is never another's.
    assert found[0] in (None, "adds integers") and found[1] in (None, "adds floats") and found != (None, None)
    for name, content in (("of integers", "adds integers"), ("of floats", "adds floats")):
        reader.save(name, content)
    assert (reader.load("of integers"), reader.load("of floats")) == ("adds integers", "adds floats")


@pytest.mark.slow
def test_loops_of_others_are_cached_as_ever(tmp_path):
    (tmp_path / "theirs.py").write_text("from numba import njit\n@njit(cache=True)\ndef double(x):\n    return 2 * x\n")
    script = (
        "import graphclust.compiled, theirs\nassert theirs.double(2) == 4\n"
        "from numba.core.caching import FunctionCache\nassert type(theirs.double._cache) is FunctionCache\n"
        "print('double ' * sum(theirs.double.stats.cache_misses.values()))"
    )
    paths = os.pathsep.join([str(tmp_path), str(pathlib.Path(__file__).parents[2])])
    assert [compiled(tmp_path / "c", script, PYTHONPATH=paths) for _ in range(2)] == [["double"], []]


@pytest.mark.slow
def test_a_disk_without_room_does_not_stop_the_work(whole, tmp_path):
    script = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n" + SCRIPT
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "full")},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "compiled loops cannot be kept in" in ended.stderr and "NUMBA_CACHE_DIR" in ended.stderr
    assert [path for path in tmp_path.rglob("*") if "tmp" in path.name] == []


IMPATIENT = "from graphclust.compiled.runtime import compile_notice\ncompile_notice.PATIENCE = 0.0\n"


def on_a_terminal(folder: pathlib.Path) -> str:
    """What a process says on stderr where that is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", IMPATIENT + SCRIPT], stdout=subprocess.DEVNULL, stderr=theirs,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
    ) as child:  # fmt: skip
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 1000):
                text += piece
        except OSError:  # how the end of a terminal is told
            pass
    os.close(ours)
    assert child.returncode == 0
    return text.decode()


@pytest.mark.slow
def test_the_first_call_ever_says_on_a_terminal_that_it_compiles(tmp_path):
    said = on_a_terminal(tmp_path)
    assert said.count("graphclust: compiling its loops, once") == 1 and said.count("\n") == 1
    assert on_a_terminal(tmp_path) == ""
