"""Weighted sums of Gaussian kernel entries in single precision; an entry is made, added, and never stored.

A tile of columns is kept as (features, columns), so that one instruction serves several columns, against four rows at a
time. Every sum is taken in one written order: the result has the same bits on any number of threads.
"""

import numpy as np
from numba import njit

COLUMNS = 128  # of a tile
ROWS = 4  # that share what is read of a tile
FEATURES = 4  # by which an inner product grows at a time

# 2^x = 1 + x (_C1 + x (_C2 + ...)), Taylor's; the terms left out are below 1.3e-7 of it for |x| <= 1/2.
_C1 = np.float32(0.693147180559945)
_C2 = np.float32(0.240226506959101)
_C3 = np.float32(0.0555041086648216)
_C4 = np.float32(0.00961812910762848)
_C5 = np.float32(0.00133335581464284)
_C6 = np.float32(0.000154035303933816)
_ZERO = np.float32(0.0)
_ONE = np.float32(1.0)
_HALF = np.float32(0.5)
_LOWEST = np.float32(-126.0)  # 2^-126 is the least number of full precision
_BIAS = np.int32(127)
_SHIFT = np.int32(23)


@njit(cache=True, nogil=True)
def exp2_of_rows(exponents, powers, bits):
    """Replace each x of (ROWS, COLUMNS) by 2^min(x, 0), at least 2^-126; relative error below 3e-7.

    powers : float32, shape (COLUMNS,), overwritten; bits : the same memory as int32.
    """
    for r in range(ROWS):
        for c in range(COLUMNS):
            x = min(max(exponents[r, c], _LOWEST), _ZERO)
            whole = np.floor(x + _HALF)
            x -= whole
            bits[c] = (np.int32(whole) + _BIAS) << _SHIFT  # the float32 2^whole
            exponents[r, c] = _ONE + x * (_C1 + x * (_C2 + x * (_C3 + x * (_C4 + x * (_C5 + x * _C6)))))
        for c in range(COLUMNS):
            exponents[r, c] *= powers[c]


@njit(cache=True, nogil=True)
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
            out[0, t] += (a0 * x0 + a1 * x1) + (a2 * x2 + a3 * x3)
            out[1, t] += (b0 * x0 + b1 * x1) + (b2 * x2 + b3 * x3)
            out[2, t] += (c0 * x0 + c1 * x1) + (c2 * x2 + c3 * x3)
            out[3, t] += (d0 * x0 + d1 * x1) + (d2 * x2 + d3 * x3)


@njit(cache=True, nogil=True)
def add_gaussian_sums(first, last, block, right, right_offsets, left, left_offsets, starts, owners, weights, sums):
    """sums[j, y] += weight 2^(left_offset_x + right_offset_y + <left_x, right_y>) for the votes (j, weight) of each x.

    Columns y first..last-1 of sums (k, n). right : float32 (n, d); left : float32 (m, d), m a multiple of ROWS, d of
    FEATURES. Votes of row x: starts[x]..starts[x + 1]-1 of owners and weights.
    """
    d = right.shape[1]
    k = len(sums)
    # Rows a power of two apart would share a few cache lines.
    tile = np.zeros((d, COLUMNS + 16), np.float32)
    offsets = np.zeros(COLUMNS, np.float32)
    entries = np.empty((ROWS, COLUMNS + 16), np.float32)
    powers = np.empty(COLUMNS, np.float32)
    bits = powers.view(np.int32)
    totals = np.zeros((k, COLUMNS))
    for start in range(first, last, COLUMNS):
        width = min(COLUMNS, last - start)
        for t in range(width):
            offsets[t] = right_offsets[start + t]
            for l in range(d):
                tile[l, t] = right[start + t, l]
        for j in range(k):
            for t in range(width):
                totals[j, t] = sums[j, start + t]
        for r in range(0, len(left), ROWS):
            _products_of_rows(left, left_offsets, r, tile, offsets, entries)
            exp2_of_rows(entries, powers, bits)
            for i in range(ROWS):
                for e in range(starts[r + i], starts[r + i + 1]):
                    j = owners[e]
                    weight = weights[e]
                    for t in range(COLUMNS):
                        totals[j, t] += weight * entries[i, t]
        for j in range(k):
            for t in range(width):
                sums[j, start + t] = totals[j, t]
