"""A plugin of pytest for runs without compilation: fails the run when some loop was never called."""

import functools
import importlib
import pathlib

import numba

FOLDER = pathlib.Path(__file__).parents[1] / "graphclust" / "compiled"
made: set[str] = set()
called: set[str] = set()


def counting_njit(*arguments, **options):
    """Takes the place of numba.njit: the function as it is, and a note when it is called."""

    def decorate(function):
        name = f"{function.__module__}.{function.__name__}"
        made.add(name)

        @functools.wraps(function)
        def noted(*values):
            called.add(name)
            return function(*values)

        return noted

    return decorate(arguments[0]) if arguments else decorate


numba.njit = counting_njit


def pytest_sessionfinish(session, exitstatus):
    for path in FOLDER.glob("*/[a-z]*.py"):
        importlib.import_module(f"graphclust.compiled.{path.parent.name}.{path.stem}")
    if exitstatus == 0 and made - called:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter):
    for name in sorted(made - called):
        terminalreporter.write_line(f"never called: {name}")
