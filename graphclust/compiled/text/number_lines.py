"""Read lines of numbers out of bytes: edges of an edge list, entries of a Matrix Market file, neighbors of METIS.

Every loop works on whole lines first..last-1 of a block of bytes that ends with a newline, and leaves what it cannot
read as a code and the position of the fault, for Python to explain.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import UNCOUNTED, loop
from graphclust.compiled.text.parse_float import NO_NUMBER, read_digits, read_number

TAB, NEWLINE, RETURN, SPACE, HASH, PERCENT = 9, 10, 13, 32, 35, 37
ZERO, NINE = 48, 57

# Faults of a line, as `faults[block]` = (code, position).
FINE, BAD_NODE, BAD_WEIGHT, TOO_FEW, TOO_MANY = range(5)


@loop(inline="always", **UNCOUNTED)
def skip_spaces(text, at):
    while text[at] == SPACE or text[at] == TAB or text[at] == RETURN:
        at += 1
    return at


@loop(inline="always", **UNCOUNTED)
def skip_line(text, at):
    while text[at] != NEWLINE:
        at += 1
    return at + 1


@loop(inline="always", **UNCOUNTED)
def is_end(byte):
    return byte in (SPACE, NEWLINE, TAB, RETURN)


class MatrixLines(NamedTuple):
    """Lines `row column [value]` of a matrix of this shape; columns are counted from `offset`, `whole` values only."""

    n_rows: int
    n_columns: int
    offset: int
    has_value: bool
    whole: bool


class EdgeLines(NamedTuple):
    """Lines of columns = (how many, source, target, weight or -1), apart by `delimiter`, or (0) white space.

    A node is a whole number up to `largest`.
    """

    delimiter: int
    columns: tuple[int, int, int, int]
    largest: int


class ParsedEntries(NamedTuple):
    """Both ends and the weight of each entry; hard[e] is the position + 1 of a weight that is left to Python, or 0.

    Of METIS no weight is, and `hard` is empty.
    """

    sources: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    hard: np.ndarray


@loop(**UNCOUNTED)
def parse_entries(first, last, text, lines, entries, fault):
    """Read the entries of a Matrix Market file; indices from 1 become those from 0, and from the offset.

    Blank lines and comments of '%' are passed over. A value that is no plain number, or whose nearest float is not
    sure, is left to Python. Returns entries and lines; at the first line that is none, fault = (code, position).
    """
    n_rows, n_columns, offset, has_value, whole = lines
    rows, columns, values, hard = entries
    entry = n_other = 0
    at = first
    while at < last:
        at = skip_spaces(text, at)
        if text[at] == NEWLINE or text[at] == PERCENT:
            at = skip_line(text, at)
            n_other += 1
            continue
        start = at
        code = FINE
        row, at = _whole_number(text, at)
        blank = skip_spaces(text, at)
        column, at_end = _whole_number(text, blank)
        if blank == at or not is_end(text[at_end]) or not (1 <= row <= n_rows and 1 <= column <= n_columns):
            code = BAD_NODE
        else:
            rows[entry], columns[entry] = row - 1, column - 1 + offset
            at = skip_spaces(text, at_end)
            if has_value:
                token = at
                at, values[entry], sure = read_number(text, token, whole)
                hard[entry] = 0 if sure else token + 1
                if at == NO_NUMBER or not is_end(text[at]):  # not a number, or nan
                    hard[entry] = token + 1
                    at = _end_of_field(text, token, 0)
                if at == token:
                    code = BAD_WEIGHT
                else:
                    at = skip_spaces(text, at)
        if code == FINE and text[at] != NEWLINE:
            code = TOO_MANY
        if code != FINE:
            fault[0], fault[1] = code, start
            break
        at += 1
        entry += 1
    return entry, entry + n_other


@loop(inline="always", **UNCOUNTED)
def _whole_number(text, at):
    """The whole number that starts here, or -1 where there is none below 10^18; and where it ends."""
    token = at
    number, at = read_digits(text, at, np.uint64(0))
    return np.int64(number) if 0 < at - token <= 18 else np.int64(-1), at


@loop(**UNCOUNTED)
def parse_pairs(first, last, text, sources, targets, largest):
    """Read lines of two whole numbers apart by white space, the plain edge list, at full speed; returns rows, lines.

    Comments and blank lines are passed over; anything else, ids with a leading zero as well, gives -1 rows, for
    `parse_edges` to look at closely.
    """
    row = n_other = 0
    at = first
    while at < last:
        byte = text[at]
        if byte < ZERO:
            if byte == HASH or byte == PERCENT:  # noqa: SIM109
                while text[at] != NEWLINE:
                    at += 1
            elif not is_end(byte):
                return -1, 0
            n_other += text[at] == NEWLINE
            at += 1
            continue
        token = at
        source, at = _whole_number(text, at)
        blank = skip_spaces(text, at)
        if blank == at or (byte == ZERO and at > token + 1):
            return -1, 0
        target, at = _whole_number(text, blank)
        if min(source, target) < 0 or max(source, target) > largest or (text[blank] == ZERO and at > blank + 1):
            return -1, 0
        at = skip_spaces(text, at)
        if text[at] != NEWLINE:
            return -1, 0
        at += 1
        sources[row], targets[row] = source, target
        row += 1
    return row, row + n_other


@loop(**UNCOUNTED)
def parse_edges(first, last, text, lines, edges, fault):
    """Read lines of edges; those of '#' and '%' are comments. An id with a leading zero is no number.

    A weight that is no plain number, or whose nearest float is not sure, is left to Python. Returns rows and lines;
    where a line is at fault, fault = (code, position).
    """
    delimiter, (n_columns, source_column, target_column, weight_column), largest = lines
    sources, targets, weights, hard = edges
    row = n_other = 0
    at = first
    code = FINE
    while at < last:
        while _is_space(text[at], delimiter):
            at += 1
        start = at
        if text[at] == NEWLINE or text[at] == HASH or text[at] == PERCENT:
            at = skip_line(text, at)
            n_other += 1
            continue
        for column in range(n_columns):
            if text[at] == NEWLINE and not delimiter:  # after a delimiter this is an empty field
                code = TOO_FEW
                break
            if column in (source_column, target_column):
                token = at
                node, at = read_digits(text, at, np.uint64(0))
                padded = text[token] == ZERO and at > token + 1
                fits = token < at <= token + 19 and node <= np.uint64(largest)
                if padded or not fits or not _ends_field(text[at], delimiter):
                    code = BAD_NODE
                    break
                if column == source_column:
                    sources[row] = np.int64(node)
                else:
                    targets[row] = np.int64(node)
            elif column == weight_column:
                token = at
                at, weights[row], sure = read_number(text, token, False)
                hard[row] = 0 if sure else token + 1
                if at == NO_NUMBER or not _ends_field(text[at], delimiter):
                    hard[row] = token + 1
                    at = _end_of_field(text, token, delimiter)
            else:
                at = _end_of_field(text, at, delimiter)
            while _is_space(text[at], delimiter):
                at += 1
            if delimiter and column < n_columns - 1:
                if text[at] != delimiter:
                    code = TOO_FEW if text[at] == NEWLINE else BAD_NODE
                    break
                at += 1
                while _is_space(text[at], delimiter):
                    at += 1
        if code == FINE and text[at] != NEWLINE:
            code = TOO_MANY
        if code != FINE:
            fault[0], fault[1] = code, start
            break
        at += 1
        row += 1
    return row, row + n_other


@loop(inline="always", **UNCOUNTED)
def _is_space(byte, delimiter):
    return (byte in (SPACE, TAB, RETURN)) and byte != delimiter


@loop(inline="always", **UNCOUNTED)
def _ends_field(byte, delimiter):
    return is_end(byte) or byte == delimiter


@loop(**UNCOUNTED)
def _end_of_field(text, at, delimiter):
    """White space ends a field only where it is what separates them."""
    while text[at] != NEWLINE and text[at] != delimiter and (delimiter or not is_end(text[at])):
        at += 1
    return at


@loop(**UNCOUNTED)
def count_words(first, last, block, text, n_lines, n_words):
    """Lines that are no comments of %, and words on them; both (n_blocks,)."""
    lines = words = 0
    at = first
    while at < last:
        at = skip_spaces(text, at)
        if text[at] == PERCENT:
            at = skip_line(text, at)
            continue
        while text[at] != NEWLINE:
            words += 1
            while not is_end(text[at]):
                at += 1
            at = skip_spaces(text, at)
        lines += 1
        at += 1
    n_lines[block] = lines
    n_words[block] = words


class NeighborLines(NamedTuple):
    """Lines of neighbors 1..n_nodes, each line a node's.

    The first `n_leading` numbers of a line are passed over; where `weighted`, a weight > 0 follows each neighbor.
    """

    n_nodes: int
    n_leading: int
    weighted: bool


@loop(**UNCOUNTED)
def parse_neighbors(first, last, block, text, lines, starts, entries, outcomes):
    """Read the lines of a block.

    starts : the first node of each block, counted from 0, and where its first entry goes. outcomes : how many entries
    each block has, and its first fault, code and position.
    """
    n_nodes, n_leading, weighted = lines
    nodes, entry_starts = starts
    n_entries, faults = outcomes
    sources, targets, weights, _ = entries
    node = nodes[block]
    entry = entry_starts[block]
    at = first
    code = FINE
    while at < last and code == FINE:
        at = skip_spaces(text, at)
        if text[at] == PERCENT:
            at = skip_line(text, at)
            continue
        start = at
        column = 0
        while text[at] != NEWLINE and code == FINE:
            number, at = _whole_number(text, at)
            if number < 0 or not is_end(text[at]):
                code = BAD_WEIGHT if weighted and column >= n_leading and (column - n_leading) & 1 else BAD_NODE
            elif node >= n_nodes:
                code = TOO_MANY
            elif column >= n_leading:
                if weighted and (column - n_leading) & 1:
                    weights[entry - 1] = number
                    if number == 0:
                        code = BAD_WEIGHT
                elif number < 1 or number > n_nodes or number == node + 1:
                    code = BAD_NODE
                else:
                    sources[entry], targets[entry] = node, number - 1
                    entry += 1
            column += 1
            at = skip_spaces(text, at)
        if code == FINE and node < n_nodes and (column < n_leading or (weighted and (column - n_leading) & 1)):
            code = TOO_FEW
        if code != FINE:
            faults[block, 0], faults[block, 1] = code, start
        at += 1
        node += 1
    n_entries[block] = entry - entry_starts[block]
