"""Powers of two that bring numbers near 1, so that their squares neither vanish nor overflow: exact in both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse


def largest_size(values: Any) -> float:
    """The largest absolute value of an array or a SciPy sparse matrix; 0 where there is none."""
    array = values.data if sparse.issparse(values) else values
    return max(float(array.max()), -float(array.min())) if array.size else 0.0


def exponent_beyond(largest: float, lowest: float, highest: float) -> int:
    """The exponent e for which largest / 2^e is in [1/2, 1); 0 where largest is within the bounds, or 0."""
    return 0 if largest == 0.0 or lowest <= largest <= highest else int(np.frexp(largest)[1])


def times_power_of_two(values: Any, exponent: int | npt.NDArray[np.int32]) -> Any:
    """An array or CSR matrix times 2^exponent, an exponent for all or one a row; exact but for what leaves the range.

    A product is not formed with 2^exponent, which may itself be out of range.
    """
    if not sparse.issparse(values):
        return np.ldexp(values, exponent[:, None] if isinstance(exponent, np.ndarray) else exponent)
    by_entry = np.repeat(exponent, np.diff(values.indptr)) if isinstance(exponent, np.ndarray) else exponent
    return sparse.csr_array((np.ldexp(values.data, by_entry), values.indices, values.indptr), shape=values.shape)


def balance_rows(values: Any, lowest: float, highest: float) -> tuple[Any, npt.NDArray[np.int32]]:
    """The rows, of an array (n, d) or a CSR matrix, over powers of two, and the exponents e of these (n,).

    Rows whose largest absolute value is 0 or within the bounds have e = 0; where all are, `values` itself comes back.
    """
    if sparse.issparse(values):
        largest = np.zeros(values.shape[0], values.dtype)
        filled = np.flatnonzero(np.diff(values.indptr))
        if len(filled):
            largest[filled] = np.maximum.reduceat(np.abs(values.data), values.indptr[filled])
    else:
        largest = np.maximum(values.max(axis=1), -values.min(axis=1))
    beyond = (largest != 0.0) & ~((largest >= lowest) & (largest <= highest))
    exponents = np.where(beyond, np.frexp(largest)[1], 0).astype(np.int32)
    return (times_power_of_two(values, -exponents) if beyond.any() else values), exponents
