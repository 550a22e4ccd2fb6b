"""Commands as a test types them."""

import os
import pathlib
import subprocess

import graphclust
from graphclust.faces.cli import main as cli


def said(capsys, *arguments) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command, run within this process."""
    try:
        code = cli.main([str(argument) for argument in arguments])
    except SystemExit as end:
        code = end.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def run_apart(command: list, folder: pathlib.Path, seconds: float = 200) -> subprocess.CompletedProcess:
    """A command in a process of its own, in a folder, with the package that is tested."""
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(graphclust.__file__).parents[1])}
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, cwd=folder, env=environment)
