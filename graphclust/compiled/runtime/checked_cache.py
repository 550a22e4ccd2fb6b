"""Files of compiled loops that were cut short or damaged are found, deleted and compiled again.

numba trusts its cache: half a file ends in an error of pickle, in every process until somebody deletes it, and a file
with other bytes in it would be run. So the files of our loops end with a checksum of what is before it. And numba
numbers the files of a loop's signatures, so that of two processes that compile the loop for different types at a time
one can write the file that the other's entry names. So ours are named after what they are for.
"""

import contextlib
import hashlib
import os
import pickle
import warnings

from numba.core import dispatcher
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache

from graphclust.compiled.runtime.cache_folder import fault_of_cache, private_folder

PACKAGE = __name__.split(".")[0] + "."
_SIZE = 16
_WARNED_OF: set[str] = set()


class Damaged(Exception):
    """The content of a file is not what was written."""


def keep_cache_files_sound() -> None:
    """From now on loops of this package that ask for a cache have one that checks its files."""
    dispatcher.FunctionCache = _cache_of


def _cache_of(loop) -> FunctionCache | NullCache:
    """The cache of a loop; none where no folder can be written to, so that every process compiles."""
    if not loop.__module__.startswith(PACKAGE):
        return FunctionCache(loop)
    try:
        return LoopCache(loop)
    except (RuntimeError, OSError):  # numba has found no folder, or there is none for temporary files
        return NullCache()


class CheckedFiles(IndexDataCacheFile):
    """An index of the signatures of a loop, and a file for each; pickles, which end where their checksum starts.

    Of two processes that save at a time one may lose its entry in the index, which costs a compilation, no more.
    """

    def save(self, key, data) -> None:
        """Keep what was compiled for a key: types, processor and code."""
        name = self._data_name_pattern.format(number=int.from_bytes(_checksum(repr(key).encode())[:6]))
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})

    def _dump(self, obj) -> bytes:
        content = super()._dump(obj)
        return content + _checksum(content)

    def _load_index(self) -> dict:
        with contextlib.suppress(FileNotFoundError), open(self._index_path, "rb") as file:
            pickle.load(file)  # the version of numba
            _check(file.read())
        return super()._load_index()

    def _load_data(self, name: str):
        with open(self._data_path(name), "rb") as file:
            _check(file.read())
        return super()._load_data(name)


class LoopCache(FunctionCache):
    """The cache of one loop."""

    def __init__(self, loop):
        super().__init__(loop)
        self._keep_out_of_foreign_folders()
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def _keep_out_of_foreign_folders(self) -> None:
        """Files of loops are pickles: anyone who can write one can run code in the next process."""
        path = self._cache_path
        fault = fault_of_cache(path)
        if fault is None:
            return
        own = os.path.join(private_folder(), os.path.basename(path))
        self._cache_path = own
        self._impl.locator.get_cache_path = lambda: own
        _warn_once(
            f"compiled loops are not taken from {fault}, since they are code that is run; they are kept in "
            f"{private_folder()} now: take that right away, or set NUMBA_CACHE_DIR to a folder of your own"
        )

    def load_overload(self, sig, target_context):
        """The compiled loop, or None where there is no sound file of it."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever pickle or LLVM make of other bytes than were written
            with contextlib.suppress(FileNotFoundError):
                self._attempt(lambda: os.unlink(self._cache_file._index_path))
            return None

    def save_overload(self, sig, data) -> None:
        """Keep a loop that was compiled, which is of use even if it cannot be kept."""
        self._attempt(lambda: super(LoopCache, self).save_overload(sig, data))

    def _attempt(self, change) -> None:
        try:
            change()
        except FileNotFoundError:
            raise
        except OSError as problem:
            _warn_once(
                f"compiled loops cannot be kept in {self._cache_path} ({problem}), so that every process compiles "
                "them; make room or set NUMBA_CACHE_DIR to another folder"
            )


def _warn_once(sentence: str) -> None:
    if sentence not in _WARNED_OF:
        _WARNED_OF.add(sentence)
        warnings.warn(sentence, RuntimeWarning, stacklevel=3)


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_SIZE).digest()


def _check(content: bytes) -> None:
    if _checksum(content[:-_SIZE]) != content[-_SIZE:]:
        raise Damaged
