"""Fetch a data set in many processes at a time, or in one that is killed, as asked on stdin; say what came of it.

A process dies at a call of the file system ("kill_at"), or when a file has some bytes ("kill_when": path and size).
The parent loads the package once, compiles what small files need, and forks while its threads are idle.
"""

import hashlib
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import warnings

from deaths import Calls, answer_of, start_child

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the package beside it, whatever else is installed


def fetch(name: str) -> dict:
    from graphclust import fetch_suitesparse

    try:
        graph = fetch_suitesparse(name)
    except Exception as problem:
        return {"error": type(problem).__name__, "message": str(problem)}
    return {"indices": hashlib.sha256(graph.indices.tobytes()).hexdigest(), "n_nodes": graph.n_nodes}


def start(name: str, kill_at: int | None) -> tuple[int, int]:
    """The process, and where it will write its answer."""

    def work() -> str:
        calls = Calls(kill_at)
        return json.dumps({**fetch(name), "calls": calls.n})

    return start_child(work)


def answer(child: int, receive: int) -> dict:
    status, said = answer_of(child, receive)
    return json.loads(said) if status == 0 else {"error": "killed", "message": f"wait status {status}"}


def wait_for_bytes(path: str, size: int) -> None:
    """Until a file is as large."""
    for _ in range(20_000):
        if os.path.exists(path) and os.path.getsize(path) >= size:
            return
        time.sleep(0.001)


def main() -> None:
    warnings.simplefilter("ignore")
    import filelock  # noqa: F401 - before any fork
    import requests  # noqa: F401

    from graphclust import load_graph

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "warm.mtx")
        path.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n")
        load_graph(path)
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        os.environ |= question["environment"]
        children = [start(question["name"], question.get("kill_at")) for _ in range(question["processes"])]
        if question.get("kill_when"):
            wait_for_bytes(*question["kill_when"])
            for child, _ in children:
                os.kill(child, signal.SIGKILL)
        print(json.dumps([answer(*child) for child in children]), flush=True)


if __name__ == "__main__":
    main()
