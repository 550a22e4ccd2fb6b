"""What the commands share with each other: how they read standard input, how they print, and the words of the shell."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import IO, Any, TextIO

from graphclust.errors import GraphClustError, escape_controls
from graphclust.io.atomic_write import is_pipe

STANDARD_INPUT = "standard input"
# How the library speaks, and how a shell does: `weights="abs"` is `--weights abs`, `bipartite=True` is `--bipartite`.
KEYWORD = re.compile(
    r"\b(weights|format|symmetrize|bipartite|kind|layer_weights|normalize|method|objective|resolution|effort|components|memory_limit|time_budget"
    r"|max_bytes|min_size|max_size|small|node_weight|n_probes|metric|to|levels|rng|source|target|weight|header|drop_loops|round_weights|missing|duplicates|encoding)=(True\b|False\b|'[^']*'|\"[^\"]*\"|)|\b(memory_limit|max_bytes|min_size|max_size)\b"
)
CORESET = re.compile(r"coreset=Coreset\(size=(\d+)\)")
IN_THE_SHELL = {
    "pass overwrite=True": "overwrite it with --force", "overwrite=True": "--force", "path=": "-o ",
    "a larger --memory-limit, a smaller Coreset(size=...) or": "a smaller --coreset-size or",  # the file's limit
    "expected Coreset(size=...)": "expected --coreset-size",
    "or another method": "or another --method",
    "constraint=": "--constraint ",
    "ks holds": "--from and --to ask for k =",
    "n_neighbors=": "-k ", "name=": "", "max_imbalance=": "--imbalance ", "max_imbalance": "--imbalance",
    "min_imbalance=": "--min-imbalance ", "min_imbalance": "--min-imbalance",
}  # fmt: skip


def show(text: str) -> None:
    """Print for people."""
    with standard_output() as out:
        print(escape_controls(text, keep="\n\t"), file=out)


def show_data(text: str) -> None:
    """Print what programs read: as it is, unless it goes to a terminal."""
    from graphclust.progress import is_terminal

    with standard_output() as out:
        print(escape_controls(text, keep="\n\t") if is_terminal(out) else text, file=out)


def tell(problem: str) -> None:
    """Print a line on what is wrong to stderr, in the words of the shell."""
    if sys.stderr is not None:
        print(f"graphclust: {escape_controls(in_the_shell(problem))}", file=sys.stderr)


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Standard output, flushed when the block ends, so that a closed pipe is noticed; BrokenPipeError without one.

    What the system does not want to write is said of standard output.
    """
    if sys.stdout is None:
        raise BrokenPipeError
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:
        give_up_output()
        raise OSError(problem.errno, f"cannot write to standard output: {problem.strerror}") from problem


def give_up_output() -> None:
    """Drop unwritten output, so that Python does not try again, and complain, when it ends."""
    with suppress(OSError):  # where standard output is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def in_the_shell(text: str) -> str:
    """The text with the names of Python's arguments replaced by the names of the options."""
    text = KEYWORD.sub(_as_option, CORESET.sub(r"--coreset-size \1", text))
    for python, shell in IN_THE_SHELL.items():
        text = text.replace(python, shell)
    return text


def _as_option(keyword: re.Match[str]) -> str:
    name, value = keyword[1] or keyword[3], keyword[2]
    option = "--seed" if name == "rng" else "--" + name.replace("_", "-")
    if value == "False":
        return option.replace("--", "--no-")
    if value == "" and keyword.string[keyword.end() : keyword.end() + 1] in (*" ,;)", ""):
        return option
    return option if value in (None, "True") else f"{option} {value[1:-1]}"


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
    with (
        nullcontext(standard_input()) if name == "-" else open(name, "rb") as stream,
        temporary_copy(stream, input_name(name)) as path,
    ):
        yield path


@contextmanager
def temporary_copy(stream: IO[bytes], name: str, suffix: str = "") -> Iterator[str]:
    """The path of a copy that ends with the block, in memory where no folder for temporary files can be written.

    name : by which errors speak of it.
    """
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
        shutil.copyfileobj(stream, copy)
        copy.flush()
        try:
            yield path
        except GraphClustError as problem:
            problem.args = tuple(str(part).replace(path, name) for part in problem.args)
            raise
