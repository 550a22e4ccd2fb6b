"""The cache of compiled loops: checked by content, and read also where it cannot be written.

numba trusts its cache, which this one mends in four points:

- A truncated file raises an error of pickle in every process until somebody deletes it, and altered bytes would be run.
  Here a file ends with a checksum; a damaged one is removed, and its loop compiled again.
- numba checks whether the source file of a loop was edited, but not the files of the loops that it calls. Here a file
  bears the fingerprint of all sources.
- numba numbers the files of a loop's signatures, so that two processes which compile the loop for different types may
  write one file. Here a file is named after its types.
- numba reads no loop from a folder that it cannot write.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import stat
import warnings

from numba.core import dispatcher
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

from graphclust.compiled.runtime.cache_folder import (
    fault_of_cache,
    folders_to_read,
    override_folder,
    private_folder,
)
from graphclust.compiled.runtime.compile_lock import acquire, release
from graphclust.compiled.runtime.fingerprint import fingerprint

PACKAGE = __name__.split(".")[0] + "."
_SIZE = 16
_WARNED_OF: set[str] = set()


class Damaged(Exception):
    """The content of a file is not what was written."""


def keep_cache_files_sound() -> None:
    """From now on loops of this package that ask for a cache have one that checks its files."""
    dispatcher.FunctionCache = _cache_of


def _cache_of(loop) -> FunctionCache:
    return LoopCache(loop) if loop.__module__.startswith(PACKAGE) else FunctionCache(loop)


class _Folder:
    """A place of loops as numba knows them: the folder that `keep_in` has named, or none where none can be written."""

    def __init__(self, loop, path: str | None):
        self._line, self._path = loop.__code__.co_firstlineno, path

    def get_cache_path(self) -> str:
        """The folder; empty for none."""
        return self._path or ""

    def get_source_stamp(self) -> str:
        """What a loop was made of."""
        return fingerprint()

    def get_disambiguator(self) -> str:
        """What tells apart loops of one name."""
        return str(self._line)

    def ensure_cache_path(self) -> None:
        """Make the folder."""
        if self._path:
            os.makedirs(self._path, exist_ok=True)


class _OverrideFolder(_Folder):
    @classmethod
    def from_function(cls, loop, file: str) -> "_Folder | None":
        path = override_folder(file)
        return None if path is None else cls(loop, path)


class _NoFolder(_Folder):
    @classmethod
    def from_function(cls, loop, file: str) -> _Folder:
        return cls(loop, None)


class _LoopFiles(CompileResultCacheImpl):
    _locator_classes = [_OverrideFolder, *CompileResultCacheImpl._locator_classes, _NoFolder]  # noqa: RUF012  numba's own


class CheckedFiles(IndexDataCacheFile):
    """An index of the signatures of a loop, and a file for each; pickles, which end where their checksum starts.

    Of two processes that save at a time one waits for the other. Where nothing can be locked one may lose its entry in
    the index, which costs a compilation, no more.
    """

    def load(self, key):
        """What was compiled for a key, or for another processor whose code runs on this one; None where nothing was."""
        overloads = self._load_index()
        for other in (key, *overloads):
            if other in overloads and (other == key or _serves(other, key)):
                with contextlib.suppress(FileNotFoundError, Damaged):  # compiled again under the same name
                    return self._load_data(overloads[other])
        return None

    def save(self, key, data) -> None:
        """Keep what was compiled for a key: types, processor and code."""
        name = self._data_name_pattern.format(number=int.from_bytes(_checksum(repr(key).encode())[:6]))
        self._save_data(name, data)
        acquire(self._index_path)
        try:
            self._save_index({**self._load_index(), key: name})
        finally:
            release(self._index_path)

    def _dump(self, obj) -> bytes:
        content = super()._dump(obj)
        return content + _checksum(content)

    def _load_index(self) -> dict:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            with open(self._index_path, "rb") as file:
                _check_writers(file)
                pickle.load(file)  # the version of numba
                _check(file.read())
            return super()._load_index()
        return {}

    def _load_data(self, name: str):
        with open(self._data_path(name), "rb") as file:
            _check_writers(file)
            _check(file.read())
        return super()._load_data(name)


class LoopCache(FunctionCache):
    """The cache of one loop: the folder where it is kept, if there is one, and those where it is read."""

    _impl_class = _LoopFiles

    def __init__(self, loop):
        super().__init__(loop)
        self._keep_out_of_foreign_folders()
        self._cache_file = self._files_in(self._cache_path)
        self._read_only = [
            self._files_in(folder)
            for root, folder in folders_to_read(loop.__code__.co_filename)
            if folder != self._cache_path and os.path.isdir(folder) and _is_trusted(folder, root)
        ]

    def _files_in(self, folder: str) -> CheckedFiles:
        return CheckedFiles(folder, self._impl.filename_base, fingerprint())

    @property
    def cache_path(self) -> str | None:
        """The folder where the loop is kept; None where none can be written."""
        return self._cache_path or None

    def _keep_out_of_foreign_folders(self) -> None:
        """Files of loops are pickles: anyone who can write one can run code in the next process."""
        path = self._cache_path
        fault = fault_of_cache(path) if path else None
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
        """The compiled loop, or None where there is no sound file of it: then it is to be compiled here."""
        found = self._load(sig, target_context)
        if found is None and self._cache_path and acquire(self._name_of(sig)):
            found = self._load(sig, target_context)  # another process has compiled it meanwhile
            if found is not None:
                release(self._name_of(sig))
        return found

    def _load(self, sig, target_context):
        kept = self._cache_file
        found = self._load_from(kept, sig, target_context) if self._cache_path else None
        for files in self._read_only:
            found = found or self._load_from(files, sig, target_context)
        self._cache_file = kept
        return found

    def _load_from(self, files: CheckedFiles, sig, target_context):
        self._cache_file = files
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever pickle or LLVM make of other bytes than were written
            if files not in self._read_only:
                with contextlib.suppress(FileNotFoundError):
                    self._attempt(lambda: os.unlink(files._index_path))
            return None

    def save_overload(self, sig, data) -> None:
        """Keep a loop that was compiled, which is of use even if it cannot be kept."""
        if self._cache_path:
            self._attempt(lambda: super(LoopCache, self).save_overload(sig, data))
            release(self._name_of(sig))

    def _name_of(self, sig) -> str:
        return f"{self._cache_file._index_path} {sig}"

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


@functools.cache
def _is_trusted(folder: str, root: str) -> bool:
    """Whether loops are read from a folder that others have made; who named it is told why not."""
    fault = fault_of_cache(folder, root)
    if fault is not None:
        _warn_once(
            f"compiled loops are not taken from {fault}, since they are code that is run: take that right away, or "
            "compile them into a folder of your own by `graphclust compile --into`"
        )
    return fault is None


def _warn_once(sentence: str) -> None:
    if sentence not in _WARNED_OF:
        _WARNED_OF.add(sentence)
        warnings.warn(sentence, RuntimeWarning, stacklevel=3)


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_SIZE).digest()


def _serves(made_for, key) -> bool:
    """Whether a loop for the same types runs here: it needs no feature that this processor has not."""
    match (made_for, key):
        case ((types, (system, name, needed), code), (own_types, (own_system, own_name, own), own_code)):
            is_known = name in ("generic", own_name) or "-" in needed  # else the name alone says what the code needs
            features = {feature for feature in needed.split(",") if feature.startswith("+")}
            same = (types, system, code) == (own_types, own_system, own_code)
            return same and is_known and features <= set(own.split(","))
    return False


def _check_writers(file) -> None:
    """A file to which every user can write is not what was written, unless they cannot get at it."""
    if os.fstat(file.fileno()).st_mode & stat.S_IWOTH and os.stat(os.path.dirname(file.name)).st_mode & stat.S_IXOTH:
        raise Damaged


def _check(content: bytes) -> None:
    if _checksum(content[:-_SIZE]) != content[-_SIZE:]:
        raise Damaged
