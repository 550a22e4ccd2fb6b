"""The pages of notebooks/recipes do what they say: code runs, and prints what stands below it.

A shell block runs through the command line's own entry. Where a page wants a download, a small graph stands in for it.
"""

import pathlib
import re
import shlex

import pytest

from graphclust import planted_partition, save_graph
from graphclust.faces.cli.main import main

RECIPES = pathlib.Path(__file__).parents[1] / "notebooks" / "recipes"
BLOCK = re.compile(r"^```(python|sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = {"scikit-learn": "sklearn", "scanpy": "scanpy"}


def stand_in_for_a_download(folder):
    """An archive as the collection has them: a folder with the matrix of the same name."""
    import tarfile

    if (folder / "minnesota.tar.gz").exists():
        return

    (folder / "minnesota").mkdir()
    save_graph(folder / "minnesota" / "minnesota.mtx", planted_partition(12, 60, 6.0, 0.3, rng=2).graph)
    with tarfile.open(folder / "minnesota.tar.gz", "w:gz") as archive:
        archive.add(folder / "minnesota", "minnesota")


def run(page, folder, monkeypatch, capsys):
    """Every block in turn; returns (code, printed, promised) of the Python ones."""
    monkeypatch.chdir(folder)
    names: dict = {}
    blocks = BLOCK.findall((RECIPES / f"{page}.md").read_text())
    ran = []
    for i, (kind, text) in enumerate(blocks):
        if kind == "sh":
            for line in text.splitlines():
                command, *arguments = shlex.split(line)
                assert command == "graphclust" and main(arguments) == 0, capsys.readouterr().err
        elif kind == "python":
            capsys.readouterr()
            exec(text, names)
            promised = blocks[i + 1][1] if blocks[i + 1 : i + 2] and blocks[i + 1][0] == "text" else ""
            ran.append((text, capsys.readouterr().out, promised))
    return ran


def check(page, folder, monkeypatch, capsys):
    if page in NEEDS:
        pytest.importorskip(NEEDS[page], reason=f"{NEEDS[page]} is not installed")
    if page == "suitesparse":
        stand_in_for_a_download(folder)
    ran = run(page, folder, monkeypatch, capsys)
    assert ran
    for code, printed, promised in ran:
        assert printed == promised, code


def test_there_is_a_test_for_each_page():
    pages = {"networkx", "suitesparse", "scikit-learn", "scanpy", "researchers"}
    assert {path.stem for path in RECIPES.glob("*.md")} == pages


@pytest.mark.slow
@pytest.mark.parametrize("page", ["networkx", "suitesparse", "scikit-learn", "researchers"])
@pytest.mark.filterwarnings("ignore")
def test_a_recipe_does_what_it_says(page, tmp_path, monkeypatch, capsys):
    check(page, tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("page", ["networkx", "suitesparse"])
@pytest.mark.filterwarnings("ignore")
def test_a_recipe_that_writes_files_can_be_run_again(page, tmp_path, monkeypatch, capsys):
    for _ in range(2):
        check(page, tmp_path, monkeypatch, capsys)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_recipe_of_single_cells_does_what_it_says(tmp_path, monkeypatch, capsys):
    check("scanpy", tmp_path, monkeypatch, capsys)
