"""A plugin of pytest for runs without compilation: fails the run when some loop was never called."""

import importlib
import pathlib

from graphclust.compiled.runtime import loops

FOLDER = pathlib.Path(__file__).parents[1] / "graphclust" / "compiled"
made: set[str] = set()
called: set[str] = set()


class NotedLoop(loops.Loop):
    """A loop that stays plain and is noted when it is called."""

    def __init__(self, function, options):
        super().__init__(function, options)
        self.place = f"{function.__module__}.{function.__name__}"
        made.add(self.place)

    def __call__(self, *arguments):
        called.add(self.place)
        return self.py_func(*arguments)


loops.Loop = NotedLoop


def pytest_sessionfinish(session, exitstatus):
    for path in FOLDER.glob("*/[a-z]*.py"):
        importlib.import_module(f"graphclust.compiled.{path.parent.name}.{path.stem}")
    if exitstatus == 0 and made - called:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter):
    for name in sorted(made - called):
        terminalreporter.write_line(f"never called: {name}")
