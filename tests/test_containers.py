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
from graphclust.compiled.runtime.loop_cache import fingerprint

pytestmark = [pytest.mark.slow, pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")]
FOLDER = pathlib.Path(__file__).parents[1]
PAGE = FOLDER / "docs" / "guide" / "containers.md"
PACKAGE = pathlib.Path(graphclust.__file__).parent
COMMAND = re.compile(r"^docker run --rm (?P<options>.*?)graphclust (?P<words>.*?)(?: < \S+)?(?: > \S+)?$", re.MULTILINE)
OTHERS = ["--version", "info -", "communities - -o -"]
GRAPH = "%%MatrixMarket matrix coordinate pattern symmetric\n60 60 40\n" + "".join(
    f"{u + 1} {v + 1}\n" for first in range(0, 60, 3) for u, v in ((first + 1, first), (first + 2, first))
)


@pytest.fixture(scope="module")
def image() -> Iterator[pathlib.Path]:
    """A folder with the package and the loops of the page's commands; nobody but root can write to it.

    The loops are those that the tests keep: to compile all of them, as `graphclust compile --into` does, takes minutes,
    and tests/compiled/test_compilation.py does it. The folder is not one of pytest's, which closes its folders to
    others whenever it is started, in another process too.
    """
    folder = pathlib.Path(tempfile.mkdtemp(prefix="graphclust-image-"))
    open_to_all(folder)
    shutil.copytree(PACKAGE, folder / "graphclust", ignore=shutil.ignore_patterns("__pycache__"))
    for words in commands():
        subprocess.run(
            [sys.executable, "-m", "graphclust", *words.split()], input=GRAPH, text=True, check=True, cwd=folder,
            stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(folder), "GRAPHCLUST_COMPILE": ""},
        )  # fmt: skip
    shutil.copytree(pathlib.Path(os.environ["NUMBA_CACHE_DIR"]) / fingerprint(), folder / "loops" / fingerprint())
    yield folder
    shutil.rmtree(folder)


def commands() -> list[str]:
    """What the page runs in containers, and three commands more."""
    found = list(COMMAND.finditer(PAGE.read_text()))
    assert len(found) > 1 and any("--read-only --user" in command["options"] for command in found)
    return [*(command["words"] for command in found), *OTHERS]


def test_every_command_of_the_page_runs_in_a_box(image):
    for words in commands():
        ended = run_boxed(
            "-m", "graphclust", *words.split(), package=image / "graphclust", given=GRAPH,
            GRAPHCLUST_LOOPS=str(image / "loops"), GRAPHCLUST_NO_COMPILE="1",
        )  # fmt: skip
        assert ended.returncode == 0 and "Error" not in ended.stderr, (words, ended.stderr)
        assert ended.stdout


def test_a_box_without_loops_needs_none_for_a_small_graph(image):
    """That loops are compiled there where they are needed is shown by `test_loop_cache.py`."""
    for words in commands():
        if words != "demo":  # whose graph is large: half a minute of compiling
            ended = run_boxed(
                "-m", "graphclust", *words.split(), package=image / "graphclust", given=GRAPH,
                GRAPHCLUST_LOOPS="/nonexistent",
            )  # fmt: skip
            assert (ended.returncode, ended.stderr) == (0, ""), words
            assert ended.stdout


def test_the_page_and_the_image_compile_into_the_folder_that_is_read():
    page, image = PAGE.read_text(), (FOLDER / "Dockerfile").read_text()
    (into,) = re.findall(r"^NUMBA_CPU_NAME=generic graphclust compile --into (\S+)$", page, re.MULTILINE)
    assert f"export GRAPHCLUST_LOOPS={into}\n" in page
    assert f"RUN NUMBA_CPU_NAME=generic graphclust compile --into {into}\nENV GRAPHCLUST_LOOPS={into}\n" in image
