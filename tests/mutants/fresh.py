"""Fresh mutants: spoil places drawn from the sources by a rule, and see whether the tests of their folder notice.

    python tests/mutants/fresh.py --number 50 --seed 1 --folders engine updates results io
    python tests/mutants/fresh.py --minutes 20 --folders graph

Nobody chose these lines, as somebody did those of the tables: the share that is caught says how well the code is held.
Every comparison, sum, product, `and`, `not`, number, minimum and call that stands for itself is a place, but for the
words of errors, hints of types and docstrings; the seed draws among them, in turn from each folder. The tests of the
file of the same name run first, then the others of the folder. Compiled loops are left out: each would be compiled.
"""

import argparse
import ast
import os
import pathlib
import random
import tempfile
import time
from collections.abc import Iterator

from mutants import CAUGHT, ROOT, SURVIVED, WRONG_TESTS, copy_of_the_tree, run_spoiled

SWAPS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in", ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*",
    ast.FloorDiv: "*", ast.And: "or", ast.Or: "and",
}  # fmt: skip
SECONDS = 900  # for all tests of a folder
EXTREMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}


def places(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Each part of the code that can be spoiled, and what it becomes."""
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.Assert() | ast.Import() | ast.ImportFrom():
            return  # words, and what tells nothing
        case ast.Expr(value=ast.Constant()):
            return  # a docstring
        case ast.FunctionDef():
            children: list[ast.AST] = [*node.args.defaults, *filter(None, node.args.kw_defaults), *node.body]
        case ast.AnnAssign():
            children = [] if node.value is None else [node.value]
        case _:
            children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from places(child)
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in SWAPS:
            yield node, f"{ast.unparse(left)} {SWAPS[type(operator)]} {ast.unparse(right)}"
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in SWAPS and not _is_text(left, right):
            yield node, f"({ast.unparse(left)}) {SWAPS[type(operator)]} ({ast.unparse(right)})"
        case ast.BoolOp(op=operator, values=values):
            yield node, f" {SWAPS[type(operator)]} ".join(f"({ast.unparse(value)})" for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"({ast.unparse(operand)})"
        case ast.Constant(value=bool(value)):
            yield node, str(not value)
        case ast.Constant(value=int(value)):
            yield node, str(value + 1)
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)) if name in EXTREMES:
            yield node.func, ast.unparse(node.func).removesuffix(name) + EXTREMES[name]
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield node, "pass"


def _is_text(*parts: ast.AST) -> bool:
    """Whether something other than numbers is added."""
    kinds = (ast.JoinedStr, ast.List, ast.Tuple)
    return any(isinstance(part, kinds) or isinstance(getattr(part, "value", 0), str) for part in parts)


def spoil(text: str, node: ast.AST, new: str) -> str:
    """The text with the node replaced; an expression keeps its place in what surrounds it."""
    lines = text.encode().splitlines(keepends=True)  # columns count bytes
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    new = new if new == "pass" else f"({new})"
    return (text.encode()[:start] + new.encode() + text.encode()[end:]).decode()


def draw(folders: list[str], number: int, seed: int) -> list[tuple[pathlib.Path, ast.AST, str]]:
    """So many places, in turn from each folder."""
    found: dict[str, list] = {folder: [] for folder in folders}
    for folder in folders:
        for path in sorted((ROOT / "graphclust" / folder).rglob("*.py")):
            found[folder] += [(path.relative_to(ROOT), *place) for place in places(ast.parse(path.read_text()))]
        # Numbers are half of all places, and are drawn a quarter as often.
        chance = random.Random(seed)
        found[folder].sort(key=lambda place: chance.random() / (4 if isinstance(place[1], ast.Constant) else 1))
        print(f"{folder}: {len(found[folder])} places")
    return [found[folders[i % len(folders)]].pop() for i in range(number)]


def tests_of(path: pathlib.Path) -> list[str]:
    """The test files of the folder, that of the same name first."""
    folder = path.parts[1]
    files = sorted((ROOT / "tests" / folder).rglob("test_*.py"), key=lambda file: (path.stem not in file.stem, file))
    return [str(file.relative_to(ROOT / "tests")) for file in files]


def main() -> None:
    """Read the arguments, try the mutants, and name those that nobody noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folders", nargs="+", default=["engine", "updates", "results", "io"])
    parser.add_argument("--number", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, metavar="N", help="leave out the first N")
    parser.add_argument("--minutes", type=float, default=600.0, help="no mutant is begun later")
    arguments = parser.parse_args()
    drawn = draw(arguments.folders, arguments.number, arguments.seed)
    os.environ["GRAPHCLUST_COMPILE"] = "always"
    results, start = [], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="graphclust-fresh-", ignore_cleanup_errors=True) as name:
        base = copy_of_the_tree(pathlib.Path(name, "base"))
        for path, node, new in drawn[arguments.first :]:
            if time.monotonic() - start > 60 * arguments.minutes:
                break
            text = spoil((base / path).read_text(), node, new)
            result, how = run_spoiled(base, path, text, tests_of(path), SECONDS)
            result = CAUGHT if result == WRONG_TESTS else result  # the files of tests cannot even be imported
            results.append(result)
            spoiled = f"{path}:{node.lineno}: {ast.unparse(node)}  ->  {new}".replace("\n", " ")
            print(f"{result:12s} {spoiled}   [{how if result == CAUGHT else ''}]", flush=True)
    print(f"{results.count(CAUGHT)} of {len(results)} caught, {results.count(SURVIVED)} survived")


if __name__ == "__main__":
    main()
