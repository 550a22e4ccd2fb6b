"""What the commands share with each other: how they print."""

import sys


def show(text: str) -> None:
    """Print at once, so that a reader who has gone is noticed here, and every time."""
    if sys.stdout is None:
        raise BrokenPipeError
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise OSError(problem.errno, f"cannot write to standard output: {problem.strerror}") from problem
