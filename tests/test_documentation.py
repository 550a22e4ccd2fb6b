"""The pages that people read first: README, the site's sources, and what the project says of itself."""

import importlib
import inspect
import pathlib
import re
import shlex
import sys
import tomllib
from urllib.parse import urlsplit

import pytest

import graphclust

ROOT = pathlib.Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
MADE = {"_build", "gallery", "generated", "results", "jupyter_execute"}  # by the build
BLOCK = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="not a checkout")


def sources() -> list[pathlib.Path]:
    """Pages of the site that are written by hand."""
    found = [path for path in [*DOCS.rglob("*.md"), *DOCS.rglob("*.rst")] if not MADE & set(path.parts)]
    return [path for path in found if path.name != "command-line.md" and "_templates" not in path.parts]


def listed() -> list[str]:
    """Every name of the reference, with its module."""
    names = []
    for page in sorted((DOCS / "api").glob("*.rst")):
        module = ""
        for line in page.read_text().splitlines():
            if line.startswith(".. currentmodule:: "):
                module = line.split()[-1]
            elif line.startswith(".. py:data:: "):
                names.append(line.split()[-1])
            elif module and re.fullmatch(r"   \w+", line):
                names.append(f"{module}.{line.strip()}")
    return names


def test_the_reference_has_every_public_name_once():
    names = listed()
    assert sorted(name for name in names if names.count(name) > 1) == []
    public = {f"graphclust.{name}" for name in graphclust.__all__}
    others = ("faces.plots", "interop.graspologic", "interop.leidenalg", "interop.pyg", "interop.scanpy")
    for part in ("datasets", "distributed", *others):
        module = getattr(graphclust, part, None) or importlib.import_module(f"graphclust.{part}")
        for name in module.__all__:
            same = inspect.unwrap(getattr(graphclust, name, None)) is inspect.unwrap(getattr(module, name))
            if not same:  # else it is there already
                public.add(f"graphclust.{part}.{name}")
    assert set(names) ^ public == set()


def test_readme_is_short_and_begins_with_its_two_commands():
    text = README.read_text()
    assert len(text.splitlines()) <= 150
    first, second = [block for kind, block in BLOCK.findall(text)][:2]
    assert first.startswith("python3 -m venv") and first.endswith("graphclust demo\n")
    assert second.startswith("python3 -m venv") and second.endswith("-m pytest\n")


@pytest.mark.filterwarnings("ignore::graphclust.errors.GraphWarning")
@pytest.mark.slow
def test_the_examples_of_readme_run():
    pytest.importorskip("sklearn")
    names: dict = {}
    blocks = [block for kind, block in BLOCK.findall(README.read_text()) if kind == "python"]
    assert len(blocks) == 2
    for block in blocks:
        exec(block, names)
    assert names["clustering"].k == 6


def test_what_assistants_read_names_pages_and_calls_that_are_there():
    text = (DOCS / "llms.txt").read_text()
    for page in re.findall(r"\]\((\S+)\.html\)", text):
        assert any((DOCS / f"{page}.{kind}").exists() for kind in ("md", "rst")), page
    for name, arguments in re.findall(r"`graphclust\.(\w+)\(([^`]*?)\)", text):
        assert set(re.findall(r"(\w+)=", arguments)) <= inspect.signature(getattr(graphclust, name)).parameters.keys()


def test_code_of_the_site_is_run_by_its_build():
    """A page of code that only looks like code goes stale."""
    idle = [
        f"{page.relative_to(DOCS)}: {block.splitlines()[0]}"
        for page in sources()
        for kind, block in BLOCK.findall(page.read_text())
        if kind in ("python", "py", "pycon")
    ]
    assert idle == []


def commands() -> list[tuple[str, list[str]]]:
    """Every call of the command line on a page, with the name of the page."""
    found = []
    for page in [README, *sources()]:
        for kind, block in BLOCK.findall(page.read_text()):
            if kind in ("", "sh", "bash"):
                for line in block.splitlines():
                    found += [
                        (page.name, shlex.split(part.strip(), comments=True)[1:])
                        for part in line.split(" | ")
                        if part.strip().startswith("graphclust ")
                    ]
    return found


def test_commands_on_the_pages_are_ones_that_there_are():
    from graphclust.faces.cli.main import _parser

    assert len(commands()) > 10
    for _, arguments in commands():
        _parser().parse_args(arguments)  # exits where it does not know an option


def links(page: pathlib.Path) -> list[str]:
    text = BLOCK.sub("", page.read_text())
    return [found.split()[0] for found in re.findall(r"\]\(([^)]+)\)", text)]


def test_links_to_other_pages_lead_somewhere():
    pages = [README, ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "datasets" / "README.md", *sources()]
    pages += sorted((ROOT / "notebooks" / "recipes").glob("*.md"))
    broken = []
    for page in pages:
        for link in links(page):
            scheme, _, path, *_ = urlsplit(link)
            target = page.parent / path
            made = MADE & set(target.parts) or target.name == "command-line.md"
            if not scheme and path and not made and not target.exists():
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert broken == []


def test_tests_that_the_pages_name_are_there():
    marked = r"^((?:@[^\n]*\n(?:[ )\]}][^\n]*\n)*)*)def (test_\w+)"
    defined = {
        name: marks
        for path in (ROOT / "tests").rglob("test_*.py")
        for marks, name in re.findall(marked, path.read_text(), re.M)
    }
    promises = (DOCS / "promises.md").read_text()
    pages = [promises, *(path.read_text() for path in (DOCS / "mathematics").glob("*.md"))]
    named = {name for page in pages for name in re.findall(r"`(test_\w+)`", page)}
    assert len(named) > 100 and named - defined.keys() == set()
    assert [name for name in re.findall(r"`(test_\w+)`", promises) if "xfail" in defined[name]] == []
    lines = [line for line in promises.splitlines() if re.match(r"\| (?!---|promise )", line)]
    assert len(lines) > 30 and [line for line in lines if "`test_" not in line] == []


def test_one_version_and_one_set_of_floors():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {project['version']}\n" in citation and project["version"] == graphclust.__version__
    assert f"version = {{{graphclust.__version__}}}" in (DOCS / "guide" / "papers.md").read_text()
    oldest = (ROOT / ".github" / "oldest.txt").read_text()
    for requirement in project["dependencies"]:
        name, floor = requirement.partition(",")[0].split(">=")
        if name != "scipy":  # of which the tests need a newer one
            assert re.search(rf"^{name}=={re.escape(floor)}(\.0)*$", oldest, re.MULTILINE), requirement


def test_changelog_keeps_its_form():
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    versions = [line for line in lines if line.startswith("## ")]
    kinds = {line for line in lines if line.startswith("### ")}
    assert versions[0] == "## [Unreleased]"
    assert all(re.fullmatch(r"## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", line) for line in versions[1:])
    assert kinds <= {f"### {kind}" for kind in ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")}


def test_hosted_workflows_run_what_continuous_integration_runs():
    here = (ROOT / ".ci" / "run").read_text().replace(".venv/bin/", "").replace('"$elsewhere/release"', "release")
    workflows = [path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml")]
    ran = {command for text in workflows for command in re.findall(r"^ +- run: (.+)$", text, re.MULTILINE)}
    assert len(ran) > 8 and [command for command in ran if command not in here] == []
    for text in workflows:
        assert len(re.findall("^    runs-on: ", text, re.MULTILINE)) == len(
            re.findall("^    timeout-", text, re.MULTILINE)
        )
        uses = re.findall(r"^ +- uses: (\S+)$|^ +- uses: (\S+)  #", text, re.MULTILINE)
        assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", bare or marked) for bare, marked in uses)


@pytest.fixture
def docstrings(monkeypatch):
    """The extension that makes reStructuredText of docstrings."""
    monkeypatch.syspath_prepend(str(DOCS / "extensions"))
    import docstrings

    yield docstrings
    sys.modules.pop("docstrings")


DOCSTRING = """
    What it does to `G`.

    G, k : a graph; see `as_graph` for
        what is taken.
    n_iter : at most
    so many : and no more.

    Returns labels_ * 2 | 3.
    Raises ValueError.

    >>> f(1)
    2
"""


def test_docstrings_become_restructured_text(docstrings):
    lines = inspect.cleandoc(DOCSTRING).splitlines()
    assert docstrings.as_rst(lines) == [
        "What it does to :py:obj:`G`.", "",
        "**G**, **k**", "    a graph; see :py:obj:`as_graph` for what is taken.", "",
        r"**n\_iter**", "    at most so many : and no more.", "",
        r"**Returns** labels\_ \* 2 \| 3.  Raises ValueError.".replace("  ", " "), "",
        ">>> f(1)", "2", "",
    ]  # fmt: skip
    assert docstrings.inline("x`f(1)`s and ``a b``") == r"x\ ``f(1)``\ s and ``a b``"
