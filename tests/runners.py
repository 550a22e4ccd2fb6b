"""Processes beside the tests that answer each line of JSON with another: they fork, which pytest's own should not."""

import json
import pathlib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Runner:
    """A script of this folder that runs in a process of its own."""

    def __init__(self, script: str) -> None:
        command = [sys.executable, pathlib.Path(__file__).parent / script]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self) -> Any:
        """What the script says next."""
        return json.loads(self.process.stdout.readline())

    def ask(self, question: Any) -> Any:
        """The script's answer; what JSON has no form for is sent as text, such as a path."""
        self.process.stdin.write(json.dumps(question, default=str) + "\n")
        self.process.stdin.flush()
        return self.read()


@contextmanager
def runner_of(script: str) -> Iterator[Runner]:
    """The runner until the block ends."""
    runner = Runner(script)
    yield runner
    runner.process.stdin.close()
    runner.process.wait(20)
    runner.process.stdout.close()
