"""What the commands share with each other: how they print."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from graphclust.errors import escape_controls
from graphclust.faces.cli.messages import in_the_shell
from graphclust.progress import is_terminal


def show(text: str) -> None:
    """Print for people and flush, so that a closed pipe is noticed here."""
    _print(escape_controls(text, keep="\n\t"))


def show_data(text: str) -> None:
    """Print what programs read: as it is, unless it goes to a terminal."""
    if is_terminal(sys.stdout):
        show(text)
    else:
        _print(text)


def tell(problem: str) -> None:
    """Print a line on what is wrong to stderr, in the words of the shell."""
    if sys.stderr is not None:
        print(f"graphclust: {escape_controls(in_the_shell(problem))}", file=sys.stderr)


def _print(text: str) -> None:
    with _refusals_named():
        print(text, flush=True)


@contextmanager
def standard_output() -> Iterator[IO[bytes]]:
    """Standard output for bytes, all of which are there when the block ends."""
    with _refusals_named():
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()


@contextmanager
def _refusals_named() -> Iterator[None]:
    """What the system does not want to write is said of standard output; BrokenPipeError where there is none."""
    if sys.stdout is None:
        raise BrokenPipeError
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        give_up_output()
        raise OSError(problem.errno, f"cannot write to standard output: {problem.strerror}") from problem


def give_up_output() -> None:
    """Drop unwritten output, so that Python does not try again, and complain, when it ends."""
    with suppress(OSError):  # where standard output is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
