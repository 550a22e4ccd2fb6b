"""Elements of an XML file, read one by one: no tree is built, and document types and entities are refused.

Encodings are those of its declaration or byte order mark, as the expat parser knows them.
"""

from collections.abc import Callable
from typing import Any, ClassVar
from xml.parsers import expat

from graphclust.errors import GraphClustError, GraphFormatError
from graphclust.io.text.byte_source import Source
from graphclust.progress import Progress

PASS_OVER = object()  # what a handler returns for an element that is of no use
MOST_DEPTH = 1000
_BLOCK = 1 << 20
_LONGEST_TAG = 16 << 20


class XmlElements:
    """Calls begin_NAME with the attributes of an element called NAME, and end_NAME at its end; passes over all others.

    A subclass has these methods, and as `root` the name of the outermost element. If that has a prefix, so have the
    others. What begin_NAME answers with PASS_OVER is passed over with whatever it holds, and has no end.
    """

    root: ClassVar[str]

    def __init__(self, path: str):
        self.path = path
        self._begins, self._ends = self._methods("begin_"), self._methods("end_")
        self._has_root = False
        self._depth_passed_over = 0
        self._text: list[str] | None = None
        self._n_lines_before = 0
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._end
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self._refuse_definitions

    def _methods(self, start: str) -> dict[str, Callable[..., Any]]:
        return {name.removeprefix(start): getattr(self, name) for name in dir(self) if name.startswith(start)}

    @property
    def line(self) -> int:
        """The line of the element that is being read, from 1."""
        return self._parser.CurrentLineNumber + self._n_lines_before

    def error(self, message: str) -> GraphFormatError:
        """An error at this line."""
        return GraphFormatError(message, self.path, self.line)

    def collect_text(self) -> None:
        """Keep the text of the element that begins, for `text` at its end; elements in it are passed over."""
        self._text = []
        self._parser.CharacterDataHandler = self._text.append

    def text(self) -> str:
        """The text that was collected."""
        self._parser.CharacterDataHandler = None
        text, self._text = "".join(self._text or ()), None
        return text

    def read(self, source: Source, progress: Progress, check: Callable[[], None]) -> None:
        """Read a whole file; `check` is called now and then."""
        n_bytes = 0
        try:
            for block in source.blocks(_BLOCK, progress):
                if n_bytes == 0 and block.lstrip().startswith(b"<?xml"):
                    self._n_lines_before = block[: block.index(b"<")].count(b"\n")
                    block = block.lstrip()
                n_bytes += len(block)
                self._parser.Parse(block)
                if n_bytes - self._parser.CurrentByteIndex > _LONGEST_TAG:
                    raise self.error(f"holds a tag or comment of more than {_LONGEST_TAG >> 20} MiB, expected a graph")
                check()
            self._parser.Parse(b"", True)
        except expat.ExpatError as problem:
            cause = expat.ErrorString(problem.code)
            cut = problem.code in (_CODES[expat.errors.XML_ERROR_NO_ELEMENTS], _CODES[_UNCLOSED])
            line = problem.lineno + self._n_lines_before
            hint = "; it ends too early, get the file again" if cut else ""
            raise GraphFormatError(f"is not well-formed XML ({cause}){hint}", self.path, line) from None
        except (LookupError, ValueError) as problem:
            if isinstance(problem, GraphClustError):
                raise
            raise GraphFormatError(f"cannot be read in its encoding ({problem}); save it as UTF-8", self.path) from None

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        """Pass an opening tag to its reader, or pass over it with all that is in it."""
        if self._depth_passed_over or self._text is not None:
            self._depth_passed_over += 1
            if self._depth_passed_over > MOST_DEPTH:
                raise self.error(f"is nested too deeply for {self.root}")
            return
        if not self._has_root:
            self._know_by_prefix(tag)
        begin = self._begins.get(tag)
        if begin is None or begin(attributes) is PASS_OVER:
            self._depth_passed_over = 1

    def _end(self, tag: str) -> None:
        if self._depth_passed_over:
            self._depth_passed_over -= 1
        elif end := self._ends.get(tag):
            end()

    def _know_by_prefix(self, tag: str) -> None:
        prefix, _, name = tag.rpartition(":")
        if name != self.root:
            raise self.error(f"begins with the element <{tag[:40]}>, expected <{self.root}>")
        prefix += ":" * bool(prefix)
        self._begins, self._ends = (
            {prefix + name: method for name, method in methods.items()} for methods in (self._begins, self._ends)
        )
        self._has_root = True

    def _refuse_definitions(self, *_) -> None:
        raise self.error("defines a document type or entities, which no graph needs; remove them")


_CODES = expat.errors.codes
_UNCLOSED = expat.errors.XML_ERROR_UNCLOSED_TOKEN
