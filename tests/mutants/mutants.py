"""Spoil one line of the package at a time, in a copy, and see whether the tests that should notice do.

    python tests/mutants/mutants.py                        # all of them
    python tests/mutants/mutants.py --only round-sizes     # those whose name holds the words
    python tests/mutants/mutants.py --table coreset --jobs 2
    python tests/mutants/mutants.py --share 4 --turn 1     # every fourth, from the second on

The tables in `mutant_tables` say file by file, and below it by the tests that should fail, what is spoiled, a line a
mutant: its name, a colon, and a text of the file with `«what stands there→what takes its place»` in it; ⏎ ends a line
of the file. A line `equivalent:` below a mutant says why no test can fail. A text that does not stand in its file
exactly once, or a test that is not there, is stale: the table is to be mended. Ends with 1 where a line is stale, where
the tests do not pass unspoiled, or where fewer than 95 of 100 mutants are caught; with 0 otherwise.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = pathlib.Path(__file__).with_name("mutant_tables")
TABLES = sorted(table.stem for table in FOLDER.glob("*.txt"))
LEAST_CAUGHT = 0.95
SECONDS = 150  # a mutant may well turn a loop into an endless one
NOT_COPIED = shutil.ignore_patterns("__pycache__", ".*")
CAUGHT, SURVIVED, WRONG_TESTS = "caught", "SURVIVED", "WRONG TESTS"
_CHANGE = re.compile("«(.*?)→(.*?)»", re.DOTALL)


class Mutant(NamedTuple):
    """One spoiled line: `old` of the package's file becomes `new`; some of `tests`, functions or files, must fail.

    equivalent : why no test can, for a change that changes nothing that is promised; such a mutant is not run.
    """

    name: str
    file: str
    old: str
    new: str
    tests: list[str]
    equivalent: str = ""


def read_tables(tables: Iterable[str]) -> list[Mutant]:
    """All mutants of the tables; a name stands for one."""
    mutants: list[Mutant] = []
    for table in tables:
        file, tests = "", [""]
        for line in (FOLDER / f"{table}.txt").read_text().splitlines()[2:]:
            if line.startswith("      equivalent: "):
                mutants[-1] = mutants[-1]._replace(equivalent=line.split(": ", 1)[1])
            elif line.startswith("    "):
                name, text = line[4:].split(": ", 1)
                old, new = (_CHANGE.sub(side, text.replace("⏎", "\n")) for side in (r"\1", r"\2"))
                mutants.append(Mutant(name, file, old, new, tests))
            elif line.startswith("  "):
                tests = line.split()
            else:
                file = line
    names = [mutant.name for mutant in mutants]
    if len(set(names)) < len(names):
        raise SystemExit(f"names that stand twice: {sorted({name for name in names if names.count(name) > 1})}")
    return mutants


def with_homes(mutants: list[Mutant]) -> list[Mutant]:
    """The same with each test as pytest wants it: in its file, wherever that is; a test that is nowhere stays bare."""
    homes = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        file = str(path.relative_to(ROOT / "tests"))
        homes[path.name] = file
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE):
            homes[name] = f"{file}::{name}"
    return [mutant._replace(tests=[homes.get(test, test) for test in mutant.tests]) for mutant in mutants]


def is_stale(mutant: Mutant) -> str:
    """What is wrong with it, if its text does not stand exactly once where it should, or a test is missing."""
    file = ROOT / "graphclust" / mutant.file
    if not file.exists() or file.read_text().count(mutant.old) != 1 or mutant.old == mutant.new:
        return f"{mutant.file} does not hold this once: {mutant.old}"
    return "".join(
        f"there is no test {test}" for test in mutant.tests if not (ROOT / "tests" / test.split("::")[0]).exists()
    )


def run_tests(tree: pathlib.Path, tests: list[str], *options: str, seconds: float) -> tuple[int, str]:
    """Exit code and output of pytest in a copy; a code of its own, -1, where the time ran out."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-o", "addopts=", *options]
    # A folder for temporary files of its own: several at a time would clear each other's away.
    command += ["--tb=no", f"--basetemp={tree.parent / 'temporary'}", *(f"tests/{name}" for name in tests)]
    with subprocess.Popen(
        command, cwd=tree, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            output = process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return -1, process.communicate()[0]
    return process.returncode, output


def copy_of_the_tree(base: pathlib.Path) -> pathlib.Path:
    """What tests need of the project, in a folder of its own."""
    for folder in ("graphclust", "tests", "notebooks"):
        shutil.copytree(ROOT / folder, base / folder, ignore=NOT_COPIED)
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / file, base)
    return base


def prepare(base: pathlib.Path, tests: list[str]) -> None:
    """A copy of the tree in which the tests have run, and passed, and all that they need is compiled."""
    copy_of_the_tree(base)
    code, output = run_tests(base, tests, seconds=3600)
    if code != 0:
        raise SystemExit(f"the tests do not pass on the code as it is:\n{output[-3000:]}")


def try_out(mutant: Mutant, base: pathlib.Path) -> tuple[str, str]:
    """What became of a mutant of the tables."""
    file = pathlib.Path("graphclust", mutant.file)
    return run_spoiled(base, file, (ROOT / file).read_text().replace(mutant.old, mutant.new), mutant.tests)


def run_spoiled(
    base: pathlib.Path, file: pathlib.Path, text: str, tests: list[str], seconds: float = SECONDS
) -> tuple[str, str]:
    """What becomes of a copy in which a file has another text, and by which test."""
    with tempfile.TemporaryDirectory(dir=base.parent, ignore_cleanup_errors=True) as folder:
        tree = pathlib.Path(folder, "tree")
        shutil.copytree(base, tree, copy_function=os.link)
        (tree / file).unlink()
        (tree / file).write_text(text)
        code, output = run_tests(tree, tests, seconds=seconds)
    if code == -1:
        return CAUGHT, "time ran out"
    if code < 0:
        return CAUGHT, f"died of signal {-code}"
    if code == 0:
        return SURVIVED, ", ".join(tests)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    return (CAUGHT, failed[0]) if code == 1 and failed else (WRONG_TESTS, output[-500:])


def main() -> int:
    """Read the arguments, try the mutants, and say what became of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="WORDS", help="mutants whose name holds these words")
    parser.add_argument("--table", choices=TABLES, help="mutants of one table")
    parser.add_argument("--share", type=int, default=1, metavar="N", help="try one mutant in N")
    parser.add_argument("--turn", type=int, default=0, help="which of each N, from 0 on")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="mutants tried at a time")
    arguments = parser.parse_args()

    mutants = with_homes(read_tables([arguments.table] if arguments.table else TABLES))
    mutants = [mutant for mutant in mutants if not arguments.only or arguments.only in mutant.name]
    stale = [mutant for mutant in mutants if is_stale(mutant)]
    mutants = mutants[arguments.turn % arguments.share :: arguments.share]
    for mutant in stale:
        print(f"{'STALE':12s} {mutant.name}: {is_stale(mutant)}")
    equivalent = [mutant for mutant in mutants if mutant.equivalent]
    for mutant in equivalent:
        print(f"{'equivalent':12s} {mutant.name}: {mutant.equivalent}")
    tried = [mutant for mutant in mutants if mutant not in stale and not mutant.equivalent]
    if not tried:
        return int(bool(stale) or not equivalent)

    started = time.perf_counter()
    results = []
    with tempfile.TemporaryDirectory(prefix="graphclust-mutants-", ignore_cleanup_errors=True) as folder:
        base = pathlib.Path(folder, "base")
        os.environ["NUMBA_CACHE_DIR"] = f"{folder}/loops"
        prepare(base, sorted({test for mutant in tried for test in mutant.tests}))
        with ThreadPoolExecutor(arguments.jobs) as pool:
            for mutant, (result, how) in zip(tried, pool.map(lambda one: try_out(one, base), tried), strict=True):
                results.append(result)
                print(f"{result:12s} {mutant.name}: {how}", flush=True)
    n_caught = results.count(CAUGHT)
    seconds = time.perf_counter() - started
    print(
        f"{len(tried)} mutants tried in {seconds:.0f} s: {n_caught} caught, {results.count(SURVIVED)} survived, "
        f"{results.count(WRONG_TESTS)} with wrong tests; {len(equivalent)} equivalent, {len(stale)} stale"
    )
    return int(bool(stale) or WRONG_TESTS in results or n_caught < LEAST_CAUGHT * len(tried))


if __name__ == "__main__":
    raise SystemExit(main())
