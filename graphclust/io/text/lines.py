"""Blocks of text lines: where to cut them, how to show a piece of them, what weights they may not hold."""

from collections.abc import Callable

import numpy as np

from graphclust.errors import GraphValidationError, amount, escape_controls
from graphclust.io.weight_checks import remedy_for_signs_in_files

NEWLINE = 10
PIECE = 1 << 19  # bytes that one call of a compiled loop reads


def line_boundaries(block: memoryview) -> np.ndarray:
    """Offsets that cut a block, which ends with a newline, into pieces of whole lines of about half a megabyte."""
    boundaries = [0]
    while boundaries[-1] < len(block):
        at = min(boundaries[-1] + PIECE, len(block))
        while at < len(block) and block[at - 1] != NEWLINE:
            at += 1
        boundaries.append(at)
    return np.array(boundaries)


def quote(text: bytes, most: int = 80) -> str:
    """A piece of a file for a message: escape_controls, and not longer than a line."""
    words = escape_controls(text[:most].decode("utf-8", "backslashreplace"))
    return words + "..." if len(text) > most else words


class NegativeOrInfinite:
    """Weights that no graph may have, counted over all blocks of a file; the first is remembered with its place."""

    def __init__(self, path: str, weights: str):
        self.path, self.policy = path, weights
        self._counts = {"non-finite": 0, "negative": 0}
        self._first: dict[str, str] = {}

    def look_at(self, values: np.ndarray, place: Callable[[int], str]) -> np.ndarray | None:
        """The weights to use of one block, by the policy; `place(entry)` says where an entry stands."""
        if self.policy == "ignore":
            return None
        if not np.isfinite(values.sum()):  # a sum is quick, and shows any nan or infinity
            self._count("non-finite", ~np.isfinite(values), values, place)
        if self.policy == "abs":
            return np.abs(values)
        if self.policy != "signed" and len(values) and values.min() < 0:
            self._count("negative", values < 0, values, place)
        return values

    def _count(self, kind: str, bad: np.ndarray, values: np.ndarray, place: Callable[[int], str]) -> None:
        entries = np.flatnonzero(bad)
        if len(entries) and kind not in self._first:
            self._first[kind] = f"{values[entries[0]]:g} at {place(int(entries[0]))}"
        self._counts[kind] += len(entries)

    def complain(self) -> None:
        """Raise if there was any."""
        remedies = {
            "non-finite": 'remove these entries, or pass weights="ignore" to count every entry as 1',
            "negative": remedy_for_signs_in_files(),
        }
        for kind, remedy in remedies.items():
            if self._counts[kind]:
                raise GraphValidationError(
                    f"{self.path}: {amount(self._counts[kind], f'{kind} weight')}, the first {self._first[kind]}; "
                    f"expected finite weights >= 0: {remedy}"
                )
