"""Every notebook runs from top to bottom as it is in the repository, and is kept there without outputs."""

import ast
import pathlib
import re

import pytest

import graphclust

NOTEBOOKS = sorted((pathlib.Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def nbformat():
    return pytest.importorskip("nbformat")


def test_there_are_notebooks():
    assert "01_sbm.ipynb" in [path.name for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_without_outputs(path, nbformat):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_notebook_takes_from_the_package_is_there(path, nbformat):
    """Names, not results: the slow test below runs it."""
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    trees = [ast.parse(re.sub(r"^\s*[%!].*", "", source, flags=re.MULTILINE)) for source in cells]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    taken = [
        alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "graphclust"
        for alias in node.names
    ]
    taken += [
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "graphclust"
    ]
    assert taken and [name for name in taken if not hasattr(graphclust, name)] == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_and_complains_of_nothing(path, nbformat, tmp_path):
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    assert any("image/png" in output.get("data", {}) for output in outputs)
