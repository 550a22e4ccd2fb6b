"""How much memory a call takes."""

import tracemalloc
from collections.abc import Callable
from typing import Any


def traced(function: Callable[[], Any]) -> tuple[int, Any]:
    """The most bytes in use at a time while a function ran, and what it returned."""
    tracemalloc.start()
    try:
        result = function()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()
