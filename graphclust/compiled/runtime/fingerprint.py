"""What compiled loops were made of: two processes with the same fingerprint compile the same loops to the same code.

Times of files say nothing: an image, a wheel or a checkout changes them, and a loop depends on the loops that it calls,
in other files. The processor is not part of it, since code that was compiled on one may run on others.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

COMPILERS = ("numba", "llvmlite")
SETTINGS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "ENABLE_AVX", "DEBUGINFO", "LLVM_REFPRUNE_PASS")


@functools.cache
def fingerprint() -> str:
    """A digest of the sources of all loops, the versions of Python and of the compiler, and the compiler's settings."""
    digest = hashlib.blake2b(digest_size=8)
    for name, content in _sources(_folder()):
        digest.update(f"{name} {len(content)} ".encode() + content)
    facts = [sys.implementation.cache_tag, sys.version_info[:3], *map(_version, COMPILERS)]
    facts += [(name, os.environ.get(f"NUMBA_{name}")) for name in SETTINGS]
    digest.update(repr(facts).encode())
    return digest.hexdigest()


def _sources(folder: Any) -> Iterator[tuple[str, bytes]]:
    """The Python files of a folder and its subfolders, in the order of their names."""
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        if item.name.endswith(".py"):
            yield item.name, item.read_bytes().replace(b"\r\n", b"\n")
        elif item.is_dir() and item.name.isidentifier() and not item.name.startswith("__"):
            yield from _sources(item)


def _folder() -> Any:
    """The folder of the loops' sources, on the disk or in an archive that Python imports from."""
    folder = pathlib.Path(__file__).parents[1]
    if folder.is_dir():
        return folder
    from importlib.resources import files

    return files("graphclust.compiled")


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # a copy without its metadata
        return str(__import__(package).__version__)
