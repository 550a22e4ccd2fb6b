"""Where measurements come from: the commit, the modules of the package that were loaded, and the data that were read.

A module's hash is that of its syntax tree without docstrings and without what only refuses or warns: neither comments,
docstrings and layout nor the words of an error change a completed measurement. `sys.modules` lists the loaded modules:
all that the experiment imported, directly or through others. What a function imports counts only if it was called.
"""

import ast
import functools
import hashlib
import pathlib
import subprocess
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import graphclust

PACKAGE = pathlib.Path(graphclust.__file__).parent
ROOT = pathlib.Path(__file__).parents[1]
# No measurement depends on these: the list of public names, what only writes sentences, and what Ctrl-C waits for.
WITHOUT_EFFECT = {
    "graphclust",
    "graphclust.compiled.runtime.compiler",
    "graphclust.html_table",
    "graphclust.results.report",
}
_data: dict[str, str] = {}


def commit() -> str:
    """The repository's commit, with a plus where the package differs from it; "unknown" outside a repository."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "--short=10", "HEAD") + ("+" if git("status", "--porcelain", "graphclust") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def loaded_modules() -> list[str]:
    """Names of the package's modules that this process has imported."""
    return sorted(name for name in sys.modules if name == "graphclust" or name.startswith("graphclust."))


def module_hashes(names: Iterable[str]) -> dict[str, str]:
    """The hash of each module's code, without those that no measurement depends on; "gone" where there is no file."""
    return {name: _module_hash(name) for name in sorted(set(names) - WITHOUT_EFFECT)}


def _module_hash(name: str) -> str:
    path = PACKAGE.joinpath(*name.split(".")[1:])
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return code_hash(file.read_text())
    return "gone"


@functools.cache  # the headlines ask for the same modules once a claim
def code_hash(source: str) -> str:
    """A hash of what Python source computes: of its syntax tree without docstrings, refusals and warnings.

    Names that are imported for these alone are left out too.
    """
    tree = _OfMeasurements().visit(ast.parse(source))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
        if isinstance(node, ast.Import | ast.ImportFrom):
            node.names = [alias for alias in node.names if (alias.asname or alias.name.split(".")[0]) in used]
    return _short(repr(_shape(tree)).encode())


class _OfMeasurements(ast.NodeTransformer):
    """Leaves out functions that only refuse or warn, by their names, the calls of them, and what an error says."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        return None if node.name.lstrip("_").startswith(("refuse_", "warn_")) else self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        called = node.value.func if isinstance(node.value, ast.Call) else None
        name = called.id if isinstance(called, ast.Name) else ""
        return None if name.lstrip("_").startswith(("refuse_", "warn_")) else self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        return ast.copy_location(ast.Raise(exc=kind, cause=None), node)


def _shape(node: Any) -> Any:
    """A syntax tree as nested lists, without the empty fields, in which versions of Python differ."""
    if isinstance(node, ast.AST):
        fields = [(name, _shape(value)) for name, value in ast.iter_fields(node) if value is not None and value != []]
        return [type(node).__name__, fields]
    return [_shape(each) for each in node] if isinstance(node, list) else node


def note_data(name: str, *contents: Any) -> None:
    """Remember that data of this name, arrays or bytes, were read: their hash goes into the record."""
    joined = b"".join(each if isinstance(each, bytes) else np.ascontiguousarray(each).tobytes() for each in contents)
    _data[name] = _short(joined)


def read_table(name: str) -> None:
    """Remember a table that the benchmarks wrote, as data that were read."""
    note_data(f"tests/benchmarks/results/{name}.md", (ROOT / f"tests/benchmarks/results/{name}.md").read_bytes())


def data_read() -> dict[str, str]:
    """The data that were read in this process, by name, each with its hash."""
    return dict(sorted(_data.items()))


def outdated(record: Mapping[str, Any]) -> list[str]:
    """Modules and tables of the repository that are not as the record found them; all, where it does not say."""
    if "modules" not in record:
        return ["everything"]
    now = module_hashes(record["modules"])
    changed = [name for name, present in now.items() if record["modules"][name] != present]
    for name, kept in record["read"].items():
        path = ROOT / name
        if "/" in name and (not path.exists() or _short(path.read_bytes()) != kept):
            changed.append(name)
    return changed


def _short(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()[:10]
