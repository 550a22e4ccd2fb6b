"""All faults of an edge list, not only the first, for its correction."""

import argparse
import os

from graphclust.errors import GraphClustError, GraphFormatError
from graphclust.faces.cli.commands.options import load_input
from graphclust.faces.cli.standard_input import temporary_copy
from graphclust.io.recognition import recognize
from graphclust.io.text.byte_source import open_source
from graphclust.io.text.records import COMMENTS

MOST = 10  # that are looked for: each takes another reading of the file
MOST_BYTES = 64 << 20  # of text; a larger file is not read again
BY_LINE = ("snap", "csv")  # formats of which a line can be left out without harm to the others


def faults_of(options: argparse.Namespace, first: GraphFormatError, most: int = MOST) -> list[GraphClustError]:
    """The first fault of a file and those that reading it without their lines shows, in the order of the file.

    options : those with which it was read. A fault that is of no line, such as a negative weight, is the last.
    """
    faults: list[GraphClustError] = [first]
    if first.line is None or not os.path.isfile(options.file):
        return faults
    with open_source(options.file, options.max_bytes) as source:
        if (options.format or recognize(source)) not in BY_LINE:
            return faults
        lines = b"".join(source.blocks(MOST_BYTES, options.progress)).split(b"\n")
    data = (i for i, text in enumerate(lines, 1) if text.strip() and not text.lstrip().startswith(COMMENTS))
    if sum(map(len, lines)) > MOST_BYTES or first.line <= next(data, 0):  # by its first edge a file is known
        return faults
    line: int | None = first.line
    while line is not None and len(faults) < most:
        lines[line - 1] = b""
        fault = _fault_without(lines, options)
        after = getattr(fault, "line", None)
        if fault is None or (after is not None and after <= line):
            break
        faults.append(fault)
        line = after
    return faults


def _fault_without(lines: list[bytes], options: argparse.Namespace) -> GraphClustError | None:
    """The fault of the remaining lines of a file, by the file's own name; None for a graph."""
    with temporary_copy(".txt") as (copy, path):
        copy.write(b"\n".join(lines))
        copy.flush()
        try:
            load_input(argparse.Namespace(**vars(options) | {"file": path, "quiet": False}))
        except GraphClustError as fault:
            fault.args = tuple(str(part).replace(path, options.file) for part in fault.args)
            return fault
    return None
