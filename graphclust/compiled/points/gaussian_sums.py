"""Weighted sums of Gaussian kernel entries; an entry is made, added, and never stored.

A tile of columns is kept as (features, columns), so that one instruction serves several columns, against four rows at a
time. Every sum is taken in one written order: the result has the same bits on any number of threads. Products may be
added without rounding between ("contract"): a fifth faster, and as good on every processor.
"""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.runtime.loops import loop

COLUMNS = 256  # of a tile
ROWS = 4  # that share what is read of a tile
FEATURES = 4  # by which an inner product grows at a time


class Scaled(NamedTuple):
    """Points (n, d) and what is added to the exponents of each (n,); d a multiple of FEATURES, float32 or float64."""

    points: np.ndarray
    offsets: np.ndarray


class Spans(NamedTuple):
    """The rows that each block of columns meets, from starts[block] to ends[block] - 1; multiples of ROWS."""

    starts: np.ndarray
    ends: np.ndarray


class Votes(NamedTuple):
    """The votes of row x are starts[x]..starts[x + 1]-1 of owners and weights."""

    starts: np.ndarray
    owners: np.ndarray
    weights: np.ndarray


# 2^x = 1 + x (C1 + x (C2 + ...)) for |x| <= 1/2. In single precision the coefficients of the least relative error that
# five terms can have, 9.2e-8; in double those of Taylor, (ln 2)^i / i!, which after twelve terms leave out 2e-16.
_F1, _F2, _F3 = np.float32(0.6931469775989922), np.float32(0.24022242085262266), np.float32(0.05550733743497075)
_F4, _F5 = np.float32(0.009671512644824385), np.float32(0.0013264727123578478)
_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
_C1, _C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12 = np.cumprod(np.log(2.0) / np.arange(1, 13))


@loop(fastmath={"contract"})
def exp2_single(exponents, powers, bits):
    """Replace each x of ROWS * COLUMNS, float32, by 2^min(x, 0), at least 2^-126; relative error below 3e-7.

    powers : float32, as many, overwritten; bits : the same memory as int32.
    """
    for i in range(ROWS * COLUMNS):
        x = min(max(exponents[i], np.float32(-126.0)), _ZERO)
        whole = np.floor(x + _HALF)
        x -= whole
        bits[i] = (np.int32(whole) + np.int32(127)) << np.int32(23)  # the float32 2^whole
        exponents[i] = _ONE + x * (_F1 + x * (_F2 + x * (_F3 + x * (_F4 + x * _F5))))
    for i in range(ROWS * COLUMNS):
        exponents[i] *= powers[i]


@loop(fastmath={"contract"})
def exp2_double(exponents, powers, bits):
    """The same in float64 and int64; at least 2^-1022, relative error below 1e-15."""
    for i in range(ROWS * COLUMNS):
        x = min(max(exponents[i], -1022.0), 0.0)
        whole = np.floor(x + 0.5)
        x -= whole
        bits[i] = (np.int64(whole) + 1023) << 52
        y = _C7 + x * (_C8 + x * (_C9 + x * (_C10 + x * (_C11 + x * _C12))))
        y = _C1 + x * (_C2 + x * (_C3 + x * (_C4 + x * (_C5 + x * (_C6 + x * y)))))
        exponents[i] = 1.0 + x * y
    for i in range(ROWS * COLUMNS):
        exponents[i] *= powers[i]


@loop(fastmath={"contract"})
def _products_of_rows(left, left_offsets, r, tile, offsets, out):
    """left_offset + offset + the inner product, for rows r..r+3 of left and all columns of the tile."""
    a, b, c, d = left_offsets[r], left_offsets[r + 1], left_offsets[r + 2], left_offsets[r + 3]
    for t in range(COLUMNS):
        out[0, t] = a + offsets[t]
        out[1, t] = b + offsets[t]
        out[2, t] = c + offsets[t]
        out[3, t] = d + offsets[t]
    for l in range(0, left.shape[1], FEATURES):
        a0, a1, a2, a3 = left[r, l], left[r, l + 1], left[r, l + 2], left[r, l + 3]
        b0, b1, b2, b3 = left[r + 1, l], left[r + 1, l + 1], left[r + 1, l + 2], left[r + 1, l + 3]
        c0, c1, c2, c3 = left[r + 2, l], left[r + 2, l + 1], left[r + 2, l + 2], left[r + 2, l + 3]
        d0, d1, d2, d3 = left[r + 3, l], left[r + 3, l + 1], left[r + 3, l + 2], left[r + 3, l + 3]
        for t in range(COLUMNS):
            x0, x1, x2, x3 = tile[l, t], tile[l + 1, t], tile[l + 2, t], tile[l + 3, t]
            out[0, t] = out[0, t] + a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
            out[1, t] = out[1, t] + b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3
            out[2, t] = out[2, t] + c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3
            out[3, t] = out[3, t] + d0 * x0 + d1 * x1 + d2 * x2 + d3 * x3


@loop()
def _vote_alike(r, starts, owners, weights):
    """Whether rows r..r+3 have the same votes."""
    first, n_votes = starts[r], starts[r + 1] - starts[r]
    for i in range(1, ROWS):
        start = starts[r + i]
        if starts[r + i + 1] - start != n_votes:
            return False
        for e in range(n_votes):
            if owners[start + e] != owners[first + e] or weights[start + e] != weights[first + e]:
                return False
    return True


@loop(fastmath={"contract"})
def add_gaussian_sums(first, last, block, columns, rows, spans, votes, sums):
    """sums[j, y] += weight 2^(left_offset_x + right_offset_y + <left_x, right_y>) for the votes (j, weight) of each x.

    Columns y first..last-1 of sums (k, n), at most COLUMNS; columns are `right`, rows `left`, both of one dtype.
    """
    right, right_offsets = columns
    left, left_offsets = rows
    row_starts, row_ends = spans
    starts, owners, weights = votes
    d = right.shape[1]
    width = last - first
    # Rows a power of two apart would share a few cache lines.
    tile = np.zeros((d, COLUMNS + 16), right.dtype)
    offsets = np.zeros(COLUMNS, right.dtype)
    entries = np.empty((ROWS, COLUMNS), right.dtype)
    exponents = entries.reshape(ROWS * COLUMNS)
    powers = np.empty(ROWS * COLUMNS, right.dtype)
    totals = np.zeros((len(sums), COLUMNS))
    for t in range(width):
        offsets[t] = right_offsets[first + t]
        for l in range(d):
            tile[l, t] = right[first + t, l]
    for r in range(row_starts[block], row_ends[block], ROWS):
        _products_of_rows(left, left_offsets, r, tile, offsets, entries)
        if right.itemsize == 4:
            exp2_single(exponents, powers, powers.view(np.int32))
        else:
            exp2_double(exponents, powers, powers.view(np.int64))
        n_rows = ROWS
        if _vote_alike(r, starts, owners, weights):
            n_rows = 1
            for t in range(COLUMNS):
                entries[0, t] = (entries[0, t] + entries[1, t]) + (entries[2, t] + entries[3, t])
        for i in range(n_rows):
            for e in range(starts[r + i], starts[r + i + 1]):
                j = owners[e]
                weight = weights[e]
                for t in range(COLUMNS):
                    totals[j, t] += weight * entries[i, t]
    for j in range(len(sums)):
        for t in range(width):
            sums[j, first + t] += totals[j, t]
