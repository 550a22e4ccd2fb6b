"""What a type checker sees of the package: real signatures of every public name."""

import os
import pathlib
import re
import subprocess
import sys
import typing

import pytest
from cases import for_each

import graphclust

ROOT = pathlib.Path(__file__).parents[1]
CLIENT = ROOT / "tests" / "typed_client.py"
CACHE = pathlib.Path.home() / ".cache" / "graphclust-tests" / "mypy"


def mypy(*arguments: object) -> subprocess.CompletedProcess:
    pytest.importorskip("mypy", reason="mypy is not installed: pip install 'graphclust[check]'")
    command = [sys.executable, "-m", "mypy", "--cache-dir", CACHE, *arguments]
    here = {**os.environ, "MYPYPATH": str(ROOT)}
    return subprocess.run([*map(str, command)], cwd=ROOT, env=here, capture_output=True, text=True)


def test_the_client_uses_every_public_name():
    used = set(re.findall(r"\bgc\.(\w+)", CLIENT.read_text()))
    assert set(graphclust.__all__) <= used


@pytest.mark.slow
def test_a_strict_client_sees_real_signatures():
    """Each wrong line is reported, for an ignore that is not needed is an error as well."""
    run = mypy("--strict", "--config-file=", "--follow-imports=silent", CLIENT)
    assert (run.stdout, run.returncode) == ("Success: no issues found in 1 source file\n", 0)


@pytest.mark.slow
def test_wrong_lines_of_the_client_are_reported(tmp_path):
    """The same without its ignores: as many errors as there were, each where it was."""
    source = CLIENT.read_text()
    wrong = [number for number, line in enumerate(source.splitlines(), 1) if re.search(r"# type: ignore\[\w", line)]
    assert len(wrong) >= 30
    bare = tmp_path / "client.py"
    bare.write_text(re.sub(r"  # type: ignore\[.*?\]", "", source))
    run = mypy("--strict", "--config-file=", "--follow-imports=silent", bare)
    assert {int(number) for number in re.findall(r"client\.py:(\d+): error", run.stdout)} == set(wrong)


@for_each("name", graphclust.__all__)
def test_annotations_can_be_resolved(name):
    value = getattr(graphclust, name)
    if callable(value):
        called = value.__init__ if isinstance(value, type) else value
        hints = typing.get_type_hints(called)
        assert hints.keys() == getattr(called, "__annotations__", {}).keys()
