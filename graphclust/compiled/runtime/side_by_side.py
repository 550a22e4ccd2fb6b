"""A second process that compiles while the first does: in another order, into the same cache.

The compiler runs on one core. What a first clustering needs takes some 35 s there, and a third of it, the loops of
agglomeration, are needed by nothing that is compiled before them. So a second process begins with these.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys

from graphclust.compiled.runtime.blocks import n_threads

MODULE = "graphclust.faces.second_compiler"


class _Second:
    process: subprocess.Popen[bytes] | None = None
    asked = False


def start_second_compiler() -> None:
    """Start it once, where there is a core for it and Python can be started; it ends with this process."""
    if _Second.asked or n_threads() < 2 or os.environ.get("GRAPHCLUST_COMPILE") == "always":
        return
    _Second.asked = True
    if getattr(sys, "frozen", False) or not os.path.basename(sys.executable or "").startswith("python"):
        return
    code = f"import sys; sys.path[:] = {sys.path!r}; from {MODULE} import main; main()"
    try:
        _Second.process = subprocess.Popen(
            [sys.executable, "-c", code],
            env=os.environ | {"GRAPHCLUST_COMPILE": "always"},
            stdin=subprocess.PIPE,  # closed when this process ends, in whatever way
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for this process
        )
    except OSError:
        return
    atexit.register(_stop)


def _stop() -> None:
    """End the second process and forget it, so that none is left behind."""
    if _Second.process is not None:
        _Second.process.kill()
        _Second.process.wait()
