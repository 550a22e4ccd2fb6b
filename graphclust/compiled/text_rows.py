"""Read lines of numbers out of bytes: the edges of an edge list, and the grammar of Matrix Market entries.

Every loop works on whole lines first..last-1 of a block of bytes that ends with a newline, and leaves what it cannot
read as a code and the position of the fault, for Python to explain.
"""

import numpy as np
from numba import njit

TAB, NEWLINE, RETURN, SPACE, HASH, PERCENT, PLUS, MINUS, POINT = 9, 10, 13, 32, 35, 37, 43, 45, 46
ZERO, NINE, UPPER_E, LOWER_E = 48, 57, 69, 101

# Faults of a line, as `faults[block]` = (code, position).
FINE, BAD_NODE, BAD_WEIGHT, TOO_FEW, TOO_MANY, EMPTY_FIELD, NOT_FINITE, NEGATIVE, COMMENT = range(9)


@njit(cache=True, nogil=True, inline="always")
def skip_spaces(text, at):
    while text[at] == SPACE or text[at] == TAB or text[at] == RETURN:
        at += 1
    return at


@njit(cache=True, nogil=True, inline="always")
def _skip_digits(text, at):
    while ZERO <= text[at] <= NINE:
        at += 1
    return at


@njit(cache=True, nogil=True, inline="always")
def is_end(byte):
    return byte in (SPACE, NEWLINE, TAB, RETURN)


@njit(cache=True, nogil=True)
def end_of_number(text, at, whole):
    """Where the decimal number that starts here ends, or -1: sign, digits, and unless `whole` point and exponent."""
    if text[at] == MINUS or text[at] == PLUS:
        at += 1
    digits = _skip_digits(text, at)
    n_digits = digits - at
    at = digits
    if not whole:
        if text[at] == POINT:
            digits = _skip_digits(text, at + 1)
            n_digits += digits - at - 1
            at = digits
        if n_digits and (text[at] == LOWER_E or text[at] == UPPER_E):
            at += 1
            if text[at] == MINUS or text[at] == PLUS:
                at += 1
            digits = _skip_digits(text, at)
            if digits == at:
                return -1
            at = digits
    return at if n_digits else -1


@njit(cache=True, nogil=True)
def check_entries(first, last, block, text, has_value, whole, n_rows, n_lines, faults):
    """Count lines, and entries `row column [value]`; stop at the first line that is neither that nor blank."""
    at = first
    n_entries = n_blank = 0
    while at < last:
        at = skip_spaces(text, at)
        if text[at] == NEWLINE:
            at += 1
            n_blank += 1
            continue
        start = at
        if text[at] == PERCENT:
            faults[block, 0], faults[block, 1] = COMMENT, start
            break
        code = FINE
        for _ in range(2):
            token = at
            at = _skip_digits(text, at)
            if at == token or not is_end(text[at]):
                code = BAD_NODE
                break
            at = skip_spaces(text, at)
        if code == FINE and has_value:
            token = at
            at = end_of_number(text, at, whole)
            if at < 0 or not is_end(text[at]):
                code = BAD_WEIGHT
            else:
                at = skip_spaces(text, at)
        if code == FINE and text[at] != NEWLINE:
            code = TOO_MANY
        if code != FINE:
            faults[block, 0], faults[block, 1] = code, start
            break
        at += 1
        n_entries += 1
    n_rows[block] = n_entries
    n_lines[block] = n_entries + n_blank


@njit(cache=True, nogil=True)
def parse_pairs(first, last, text, sources, targets, largest):
    """Read lines of two whole numbers apart by white space, the plain edge list, at full speed; returns rows, lines.

    Comments and blank lines are passed over; anything else gives -1 rows, for `parse_edges` to look at closely.
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
        source = np.uint64(0)
        digit = np.uint64(text[at]) - np.uint64(ZERO)  # a byte below "0" wraps round to a huge one
        while digit < TEN:
            source = source * TEN + digit
            at += 1
            digit = np.uint64(text[at]) - np.uint64(ZERO)
        blank = skip_spaces(text, at)
        if at == token or at - token > 18 or blank == at:
            return -1, 0
        token = at = blank
        target = np.uint64(0)
        digit = np.uint64(text[at]) - np.uint64(ZERO)
        while digit < TEN:
            target = target * TEN + digit
            at += 1
            digit = np.uint64(text[at]) - np.uint64(ZERO)
        if at == token or at - token > 18 or max(source, target) > np.uint64(largest):
            return -1, 0
        at = skip_spaces(text, at)
        if text[at] != NEWLINE:
            return -1, 0
        at += 1
        sources[row], targets[row] = source, target
        row += 1
    return row, row + n_other


TEN = np.uint64(10)
MOST_EXACT = 1 << 53  # whole numbers up to here, times or over 10^0 to 10^22, round only once
POWERS_OF_TEN = 10.0 ** np.arange(23)


@njit(cache=True, nogil=True)
def parse_edges(first, last, text, delimiter, columns, sources, targets, largest, weights, hard, fault):
    """Read lines of `columns` = (how many, source, target, weight or -1), apart by `delimiter`, or (0) white space.

    A node is a whole number up to `largest`. A weight that two exact factors do not give (Clinger 1990) is left to
    Python: hard[row] is its position + 1. Lines of '#' and '%' are comments. Returns rows and lines; where a line is at
    fault, fault = (code, position).
    """
    n_columns, source_column, target_column, weight_column = columns
    row = n_other = 0
    at = first
    code = FINE
    while at < last:
        while _is_space(text[at], delimiter):
            at += 1
        start = at
        if text[at] == NEWLINE or text[at] == HASH or text[at] == PERCENT:
            while text[at] != NEWLINE:
                at += 1
            at += 1
            n_other += 1
            continue
        for column in range(n_columns):
            if text[at] == NEWLINE:
                code = TOO_FEW
                break
            if column in (source_column, target_column):
                token = at
                node = np.uint64(0)
                while ZERO <= text[at] <= NINE:
                    node = node * np.uint64(10) + np.uint64(text[at] - ZERO)
                    at += 1
                if at == token or at - token > 19 or node > np.uint64(largest) or not _ends_field(text[at], delimiter):
                    code = BAD_NODE
                    break
                if column == source_column:
                    sources[row] = np.int64(node)
                else:
                    targets[row] = np.int64(node)
            elif column == weight_column:
                token = at
                at = end_of_number(text, token, False)
                if at >= 0 and _ends_field(text[at], delimiter):
                    weights[row], exact = _decimal(text, token, at)
                    hard[row] = 0 if exact else token + 1
                else:
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


@njit(cache=True, nogil=True, inline="always")
def _is_space(byte, delimiter):
    return (byte in (SPACE, TAB, RETURN)) and byte != delimiter


@njit(cache=True, nogil=True, inline="always")
def _ends_field(byte, delimiter):
    return is_end(byte) or byte == delimiter


@njit(cache=True, nogil=True)
def _end_of_field(text, at, delimiter):
    """White space ends a field only where it is what separates them."""
    while text[at] != NEWLINE and text[at] != delimiter and (delimiter or not is_end(text[at])):
        at += 1
    return at


@njit(cache=True, nogil=True)
def _decimal(text, at, end):
    """The number written in text[at:end], and whether it is surely the nearest float."""
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += 1
    digits = np.int64(0)
    n_digits = 0
    exponent = 0
    after_point = False
    while at < end and text[at] != LOWER_E and text[at] != UPPER_E:
        if text[at] == POINT:
            after_point = True
        else:
            if n_digits < 18:
                digits = digits * 10 + np.int64(text[at] - ZERO)
                n_digits += digits > 0
            elif text[at] != ZERO:
                return 0.0, False
            else:
                exponent += 1
            exponent -= after_point
        at += 1
    if at < end:
        at += 1
        sign = -1 if text[at] == MINUS else 1
        if text[at] == MINUS or text[at] == PLUS:
            at += 1
        if end - at > 6:
            return 0.0, False
        written = 0
        while at < end:
            written = written * 10 + np.int64(text[at] - ZERO)
            at += 1
        exponent += sign * written
    if digits > MOST_EXACT or exponent < -22 or exponent > 22:
        return 0.0, False
    value = digits * POWERS_OF_TEN[exponent] if exponent >= 0 else digits / POWERS_OF_TEN[-exponent]
    return -value if negative else value, True
