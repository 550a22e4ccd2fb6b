"""The shape of the package: who may import whom, where numba lives, what an import costs."""

import ast
import functools
import importlib
import pathlib
import subprocess
import sys
from collections.abc import Callable

import networkx as nx
import pytest

import graphclust

ROOT = pathlib.Path(__file__).parents[1]
PACKAGE = ROOT / "graphclust"
COMPILED, FOUNDATIONS, ALGORITHMS, FACES = range(4)
ROOMS = {
    COMPILED: "compiled",
    FOUNDATIONS: "cached checks datasets errors graph html_table io objective progress float_scaling threads",
    ALGORITHMS: "coreset engine generators partition points profile results spectral two_step updates",
    FACES: "build_backend estimators faces interop distributed __main__",
}
LAYER = {room: layer for layer, rooms in ROOMS.items() for room in rooms.split()}
TOP_LEVEL = {
    "pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE",
    "Dockerfile", "graphclust", "tests", "datasets", "notebooks", "docs",
}  # fmt: skip
# What may be imported only where it is used, because it is slow to import or not always there.
ON_USE = {
    "networkx", "sklearn", "matplotlib", "dask", "distributed", "pandas", "pyarrow", "igraph", "faiss", "tqdm",
    "polars", "anndata", "scanpy", "umap", "graphblas", "requests", "urllib3", "filelock", "platformdirs",
}  # fmt: skip
# Classes that derive from scikit-learn's; this folder is itself imported where it is used.
DERIVE_FROM_SKLEARN = "estimators"


def home(path: pathlib.Path) -> str:
    """The top module or folder that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def sources() -> list[pathlib.Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or path.name != "__init__.py"]


@functools.cache
def imports(source: str) -> list[tuple[str, bool]]:
    """Every imported dotted name, and whether it is imported when the module is, rather than in a function."""
    tree = ast.parse(source)
    late = {
        node
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(outer, ast.If) and "TYPE_CHECKING" in ast.unparse(outer.test))
        for node in ast.walk(outer)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node not in late) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            found += [(f"{origin}.{alias.name}", node not in late) for alias in node.names]
    return found


@functools.cache
def as_run(source: str) -> str:
    """The source without what is for type checkers alone."""
    tree = ast.parse(source)
    tree.body = [
        node for node in tree.body if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    ]
    return ast.unparse(tree)


def internal_imports(source: str) -> list[str]:
    """Top modules of this package that a source imports; a public name counts as the module that defines it."""
    found = []
    for name, _ in imports(source):
        parts = name.split(".")
        if parts[0] == "graphclust" and len(parts) > 1:
            found.append(graphclust._HOME.get(parts[1], parts[1]).split(".")[0])
    return found


def test_every_way_to_import_is_seen():
    source = (
        "import graphclust.faces.cli.main\nfrom graphclust import objective, Graph\n"
        "from graphclust.io.load import load_graph\n"
        "def f():\n    import sklearn.cluster\n    from graphclust.points.k_means import lloyd\n"
    )
    assert internal_imports(source) == ["faces", "objective", "graph", "io", "points"]
    assert ("sklearn.cluster", False) in imports(source) and ("graphclust.faces.cli.main", True) in imports(source)
    assert imports("from . import graph") == [("..graph", True)]


def test_every_module_has_a_layer():
    assert {home(path) for path in sources()} <= set(LAYER)


def imports_between(is_wrong: Callable[[str, str], bool]) -> list[str]:
    """Which module imports what, where a rule of their homes says that it must not; imports in functions count."""
    return [
        f"{path.relative_to(PACKAGE)} imports {imported}"
        for path in sources()
        for imported in internal_imports(path.read_text())
        if imported != "__version__" and is_wrong(home(path), imported)
    ]


def test_no_module_imports_a_higher_layer():
    assert imports_between(lambda here, imported: LAYER[imported] > LAYER[here]) == []


def test_the_graph_knows_nothing_of_files():
    assert imports_between(lambda here, of: here == "graph" and of in ("io", "datasets", "objective")) == []


def test_compiled_loops_import_nothing_of_ours_but_each_other():
    assert imports_between(lambda here, imported: here == "compiled" != imported) == []


def import_graph(late: bool) -> nx.DiGraph:
    """Which module of this package imports which; late : count the imports in functions, too."""
    modules = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in sources()}
    graph = nx.DiGraph()
    for module, path in modules.items():
        for name, at_import in imports(as_run(path.read_text())):
            first, _, rest = name.partition(".")
            target = graphclust._HOME.get(rest, rest)
            while target and target not in modules:
                target = target.rpartition(".")[0]
            if first == "graphclust" and target and (at_import or late):
                graph.add_edge(module, target)
    return graph


def test_no_modules_import_each_other():
    assert list(nx.simple_cycles(import_graph(late=False))) == []


def test_imports_are_absolute():
    assert [path.name for path in sources() for name, _ in imports(path.read_text()) if name.startswith(".")] == []


def test_numba_is_imported_in_the_compiled_folder_only():
    users = {home(path) for path in sources() for name, _ in imports(path.read_text()) if name.split(".")[0] == "numba"}
    assert users == {"compiled"}


def parameters_of_loops(source: str) -> dict[str, int]:
    """How many parameters each compiled function takes."""
    return {
        node.name: len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(mark).startswith("loop(") for mark in node.decorator_list)
    }


def test_what_belongs_together_comes_to_a_loop_together():
    """As named tuples: a loop takes eight parameters at most, those of its block included."""
    assert parameters_of_loops("@loop(inline=True)\ndef f(a, /, b, *, c): ...\ndef g(a): ...") == {"f": 3}
    loops = {
        f"{path.stem}.{name}": n_parameters
        for path in sources()
        if home(path) == "compiled"
        for name, n_parameters in parameters_of_loops(path.read_text()).items()
    }
    assert len(loops) > 100
    assert {name: n_parameters for name, n_parameters in loops.items() if n_parameters > 8} == {}


def test_slow_and_optional_packages_are_imported_where_they_are_used():
    early = [
        f"{path.relative_to(PACKAGE)} imports {name}"
        for path in sources()
        for name, at_import in imports(path.read_text())
        if at_import and name.split(".")[0] in ON_USE - ({"sklearn"} if home(path) == DERIVE_FROM_SKLEARN else set())
    ]
    assert early == []


def test_no_public_name_is_a_modules_name():
    packages = [PACKAGE, *(path.parent for path in PACKAGE.rglob("*/__init__.py"))]
    for folder in packages:
        modules = {path.stem for path in folder.glob("*.py")} | {
            path.name for path in folder.iterdir() if path.is_dir()
        }
        name = ".".join(("graphclust", *folder.relative_to(PACKAGE).parts))
        public = getattr(importlib.import_module(name), "__all__", [])
        assert modules & set(public) == set(), f"in {name}"


def test_every_public_name_is_found_documented_and_typed():
    for name in graphclust.__all__:
        value = getattr(graphclust, name)
        if callable(value):
            assert value.__module__ == f"graphclust.{graphclust._HOME[name]}"
            assert value.__doc__, f"{name} has no docstring"
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = graphclust.no_such_name


def test_every_module_says_what_it_is_and_exports_what_it_has():
    for path in sources():
        if path.name == "__main__.py":
            continue
        name = ".".join(("graphclust", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        module = importlib.import_module(name)
        assert module.__doc__ or not path.read_text().strip(), f"{name} has no docstring"
        assert [public for public in getattr(module, "__all__", []) if not hasattr(module, public)] == []


def test_long_functions_have_docstrings():
    """Beyond ten lines; a class speaks for its __init__, a function for its overloads."""
    silent = [
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        and (node.end_lineno or 0) - node.lineno >= 10
        and node.name != "__init__"
        and not any(ast.unparse(mark) == "overload" for mark in node.decorator_list)
        and ast.get_docstring(node) is None
    ]
    assert silent == []


def test_no_file_is_named_after_nothing():
    assert {path.stem for path in sources()} & {"utils", "util", "common", "helpers", "core", "misc"} == set()


def test_the_repository_holds_only_the_agreed_names():
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    names = {line.split("/")[0] for line in listed.splitlines()}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


def test_continuous_integration_runs_the_command_of_the_readme():
    runner = ROOT / ".ci" / "run"
    if not runner.exists():
        pytest.skip("not a checkout")
    promised = [line for line in (ROOT / "README.md").read_text().splitlines() if line.endswith("-m pytest")]
    lines = runner.read_text().splitlines()
    assert len(promised) == 1 and promised[0] in lines
    assert "set -euo pipefail" in lines[: lines.index(promised[0])]


def in_a_new_process(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_takes_less_than_half_a_second():
    code = "import time; t = time.perf_counter(); import graphclust; dir(graphclust); print(time.perf_counter() - t)"
    assert min(float(in_a_new_process(code)) for _ in range(3)) < 0.5


def test_importing_imports_nothing_that_is_optional():
    code = "import sys, graphclust; dir(graphclust); graphclust.Graph, graphclust.coreset_sc; print(*sys.modules)"
    assert ON_USE & set(in_a_new_process(code).split()) == set()


def test_importing_compiles_nothing():
    loops = (PACKAGE / "compiled").glob("*/[a-z]*.py")
    modules = [f"graphclust.compiled.{path.parent.name}.{path.stem}" for path in loops]
    code = (
        "import importlib, graphclust\n"
        "for name in graphclust.__all__: getattr(graphclust, name)\n"
        f"for name in {modules}:\n"
        "    for thing in vars(importlib.import_module(name)).values():\n"
        "        print(*getattr(getattr(thing, 'dispatcher', None), 'signatures', []))\n"
    )
    assert in_a_new_process(code).split() == []


def test_the_loops_of_this_run_are_compiled():
    """Nothing that pytest collects may replace the compiler, unless the run was asked to do without."""
    import os

    import numba

    from graphclust.compiled.graphs.csr import check_rows

    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("this run is interpreted")
    assert isinstance(check_rows.dispatcher, numba.core.registry.CPUDispatcher)
