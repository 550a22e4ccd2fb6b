"""The bytes of a file, decompressed on the way and in bounded blocks of whole lines, whatever the file may claim."""

import bz2
import codecs
import gzip
import io
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import IO, Any

import numpy as np

from graphclust.compiled.runtime.blocks import run_in_blocks
from graphclust.errors import GraphFormatError, ResourceLimitError, escape_controls
from graphclust.progress import Progress

BLOCK = 8 << 20  # bytes; what is parsed between two looks at the clock
HEAD = 1 << 18  # bytes that decide what a file is
LONGEST_LINE = 64 << 20
PIECE = 1 << 19  # bytes that one call of a compiled loop reads
_NEWLINE = 10
BOMB_SIZE, BOMB_RATIO = 64 << 20, 200  # text never shrinks 200-fold

# Lines above the data, in any format, and comments of XML.
_COMMENTS = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|[#%][^\n]*+|c(?=\s|\Z)[^\n]*+|/\*[^\n]*+|<\?.*?\?>|<!--.*?(?:-->|\Z))*+(?:/|<[!-]*+)?+",
    re.DOTALL,
)
_ARCHIVES = {
    b"PK\x03\x04": "a zip archive", b"\xfd7zXZ": "an xz archive", b"(\xb5/\xfd": "a zstd archive",
    b"7z\xbc\xaf": "a 7z archive",
}  # fmt: skip
_WORKBOOK, _SHEETS = b"\xd0\xcf\x11\xe0", ("xl/workbook.xml", "content.xml")  # Excel's old file; members of new ones

_BROKEN = (EOFError, gzip.BadGzipFile, zlib.error, OSError, ValueError)


class Source(AbstractContextManager):
    """A stream of decompressed bytes that knows its name, and can be looked at before it is read."""

    def __init__(
        self, stream: Any, path: str, compression: str | None, raw: IO[bytes], max_bytes: int | None = None,
        size: int | None = None, encoding: str | None = None,
    ):  # fmt: skip
        self.path, self.compression, self.encoding = path, compression, encoding
        self._stream, self._raw, self._max_bytes = stream, raw, max_bytes
        self._raw_size = os.fstat(raw.fileno()).st_size
        self._size = self._raw_size if size is None and compression is None else size
        self.n_read = 0  # bytes of text so far
        self._ahead = io.BytesIO()
        self.offset = 0  # of the text, how much was given as lines

    def member(self, stream: IO[bytes], name: str, size: int) -> "Source":
        """A part of this source, as it is handed out by an archive."""
        return Source(stream, f"{self.path}:{name}", None, self._raw, size=size)

    def __exit__(self, *_) -> None:
        self._stream.close()
        self._raw.close()

    @property
    def most_bytes(self) -> int:
        """No more bytes than this can follow: deflate packs at most 1032 to one."""
        if self._size is not None:
            return self._size
        return min(self._max_bytes or 2**63, self._raw_size * 1100)

    def head(self) -> bytes:
        """The first bytes, with some that are no comments if there are any; they will be read again."""
        head = self._ahead.getvalue()
        size = HEAD - len(head)
        while size > 0 and (more := self._guard(self._stream.read, size)):
            head += more
            size = HEAD - len(head)
            if size <= 0 and len(head) < LONGEST_LINE and _COMMENTS.fullmatch(head):
                size = len(head)
        self._ahead = io.BytesIO(head)
        return head

    def read(self, size: int = -1) -> bytes:
        """Up to `size` bytes, fewer only before the end; empty at the end."""
        return self._ahead.read(size) or self._guard(self._stream.read, size)

    def skip_to(self, offset: int) -> None:
        """Go on reading at an offset of a file that is not compressed."""
        self._ahead, self.offset = io.BytesIO(), offset
        self._stream.seek(offset)

    def blocks(self, size: int, progress: Progress) -> Iterator[bytes]:
        """The rest in blocks of up to `size` bytes, wherever lines end."""
        while block := self.read(size):
            progress.step(self._raw.tell(), self._raw_size)
            yield block

    def line(self) -> bytes:
        """The next line, with its end if it has one; empty at the end."""
        line = self._ahead.readline()
        if not line.endswith(b"\n"):
            line += self._guard(self._stream.readline, LONGEST_LINE)
        if len(line) >= LONGEST_LINE:
            raise self._too_long(len(line))
        self.offset += len(line)
        return line

    def data_line(self) -> tuple[bytes, int]:
        """The next line that is neither blank nor a comment of %, empty at the end, and how many lines were read."""
        n_lines = 0
        while line := self.line():
            n_lines += 1
            text = line.removeprefix(b"\xef\xbb\xbf").strip()
            if text and not text.startswith(b"%"):
                return text, n_lines
        return b"", n_lines

    def line_blocks(self, progress: Progress) -> Iterator[memoryview]:
        """The rest as blocks of whole lines, each ending with a newline, and each gone when the next is asked for."""
        size = BLOCK if self._size is None else min(BLOCK, self._size + 1)
        buffer: Any = np.empty(size, np.uint8)  # huge pages, unlike a bytearray
        filled = 0
        while n_more := self._fill(memoryview(buffer)[filled:]):
            progress.step(self._raw.tell(), self._raw_size)
            filled += n_more
            end = _end_of_last_line(buffer[:filled])
            if end:
                self.offset += end
                yield memoryview(buffer)[:end]
                buffer[: filled - end] = buffer[end:filled].copy()
                filled -= end
            elif filled >= LONGEST_LINE:
                raise self._too_long(filled)
            if filled == len(buffer):
                buffer = np.concatenate([buffer, np.empty_like(buffer)])
        if filled:
            self.offset += filled
            yield memoryview(buffer[:filled].tobytes() + b"\n")

    def _too_long(self, n_bytes: int) -> GraphFormatError:
        return GraphFormatError(f"line too long: {n_bytes} bytes without an end, expected a text file", self.path)

    def _fill(self, view: memoryview) -> int:
        return self._ahead.readinto(view) or self._guard(self._stream.readinto, view)

    def _guard(self, read, what):
        """Read, and refuse what is broken or has grown beyond all measure."""
        try:
            got = read(what)
        except _BROKEN as problem:
            if isinstance(problem, UnicodeDecodeError):
                raise GraphFormatError(f"is not text in {self.encoding}: {problem.reason}", self.path) from None
            if self.compression is None:
                raise
            fault = f"truncated or corrupt {self.compression} ({problem}); get the file again"
            raise GraphFormatError(fault, self.path) from None
        self.n_read += got if isinstance(got, int) else len(got)
        if self._max_bytes is not None and self.n_read > self._max_bytes:
            wrong = f"{self.path}: holds more than max_bytes={self._max_bytes} bytes once decompressed; raise max_bytes"
            raise ResourceLimitError(wrong)
        is_limited = self.compression is not None and self._max_bytes is None
        if is_limited and self.n_read > max(BOMB_SIZE, BOMB_RATIO * self._raw.tell()):
            raise ResourceLimitError(
                f"{self.path}: {self._raw.tell()} compressed bytes have become {self.n_read}, more than {BOMB_RATIO} "
                "to one; if this is meant, set max_bytes"
            )
        return got


def _end_of_last_line(text: np.ndarray) -> int:
    """The offset after the last newline, 0 without one."""
    for last in range(len(text), 0, -HEAD):
        place = text[max(0, last - HEAD) : last].tobytes().rfind(b"\n")
        if place >= 0:
            return max(0, last - HEAD) + place + 1
    return 0


def line_boundaries(block: memoryview) -> np.ndarray:
    """Offsets that cut a block, which ends with a newline, into pieces of whole lines of about half a megabyte."""
    boundaries = [0]
    while boundaries[-1] < len(block):
        at = min(boundaries[-1] + PIECE, len(block))
        while at < len(block) and block[at - 1] != _NEWLINE:
            at += 1
        boundaries.append(at)
    return np.array(boundaries)


def in_pieces(block: memoryview, read: Callable[[int, int, np.ndarray], tuple]) -> list[tuple]:
    """What `read(first, last, text)` makes of each piece of a block, on as many threads as there are."""
    boundaries, text = line_boundaries(block), np.frombuffer(block.toreadonly(), np.uint8)
    pieces: list = [None] * (len(boundaries) - 1)

    def work(first: int, last: int, piece: int) -> None:
        pieces[piece] = read(first, last, text)

    run_in_blocks(work, boundaries)
    return pieces


class _Transcoded(io.RawIOBase):
    """A stream of text in another encoding as UTF-8."""

    def __init__(self, stream: Any, encoding: str):
        self._stream, self._decode = stream, codecs.getincrementaldecoder(encoding)().decode
        self._ahead = b""

    def readable(self) -> bool:
        """As io.BufferedReader asks."""
        return True

    def readinto(self, view: Any) -> int:
        """Fill the view as far as there is text."""
        while not self._ahead:
            block = self._stream.read(HEAD)
            self._ahead = self._decode(block, final=not block).encode()
            if not block:
                break
        taken, self._ahead = self._ahead[: len(view)], self._ahead[len(view) :]
        view[: len(taken)] = taken
        return len(taken)


def open_source(path: str | os.PathLike, max_bytes: int | None = None, encoding: str | None = None) -> Source:
    """Open a regular file for reading, decompressing gzip and bzip2, which are known by their first bytes.

    max_bytes : refuse to decompress more than this; None stops only where more than 64 MiB came out at 200 to one.
    encoding : of the text, None for UTF-8.
    """
    name = os.fsdecode(path)
    if not name:
        raise FileNotFoundError("the path of the graph file is empty")
    if "\0" in name:
        raise ValueError(f"the path {name!r} holds a NUL character")
    mode = os.stat(name).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{escape_controls(name)} is a directory, expected a graph file")
    if not stat.S_ISREG(mode):
        raise GraphFormatError("not a regular file; write its content to a file first", name)
    raw = io.BufferedReader(io.FileIO(name), 1 << 20)  # the Source closes it
    magic = raw.peek(6)
    compression: str | None = None
    stream: Any = raw
    if magic.startswith(b"\x1f\x8b"):
        compression, stream = "gzip", gzip.GzipFile(fileobj=raw, mode="rb")
    elif magic.startswith(b"BZh"):
        compression, stream = "bzip2", bz2.BZ2File(raw)
    what = next((what for start, what in _ARCHIVES.items() if magic.startswith(start)), None)
    if what is not None or magic.startswith(_WORKBOOK):
        is_workbook = what is None
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(name) as archive:
            is_workbook = is_workbook or not set(_SHEETS).isdisjoint(archive.namelist())
        raw.close()
        if is_workbook:
            raise GraphFormatError("is a workbook of a spreadsheet program; save its sheet of edges as CSV", name)
        raise GraphFormatError(f"is {what}, expected plain text, gzip, bzip2 or tar.gz; unpack it", name)
    if encoding is not None:
        stream = io.BufferedReader(_Transcoded(stream, encoding), HEAD)
    return Source(stream, name, compression, raw, max_bytes, encoding=encoding)
