"""Entries of a sparse symmetric matrix between some rows and some columns."""

from graphclust.compiled.runtime.loops import loop


@loop()
def _position(values, first, last, wanted):
    """Where `wanted` stands, or would stand, among the increasing values[first:last]."""
    while first < last:
        middle = (first + last) // 2
        if values[middle] < wanted:
            first = middle + 1
        else:
            last = middle
    return first


@loop()
def gather_entries(indptr, indices, values, rows, columns, found):
    """Write K[rows, columns] to found, which is all zero; columns increase. Each row is searched for the fewer."""
    n_columns = len(columns)
    for i in range(len(rows)):
        start, end = indptr[rows[i]], indptr[rows[i] + 1]
        if end - start < n_columns:
            for e in range(start, end):
                at = _position(columns, 0, n_columns, indices[e])
                if at < n_columns and columns[at] == indices[e]:
                    found[i, at] = values[e]
        else:
            at = start
            for c in range(n_columns):
                at = _position(indices, at, end, columns[c])
                if at < end and indices[at] == columns[c]:
                    found[i, c] = values[at]
