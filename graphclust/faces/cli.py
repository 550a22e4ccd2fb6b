"""The command line: its parser, its exit codes, and how it tells of errors; the commands are in `commands`.

Results go to stdout, errors to stderr, and so does progress where that is a terminal. What takes time to import is
imported where it is used, so that Ctrl-C is quiet at any time.
"""

import argparse
import os
import sys
import warnings

from graphclust.faces.commands import cache, cluster, compile, datasets, demo, info
from graphclust.faces.commands.options import WRONG_USE, Parser
from graphclust.faces.shell_words import in_the_shell
from graphclust.progress_bar import ProgressLine

COMMANDS = (cluster, info, demo, compile, datasets, cache)  # in the order of the help
FAILED, INTERRUPTED = 1, 130
EXIT_CODES = """exit codes: 0 done, even when a reader such as `head` closes the pipe before the end of the report (that
cannot always be noticed); 1 failed; 2 asked for something impossible; 130 interrupted"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:  # while Python was still importing
        return _fail("interrupted", INTERRUPTED, debug=False)


def _run(arguments: list[str] | None) -> int:
    from graphclust.errors import ConvergenceWarning, GraphClustError, GraphWarning, ParameterError
    from graphclust.progress import Progress

    options = _parser().parse_args(arguments)
    line = ProgressLine()
    try:
        with warnings.catch_warnings():
            for category in (GraphWarning, ConvergenceWarning):  # the reports carry these sentences
                warnings.simplefilter("ignore", category)
            options.run(options, Progress(line))
        return 0
    except KeyboardInterrupt:
        line.clear()
        return _fail("interrupted", INTERRUPTED, options.debug)
    except BrokenPipeError:
        if sys.stdout is None:
            return FAILED
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that closing stdout is quiet too
        return 0
    except (ParameterError, FileExistsError) as problem:
        line.clear()
        return _fail(str(problem), WRONG_USE, options.debug)
    except (GraphClustError, OSError, ValueError, TypeError, ImportError, MemoryError) as problem:
        line.clear()
        return _fail(_sentence(problem), FAILED, options.debug)
    except Exception as problem:
        line.clear()
        sentence = f"{type(problem).__name__}: {_sentence(problem)}; this is a fault of graphclust, --debug shows where"
        return _fail(sentence, FAILED, options.debug)


def _parser() -> argparse.ArgumentParser:
    from graphclust import __version__

    parser = Parser(prog="graphclust", description="Cluster large sparse graphs into k parts.", epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"graphclust {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command", parser_class=Parser)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


def _sentence(problem: BaseException) -> str:
    """One line; the system's errors come with a number that helps nobody."""
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.strerror}: {problem.filename}" if problem.filename else problem.strerror
    return " ".join(str(problem).split()) or type(problem).__name__


def _fail(sentence: str, code: int, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exc()
    if sys.stderr is not None:
        print(f"graphclust: {in_the_shell(sentence)}", file=sys.stderr)
    return code
