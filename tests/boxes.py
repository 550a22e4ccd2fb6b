"""Processes of another user, on a file system that nobody can write to: what a container may be."""

import functools
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

NOBODY = 4711  # a user without a name
# Inside, a Python in a folder that is closed to others is where it was, and open.
BOX = f"""
mount --make-rprivate / && closed=$1 base=$2 && shift 2
if [ -n "$closed" ]; then
  hold=$(mktemp -d) && mount --bind "$base" "$hold" && mount -t tmpfs -o mode=755 tmpfs "$closed" &&
  mkdir -p "$base" && mount --move "$hold" "$base" && rmdir "$hold"
fi
mount -o remount,ro,bind / && cd "$PYTHONPATH" && exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups "$@"
"""


def run_boxed(*command: str, package: pathlib.Path, given: str = "", **environment: str) -> subprocess.CompletedProcess:
    """Run Python with a package as a user without a name, a home or a folder to write to; skip where none can be."""
    open_to_all(package)  # pytest closes its folders whenever it starts
    return subprocess.run(
        [*_box(), sys.executable, *command], input=given, capture_output=True, text=True, timeout=300,
        env={"PYTHONPATH": str(package.parent), "PATH": os.defpath, **environment},
    )  # fmt: skip


@functools.cache
def _box() -> list[str]:
    """The command before one that runs in a box; skips the test where it runs nothing."""
    base = pathlib.Path(sys.base_prefix)
    closed = next((str(part) for part in reversed(base.parents) if not part.stat().st_mode & 0o001), "")
    box = ["unshare", "--mount", "sh", "-c", BOX, "sh", closed, str(base)]
    if sys.platform != "linux" or os.getuid() or not shutil.which("unshare") or not shutil.which("setpriv"):
        pytest.skip("no process of another user can be started")
    if subprocess.run([*box, sys.executable, "-c", "import numba"], capture_output=True, env={}).returncode:
        pytest.skip("nothing can be mounted here")
    return box


def open_to_all(folder: pathlib.Path) -> None:
    """Let other users into a folder for tests, and into those that it is in."""
    for part in (folder, *folder.parents):
        if not part.stat().st_mode & 0o001:
            part.chmod(0o755)
