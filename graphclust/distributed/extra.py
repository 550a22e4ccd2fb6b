"""Optional packages that a Dask cluster needs, and how to install them."""

from importlib import import_module
from typing import Any


def import_extra(module: str) -> Any:
    """A module of the extra, or an ImportError that says how to install it."""
    try:
        return import_module(module)
    except ImportError as problem:
        raise ImportError(
            f"graphclust.distributed needs {module}, which is not installed: pip install 'graphclust[dask]'"
        ) from problem
