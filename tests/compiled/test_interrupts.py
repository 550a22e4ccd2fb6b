"""Ctrl-C while a compiled loop makes the objects that it returns."""

import os
import pathlib
import subprocess
import sys

import pytest

import graphclust

# A named tuple in another, as a partition is: to make Python's objects of it numba runs Python code.
STRUCK = """
import signal, sys, threading, time
import numpy as np
from graphclust.compiled.graphs.levels import Terms
from graphclust.compiled.graphs.local_moving import singletons

def remind():
    while True:
        time.sleep(0.003)
        signal.raise_signal(signal.SIGINT)

def strike(number, frame):
    global is_armed
    if is_armed:
        is_armed = False
        raise KeyboardInterrupt

is_armed = False
signal.signal(signal.SIGINT, strike)
terms, n_struck = Terms(np.zeros(1_000_000), np.ones(1_000_000)), 0
singletons(terms)
threading.Thread(target=remind, daemon=True).start()
while n_struck < 200:
    try:
        is_armed = True
        while True:
            made = singletons(terms)
            assert made.labels[-1] == 999_999 and made.sums.size.sum() == 1_000_000
    except KeyboardInterrupt:
        n_struck += 1
print("alive", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGALRM"])  # Ctrl-C, and a timer
def test_ctrl_c_while_a_named_tuple_is_returned_does_not_end_the_process(name):
    path = str(pathlib.Path(graphclust.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": path, "GRAPHCLUST_COMPILE": "always"}
    command = [sys.executable, "-c", STRUCK.replace("SIGINT", name)]
    struck = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (struck.returncode, struck.stdout) == (0, "alive\n"), struck.stderr[-2000:]
