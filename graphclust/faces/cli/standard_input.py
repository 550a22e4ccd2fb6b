"""Standard input and pipes as files, since a reader looks at the beginning twice."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import IO, Any

from graphclust.errors import GraphClustError
from graphclust.io.atomic_write import is_pipe

STANDARD_INPUT = "standard input"


def input_name(name: str) -> str:
    """What a person calls an input: "-" is standard input."""
    return STANDARD_INPUT if name == "-" else name


def standard_input() -> IO[bytes]:
    """The bytes of standard input; OSError where it is closed."""
    if sys.stdin is None:
        raise OSError("standard input is closed, expected a file or a pipe")
    return sys.stdin.buffer


@contextmanager
def as_file(name: str) -> Iterator[str]:
    """A path that can be read twice: the input's own, or that of a copy of a pipe, which no error names."""
    if name != "-" and not is_pipe(name):
        yield name
        return
    with temporary_copy() as (copy, path):
        with nullcontext(standard_input()) if name == "-" else open(name, "rb") as stream:
            shutil.copyfileobj(stream, copy)
        copy.flush()
        try:
            yield path
        except GraphClustError as problem:
            problem.args = tuple(str(part).replace(path, input_name(name)) for part in problem.args)
            raise


@contextmanager
def temporary_copy(suffix: str = "") -> Iterator[tuple[IO[bytes], str]]:
    """A file that ends with the block, and its path; in memory where no folder for temporary files can be written."""
    copy: Any
    try:
        copy = tempfile.NamedTemporaryFile(prefix="graphclust-", suffix=suffix)  # noqa: SIM115
        path = copy.name
    except OSError:
        if not hasattr(os, "memfd_create"):
            raise
        copy = os.fdopen(os.memfd_create("graphclust"), "w+b")
        path = f"/proc/self/fd/{copy.fileno()}"
    with copy:
        yield copy, path
