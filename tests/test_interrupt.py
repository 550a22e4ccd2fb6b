"""Ctrl-C ends long work within two seconds, with a KeyboardInterrupt and nothing else."""

import os
import signal
import subprocess
import sys
import time

import pytest

# What is made ready, and the work of minutes that is interrupted.
LONG_WORK = {
    "generator": ("", "graphclust.stochastic_block_model([1000] * 8000, 0.5, 0.0, rng=1)"),
    "sampling": (
        "graph = graphclust.planted_partition(200, 1000, 8, 1, rng=1).graph\n"
        "coreset = graphclust.Coreset(size=20_000, sampling='naive')",
        "graphclust.coreset_sc(graph, 5000, method='paper', coreset=coreset, rng=1)",
    ),
    "power method": (
        "graph = graphclust.planted_partition(200, 1000, 8, 1, rng=1).graph",
        "graphclust.fast_spectral_embedding(graph, 1000, n_steps=100_000, rng=1)",
    ),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("work", LONG_WORK)
def test_ctrl_c_ends_long_work_within_two_seconds(work):
    ready, long = LONG_WORK[work]
    # A shell lets what it starts in the background ignore SIGINT.
    listening = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = f"{listening}import graphclust\n{ready}\nprint('ready', flush=True)\n{long}\nprint('finished')\n"
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as child:
        assert child.stdout.readline() == "ready\n", child.stderr.read()
        time.sleep(2.0)  # long enough to be past the imports and loops from the cache, or in the middle of compiling
        assert child.poll() is None, child.stderr.read()
        child.send_signal(signal.SIGINT)
        start = time.perf_counter()
        try:
            out, err = child.communicate(timeout=60)
        finally:
            child.kill()
        assert time.perf_counter() - start < 2.0
    assert out == "" and err.rstrip().endswith("KeyboardInterrupt")
    assert child.returncode in (-signal.SIGINT, 130)
