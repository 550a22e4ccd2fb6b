"""Pages that are made when the site is built, from what the repository has elsewhere.

gallery/ from notebooks/, results/ from tests/benchmarks/results/, and api/command-line.md from the parser of the
command line.
"""

import argparse
import pathlib
import re
import shutil
from collections.abc import Iterator
from typing import Any

HERE = pathlib.Path(__file__).parents[1]
ROOT = HERE.parent
NOTEBOOKS = ROOT / "notebooks"
RESULTS = ROOT / "tests" / "benchmarks" / "results"
GALLERY = """# Gallery

One question each. The notebooks are shown as they were stored, run at full size;
`python notebooks/run.py` runs them again, and in Jupyter they run in seconds at a small size.
[](HEADLINES.md) says which results of the papers were reproduced.
"""
TABLES = """# All tables

Every table is written by the script of the same beginning in `tests/benchmarks/`, with the machine and the versions
that it was measured on.
"""
COMMANDS = """# Command line

`graphclust COMMAND --help` prints what stands here. Installed without the command on the path, `python -m graphclust`
does the same.
"""


def new_folder(name: str) -> pathlib.Path:
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def make_gallery() -> None:
    """Copies of the notebooks, and a page that shows the first picture of each."""
    folder = new_folder("gallery")
    shutil.copytree(NOTEBOOKS / "pictures", folder / "pictures")
    shutil.copy(NOTEBOOKS / "HEADLINES.md", folder)
    parts = [GALLERY, "::::{grid} 1 2 2 3\n:gutter: 3\n"]
    notebooks = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    for path in notebooks:
        shutil.copy(path, folder)
        parts.append(card(path))
    names = "\n".join(path.stem for path in notebooks)
    parts += ["::::\n", browser_pictures(), f"```{{toctree}}\n:hidden:\n\n{names}\nHEADLINES\n```\n"]
    (folder / "index.md").write_text("\n".join(parts))


def browser_pictures() -> str:
    """What a browser showed of the page and the site when the tests last opened them; nothing where they did not."""
    shots = sorted((HERE / "pictures").glob("*.png"))
    if not shots:
        return ""
    cards = [
        f":::{{grid-item-card}} {shot.stem.replace('-', ', ')}\n:img-top: ../pictures/{shot.name}\n:::\n"
        for shot in shots
    ]
    return "\n".join(["## In a browser\n", "::::{grid} 1 2 2 4\n:gutter: 3\n", *cards, "::::\n"])


def card(path: pathlib.Path) -> str:
    """A notebook's question and picture, linked to it."""
    import nbformat

    question = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0].lstrip("# ")
    options = f":link: {path.stem}\n:link-type: doc\n:img-top: pictures/{path.stem}.png\n:img-alt: {question}"
    return f":::{{grid-item-card}} {question}\n{options}\n:::\n"


def make_results() -> None:
    """Copies of the measured tables, and a list of them."""
    folder = new_folder("results")
    for path in sorted(RESULTS.glob("*.md")):
        shutil.copy(path, folder)
    names = "\n".join(path.stem for path in sorted(RESULTS.glob("*.md")))
    (folder / "index.md").write_text(f"{TABLES}\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n")


def make_command_line() -> None:
    """The help of every command, as it is printed on a terminal of 100 columns."""
    import os

    from graphclust.faces.cli.main import _parser

    os.environ["COLUMNS"] = "100"
    parts = [COMMANDS]
    for name, parser in commands_of(_parser()):
        parts.append(f"## {name}\n\n```text\n{plain(parser.format_help())}```\n")
    (HERE / "api" / "command-line.md").write_text("\n".join(parts))


def commands_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The parser and those of its commands, theirs too, by what is typed to reach them."""
    yield parser.prog, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from commands_of(command)


def plain(text: str) -> str:
    """Without the colors that newer versions of Python add."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def make(app: Any) -> None:
    make_gallery()
    make_results()
    make_command_line()


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", make, priority=100)  # before stubs of the reference are looked for
    return {"parallel_read_safe": True, "parallel_write_safe": True}
