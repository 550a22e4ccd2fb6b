"""What the commands share with each other: how they print."""

import os
import sys
from contextlib import suppress


def show(text: str) -> None:
    """Print at once, so that a reader who has gone is noticed here, and every time."""
    if sys.stdout is None:
        raise BrokenPipeError
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as problem:
        give_up_output()
        raise OSError(problem.errno, f"cannot write to standard output: {problem.strerror}") from problem


def give_up_output() -> None:
    """What is still to be written is lost, so that Python does not try again, and complain, when it ends."""
    with suppress(OSError):  # where standard output is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
