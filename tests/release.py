"""Build what a release publishes, check it, and try it as a user gets it, without extras and outside of this folder.

    python tests/release.py FOLDER            # a source archive, and a wheel for every platform
    python tests/release.py FOLDER --loops    # a wheel with compiled loops, for this platform and version of Python

Needs `build`, `twine` and `check-wheel-contents`. The files are in FOLDER/dist then. Each is installed into an
environment of its own, FOLDER/wheel or FOLDER/source, where the demo runs and every public function is called once
(`public_calls.py`); with loops nothing may be compiled meanwhile. The source archive is unpacked too, and its tests are
found there. Ends with the exit code of the first failure.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
OURS = ("GRAPHCLUST_", "NUMBA_", "PYTHONPATH")  # settings of whoever builds, which nobody else has
FROM_THE_FIRST_CALL = {"GRAPHCLUST_COMPILE": "always", "GRAPHCLUST_NO_COMPILE": "1"}


def run(*command: object, more: dict[str, str] | None = None, folder: pathlib.Path = ROOT) -> None:
    """Run a command, and end with its exit code where that is none of success."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    words = [str(word) for word in command]
    print("$", *words, flush=True)
    code = subprocess.run(words, cwd=folder, env=inherited | (more or {})).returncode
    if code:
        raise SystemExit(code)


def build(dist: pathlib.Path, loops: bool) -> None:
    """The files, with their metadata and contents checked."""
    settings = {"NUMBA_CPU_NAME": "generic", "GRAPHCLUST_WHEEL_LOOPS": "1"} if loops else {}
    run(sys.executable, "-m", "build", *(["--wheel"] if loops else []), "--outdir", dist, more=settings)
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()))
    run(sys.executable, "-m", "check_wheel_contents", *dist.glob("*.whl"))


def scripts_of(environment: pathlib.Path) -> pathlib.Path:
    """The folder of its commands."""
    return environment / ("Scripts" if sys.platform == "win32" else "bin")


def try_out(file: pathlib.Path, environment: pathlib.Path, more: dict[str, str]) -> None:
    """Install a file, and use it without this folder and with another home."""
    run(sys.executable, "-m", "venv", environment)
    scripts = scripts_of(environment)
    run(scripts / "python", "-m", "pip", "install", "--quiet", file)
    empty, home = environment / "empty", environment.parent / "home"  # which is empty for the first of the files
    empty.mkdir()
    home.mkdir(exist_ok=True)
    shutil.copy(ROOT / "tests" / "public_calls.py", empty)
    settings = {"HOME": str(home), "USERPROFILE": str(home)}
    run(scripts / "graphclust", "demo", more=settings, folder=empty)
    run(scripts / "python", "public_calls.py", more=settings | more, folder=empty)


def collect(archive: pathlib.Path, environment: pathlib.Path) -> None:
    """Find the fast tests of an unpacked source archive: all that they import is in it, or in the extra "test"."""
    with tarfile.open(archive) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
        packed.extractall(environment)
    unpacked, python = environment / archive.name.removesuffix(".tar.gz"), scripts_of(environment) / "python"
    run(python, "-m", "pip", "install", "--quiet", f"{unpacked}[test]")
    run(python, "-m", "pytest", "-qq", "--collect-only", "-n", "0", folder=unpacked)


def main() -> None:
    """Read the arguments, build, and try."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--loops", action="store_true", help="compile loops into the wheel, which takes minutes")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    build(folder / "dist", arguments.loops)
    (wheel,) = (folder / "dist").glob("*.whl")
    try_out(wheel, folder / "wheel", FROM_THE_FIRST_CALL if arguments.loops else {})
    for archive in (folder / "dist").glob("*.tar.gz"):
        try_out(archive, folder / "source", {})
        collect(archive, folder / "source")


if __name__ == "__main__":
    main()
