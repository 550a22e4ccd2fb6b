"""Rows of text tables: fields between delimiters, in quotes where they hold delimiters, quotes or line ends."""

import re

_QUOTED = r'"((?:[^"]++|"")*+)"'
_FIELD = {
    mark: re.compile(rf"[ ]*+(?:{_QUOTED}[ {blank}]*+|([^\n{mark}]*+))(?={mark}|\r?\Z)")
    for mark, blank in (("\t", ""), (";", "\t"), (",", "\t"))
}
QUOTED = re.compile(_QUOTED)
_BEGUN = re.compile(r'[ ]*+"(?:[^"]++|"")*+\Z')
_WORD = re.compile(rf"{_QUOTED}(?=\s|\Z)|(\S+)")
# The words that pandas, R and databases write, or read, for a value that is missing.
MISSING = frozenset(
    ("", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "NaN", "nan", "-NaN", "-nan", "NaT", "NULL", "null", "None", r"\N")
)


class OpenQuote(ValueError):
    """A quoted field goes on in the next line."""


def split(row: str, delimiter: str | None) -> list[str]:
    """The fields of a row, white space around them taken away unless it is in quotes.

    delimiter : None for white space. Raises OpenQuote where a quote does not end; ValueError where text follows one.

    >>> split('a, "b, ""c"" d",e', ",")
    ['a', 'b, "c" d', 'e']
    """
    if '"' not in row:
        return row.split() if delimiter is None else [field.strip(" \t\r") for field in row.split(delimiter)]
    if delimiter is None:
        return [found[2] if found[1] is None else found[1].replace('""', '"') for found in _WORD.finditer(row)]
    fields, at = [], 0
    while True:
        found = _FIELD[delimiter].match(row, at)
        if found is None or (found[1] is None and found[2].startswith('"')):
            if _BEGUN.match(row, at):
                raise OpenQuote("a quote does not end")
            raise ValueError("text follows a quoted field")
        fields.append(found[2].strip(" \t\r") if found[1] is None else found[1].replace('""', '"'))
        at = found.end() + 1
        if found.end() >= len(row.rstrip("\r")):
            return fields


def is_quoted(field: str, row: str) -> bool:
    """Whether a field stands in quotes in its row."""
    return '"' + field.replace('"', '""') + '"' in row
