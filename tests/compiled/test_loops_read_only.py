"""Loops that somebody else has compiled: read where none can be written, checked by content, refused from strangers."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from compile_records import JOIN_NEIGHBORS, LOOPS, record_compiles

from graphclust.compiled.runtime import cache_folder, checked_cache, fingerprint
from graphclust.compiled.runtime.cache_folder import fault_of_cache, folders_to_read
from graphclust.compiled.runtime.checked_cache import CheckedFiles
from graphclust.errors import ParameterError
from graphclust.faces.precompile import compile_ahead

pytestmark = pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")

PACKAGE = pathlib.Path(cache_folder.__file__).parents[2]
SOURCE = str(PACKAGE / "compiled" / "graphs" / "csr_checks.py")
NOBODY = 65534

SCRIPT = record_compiles(JOIN_NEIGHBORS)
INTO = "import sys\nfrom graphclust.compiled.runtime.cache_folder import keep_in\nkeep_in({folder!r})\n"
# Inside, the folder given is mounted so that nobody can write to it.
READ_ONLY = """
mount --make-rprivate / && mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1" && shift && exec "$@"
"""

# Inside, the process is another user's; a Python in a folder that is closed to others is where it was, and open.
AS_NOBODY = f"""
mount --make-rprivate / && closed=$1 base=$2 && shift 2
if [ -n "$closed" ]; then
  hold=$(mktemp -d) && mount --bind "$base" "$hold" && mount -t tmpfs -o mode=755 tmpfs "$closed" &&
  mkdir -p "$base" && mount --move "$hold" "$base" && rmdir "$hold"
fi
exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups "$@"
"""


def closed_part(path: pathlib.Path) -> str:
    """The uppermost folder on the way to a path that others may not enter; empty where there is none."""
    return next((str(part) for part in reversed(path.parents) if not part.stat().st_mode & 0o001), "")


CLOSED = closed_part(pathlib.Path(sys.base_prefix))
AS_ANOTHER = ("unshare", "--mount", "sh", "-c", AS_NOBODY, "sh", CLOSED, sys.base_prefix)
MOUNTED = ("unshare", "--mount", "sh", "-c", READ_ONLY, "sh")


def run(
    code: str, *, package: pathlib.Path = PACKAGE, folder: pathlib.Path | None = None, before: tuple[str, ...] = (),
    **environment: str,
) -> subprocess.CompletedProcess:  # fmt: skip
    """Run code with a package, and a folder that GRAPHCLUST_LOOPS names."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "HOME")}
    inherited |= {"PYTHONPATH": str(package.parent), "GRAPHCLUST_COMPILE": "always", "PYTHONDONTWRITEBYTECODE": "1"}
    if folder is not None:
        inherited["GRAPHCLUST_LOOPS"] = str(folder)
    return subprocess.run(
        [*before, sys.executable, "-c", code], env=inherited | environment, cwd=package.parent,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def compiled(*arguments, **options) -> list[str]:
    """The loops that a new process compiles."""
    ended = run(SCRIPT, *arguments, **options)
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr
    return sorted(ended.stdout.split())


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> pathlib.Path:
    """A folder with the loops of the script, made by this user; other users may read it."""
    folder = tmp_path_factory.mktemp("made")
    open_to_all(folder)
    assert sorted(run(INTO.format(folder=str(folder)) + SCRIPT).stdout.split()) == LOOPS
    return folder


def open_to_all(folder: pathlib.Path) -> None:
    """Let other users into a folder for tests, and into those that it is in."""
    for part in (folder, *folder.parents):
        if not part.stat().st_mode & 0o001:
            part.chmod(0o755)


@pytest.fixture
def package(tmp_path) -> pathlib.Path:
    """A copy of the package, of another age, beside which nothing is compiled, and nothing can be."""
    copy = tmp_path / "graphclust"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copyfile)
    for room in ("graphs", "points", "runtime", "text"):
        (copy / "compiled" / room / "__pycache__").write_text("")
    return copy


def nowhere(tmp_path: pathlib.Path) -> dict[str, str]:
    """An environment in which no folder of the user's can be made."""
    (tmp_path / "home").write_text("")
    return {"HOME": str(tmp_path / "home" / "user"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}


@pytest.mark.slow
def test_loops_are_read_from_the_folder_that_the_environment_names_whatever_the_times_of_files(made, package, tmp_path):
    for path in made.rglob("*"):
        os.utime(path, (0, 0))
    before = {path: path.read_bytes() for path in made.rglob("*") if path.is_file()}
    assert compiled(package=package, folder=made, **nowhere(tmp_path)) == []
    assert {path: path.read_bytes() for path in made.rglob("*") if path.is_file()} == before
    with open(package / "compiled" / "graphs" / "heap.py", "a") as source:
        source.write("# another version\n")
    assert compiled(package=package, folder=made, **nowhere(tmp_path)) == LOOPS, "by content, of all sources"


@pytest.mark.slow
def test_a_package_may_carry_its_loops(made, package, tmp_path):
    shutil.copytree(made, package / "compiled" / "cache")
    assert compiled(package=package, **nowhere(tmp_path)) == []


@pytest.mark.slow
def test_a_damaged_file_of_a_folder_that_is_only_read_stays_and_is_not_used(made, package, tmp_path):
    folder = tmp_path / "damaged"
    shutil.copytree(made, folder)
    (index,) = folder.rglob("csr_checks.flatten-*.nbi")
    index.write_bytes(index.read_bytes()[:-1])
    assert compiled(package=package, folder=folder, **nowhere(tmp_path)) == ["flatten"] and index.exists()


@pytest.mark.slow
def test_loops_that_root_has_made_are_read_by_another_user(made, package, tmp_path):
    home = nowhere(tmp_path)
    open_to_all(tmp_path)
    if not hasattr(os, "getuid") or os.getuid() or run("import numba", package=package, before=AS_ANOTHER).returncode:
        pytest.skip("no process of another user can be started")
    assert run("import os; print(os.getuid())", package=package, before=AS_ANOTHER).stdout == f"{NOBODY}\n"
    assert compiled(package=package, folder=made, before=AS_ANOTHER, **home) == []
    strange = tmp_path / "strange"
    shutil.copytree(made, strange)
    for path in (strange, *strange.rglob("*")):
        os.chown(path, NOBODY - 1, NOBODY)
    ended = run(SCRIPT, package=package, folder=strange, before=AS_ANOTHER, **home)
    assert sorted(ended.stdout.split()) == LOOPS
    assert f"compiled loops are not taken from {strange}, which belongs to another user" in ended.stderr


@pytest.mark.slow
def test_loops_are_read_from_a_read_only_mount_and_none_is_needed(made, package, tmp_path):
    mount = (*MOUNTED, str(tmp_path))
    if not shutil.which("unshare") or run("", before=mount).returncode:
        pytest.skip("nothing can be mounted here")
    shutil.copytree(made, tmp_path / "loops")
    for file in package.rglob("__pycache__"):
        file.unlink()
    there = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    ended = run("open('written', 'w')", package=package, before=mount, **there)
    assert "Read-only file system" in ended.stderr
    assert compiled(package=package, folder=tmp_path / "loops", before=mount, **there) == []
    assert compiled(package=package, before=mount, **there) == LOOPS


def test_the_folder_of_loops_bears_a_fingerprint_and_the_folder_told_is_the_only_one(monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPHCLUST_LOOPS", str(tmp_path))
    expected = os.path.join(tmp_path, fingerprint.fingerprint(), "graphs")
    assert (str(tmp_path), expected) in folders_to_read(SOURCE) and folders_to_read(__file__) == []
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    beside = str(PACKAGE / "compiled" / "graphs" / "__pycache__")
    assert (beside, beside) in folders_to_read(SOURCE)
    monkeypatch.setattr(cache_folder._Override, "into", str(tmp_path))
    assert folders_to_read(SOURCE) == [] and cache_folder.override_folder(SOURCE) == expected


def test_a_fingerprint_changes_with_any_source_with_the_compiler_and_with_its_settings(monkeypatch, tmp_path):
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "loop.py").write_text("1")
    monkeypatch.setattr(fingerprint, "_folder", lambda: tmp_path)
    compute = fingerprint.fingerprint.__wrapped__
    found = [compute()]
    (tmp_path / "room" / "loop.py").write_text("2")
    found.append(compute())
    monkeypatch.setenv("NUMBA_OPT", "1")
    found.append(compute())
    monkeypatch.setattr(fingerprint.importlib.metadata, "version", lambda name: "99")
    found.append(compute())
    assert len(set(found)) == 4
    os.utime(tmp_path / "room" / "loop.py", (0, 0))
    (tmp_path / "room" / "__pycache__").mkdir()
    assert compute() == found[-1], "neither times nor other files count"


FEATURES = "+avx,+sse2,-avx512f"


@pytest.mark.parametrize(
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
def test_a_loop_serves_on_processors_that_have_what_it_needs(tmp_path, made_for, serves):
    files = CheckedFiles(str(tmp_path), "loop", "stamp")
    key = ("types", ("linux", "own", FEATURES), ("code", "closure"))
    files.save((key[0], made_for, key[2]), "machine code")
    assert files.load(key) == ("machine code" if serves else None)
    assert files.load(("other types", *key[1:])) is None


@pytest.mark.parametrize("mode", [0o777, 0o775])
@pytest.mark.parametrize("part", ["root", "version", "room"])
def test_no_loop_is_read_from_below_a_folder_that_others_can_write_to(tmp_path, monkeypatch, mode, part):
    monkeypatch.setattr(cache_folder, "_is_private", lambda group, user: False)
    folders = {"root": tmp_path / "r", "version": tmp_path / "r" / "v", "room": tmp_path / "r" / "v" / "graphs"}
    folders["room"].mkdir(parents=True)
    root, room = str(folders["root"]), str(folders["room"])
    for folder in folders.values():
        folder.chmod(0o755)
    assert fault_of_cache(room, root) is None
    folders[part].chmod(mode)
    with pytest.warns(RuntimeWarning, match=rf"not taken from {re.escape(str(folders[part]))}, to which .* can write"):
        assert not checked_cache._is_trusted(room, root)


def test_a_file_that_every_user_can_write_to_is_not_read(tmp_path):
    tmp_path.chmod(0o755)
    files = CheckedFiles(str(tmp_path), "loop", "stamp")
    files.save("key", "machine code")
    for path in tmp_path.iterdir():
        path.chmod(0o666)
        with contextlib.suppress(checked_cache.Damaged):
            assert files.load("key") is None
        path.chmod(0o644)
    assert files.load("key") == "machine code"
    path.chmod(0o666)
    tmp_path.chmod(0o700)
    assert files.load("key") == "machine code", "nobody else can get at it"


def test_compiling_into_a_folder_after_loops_are_at_work_is_refused(tmp_path):
    cache_folder_before = cache_folder._Override.into
    from graphclust.compiled.runtime.loops import start_compiler

    start_compiler()
    with pytest.raises(ParameterError, match=r"into=.* in a process of its own"):
        compile_ahead(into=str(tmp_path))
    assert cache_folder._Override.into is cache_folder_before
