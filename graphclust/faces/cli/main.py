"""The command line: its parser, exit codes and error messages.

Results go to stdout, errors to stderr, and so does progress where that is a terminal. What takes time to import is
imported where it is used, so that Ctrl-C is quiet at any time.
"""

import argparse
import logging
import os
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from graphclust.errors import ConvergenceWarning, GraphClustError, GraphWarning, ParameterError, log
from graphclust.faces.cli.clusterings import CLUSTER, COMMUNITIES, HIERARCHY, PATH
from graphclust.faces.cli.compare import COMPARE
from graphclust.faces.cli.datasets import CACHE, DATASETS
from graphclust.faces.cli.first_steps import COMPILE, DEMO
from graphclust.faces.cli.graphs import CONVERT, INFO, KNN
from graphclust.faces.cli.options import WRONG_USE, Parser, everywhere
from graphclust.faces.cli.partition import PARTITION
from graphclust.faces.cli.terminal import give_up_output, tell

COMMANDS = {command.name: command for command in (  # in the order of the help
    CLUSTER, COMMUNITIES, HIERARCHY, PARTITION, PATH, INFO, COMPARE, CONVERT, KNN, DEMO, COMPILE, DATASETS, CACHE
)}  # fmt: skip
FAILED, INTERRUPTED = 1, 130
EXIT_CODES = """exit codes:
  0    done, even when a reader such as `head` closes the pipe before the end of the report (that cannot always be
       noticed)
  1    failed: a file is missing or wrong, the disk is full, memory does not suffice
  2    asked for something impossible: an unknown option, a value out of range, an output file that is there already
  130  interrupted by Ctrl-C; with `cluster -o` the best labels so far are written, if there were any

`graphclust COMMAND --help` shows the options of a command, and examples."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:  # while Python was still importing
        tell("interrupted")
        return INTERRUPTED


def _run(arguments: list[str] | None) -> int:
    """Run a command; returns the exit code, and prints one line for each kind of failure."""
    words = sys.argv[1:] if arguments is None else arguments
    asked = next((word for word in words if not word.startswith("-")), "")
    parser = _parser(asked)
    if asked not in COMMANDS and os.path.isfile(asked):
        example = f"graphclust cluster {shlex.quote(asked)}"
        parser.error(f"{asked!r} is a file, expected a command before it, as in {example}")
    options = parser.parse_args(words)
    from graphclust.progress import Progress, ProgressLine

    line = ProgressLine()
    options.typed, options.progress = shlex.join(["graphclust", *words]), Progress(None if options.quiet else line)
    try:
        with warnings.catch_warnings():
            for category in (GraphWarning, ConvergenceWarning):  # the reports carry these sentences
                warnings.simplefilter("ignore", category)
            with _threads(options.threads), _log_to_stderr(options.verbose):
                options.run(options)
        return 0
    except BrokenPipeError:
        if sys.stdout is None:
            return FAILED
        give_up_output()
        return 0
    except (KeyboardInterrupt, Exception) as problem:
        line.clear()
        if options.debug:
            import traceback

            traceback.print_exc()
        sentence, code = _verdict(problem)
        tell(sentence)
        return code


def _verdict(problem: BaseException) -> tuple[str, int]:
    """A line on a failure, and the exit code."""
    from graphclust.compiled.runtime.loop_cache import NotCompiledError

    if isinstance(problem, KeyboardInterrupt):
        more = f": {problem}" if type(problem) is KeyboardInterrupt and problem.args else ""
        return f"interrupted{more}", INTERRUPTED
    if isinstance(problem, ParameterError | FileExistsError):
        return str(problem), WRONG_USE
    sentence = " ".join(str(problem).split()) or type(problem).__name__
    if isinstance(problem, OSError) and problem.strerror:  # without the system's number for it
        sentence = f"{problem.strerror}: {problem.filename}" if problem.filename else problem.strerror
        if str(problem.filename).isdigit():
            sentence += f"; a number of parts is asked for by -k {problem.filename}"
    if isinstance(
        problem, (GraphClustError, NotCompiledError, OSError, ValueError, TypeError, ImportError, MemoryError)
    ):
        return sentence, FAILED
    return f"{type(problem).__name__}: {sentence}; this is a fault of graphclust, --debug shows where", FAILED


def _threads(n: int | None) -> AbstractContextManager[None]:
    """Run on so many threads, and restore the number afterwards; None leaves it as it is."""
    if n is None:
        return nullcontext()
    from graphclust.threads import limit_threads

    try:
        return limit_threads(n)
    except ParameterError as problem:
        raise ParameterError(str(problem).replace("n=", "--threads ", 1)) from None


@contextmanager
def _log_to_stderr(verbose: bool) -> Iterator[None]:
    """What the library logs goes to stderr, if asked for."""
    if not verbose or sys.stderr is None:
        yield
        return
    handler, before = logging.StreamHandler(), log.level
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def _parser(asked: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands. With `asked`, the others have only names and summaries, which load nothing."""
    from graphclust import __version__

    parser = Parser(prog="graphclust", description="Cluster large sparse graphs into k parts.", epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"graphclust {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command", parser_class=Parser)
    for name, command in COMMANDS.items():
        if asked not in (None, name):
            commands.add_parser(name, help=command.summary)
            continue
        common = [] if command is CACHE else [everywhere()]  # its actions are commands in turn, and have them
        own = commands.add_parser(name, help=command.summary, epilog=command.examples, parents=common)
        if (run := command.add_to(own)) is not None:
            own.set_defaults(run=run)
    return parser
