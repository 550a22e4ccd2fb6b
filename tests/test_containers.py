"""The commands of docs/guide/containers.md, by a user without a name or a home, where nothing can be written."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import pytest
from boxes import open_to_all, run_boxed

import graphclust

pytestmark = [
    pytest.mark.hours,  # an image with all loops compiled, and every command of the page in six boxes
    pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled"),
]
PAGE = pathlib.Path(__file__).parents[1] / "docs" / "guide" / "containers.md"
PACKAGE = pathlib.Path(graphclust.__file__).parent
COMMAND = re.compile(r"^docker run --rm (?P<options>.*?)graphclust (?P<words>.*?)(?: < \S+)?(?: > \S+)?$", re.MULTILINE)


@pytest.fixture(scope="module")
def image() -> Iterator[pathlib.Path]:
    """A folder with the package and its loops, as the page builds an image; nobody but root can write to it.

    Not one of pytest's, which closes its folders to others whenever it is started, in another process too.
    """
    folder = pathlib.Path(tempfile.mkdtemp(prefix="graphclust-image-"))
    open_to_all(folder)
    shutil.copytree(PACKAGE, folder / "graphclust", ignore=shutil.ignore_patterns("__pycache__"))
    (into,) = re.findall(r"graphclust compile --into (\S+)$", PAGE.read_text(), re.MULTILINE)
    subprocess.run(
        [sys.executable, "-m", "graphclust", "compile", "--into", str(folder) + into],
        env={**os.environ, "NUMBA_CPU_NAME": "generic", "PYTHONPATH": str(folder)}, check=True, cwd=folder,
    )  # fmt: skip
    assert f"export GRAPHCLUST_LOOPS={into}\n" in PAGE.read_text()
    shutil.move(str(folder) + into, folder / "loops")
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("without", ["nothing compiled", "loops compiled ahead"])
def test_every_command_of_the_page_runs_in_a_box(image, without):
    commands = [(found["options"], found["words"]) for found in COMMAND.finditer(PAGE.read_text())]
    assert len(commands) > 1 and any("--read-only --user" in options for options, _ in commands)
    loops = {"GRAPHCLUST_LOOPS": str(image / "loops"), "GRAPHCLUST_NO_COMPILE": "1"}
    environment = loops if without == "loops compiled ahead" else {"GRAPHCLUST_LOOPS": "/nonexistent"}
    graph = "%%MatrixMarket matrix coordinate pattern symmetric\n60 57 57\n" + "".join(
        f"{u + 1} {v + 1}\n" for first in range(0, 60, 3) for u, v in ((first + 1, first), (first + 2, first))
    )
    graph = graph.replace("60 57 57", "60 60 40")
    for _, words in [*commands, ("", "--version"), ("", "info - < graph.mtx"), ("", "communities - -o -")]:
        ended = run_boxed(
            "-m", "graphclust", *words.split(" <")[0].split(), package=image / "graphclust", given=graph, **environment
        )
        assert ended.returncode == 0 and "Error" not in ended.stderr, (words, ended.stderr)
        assert ended.stdout
