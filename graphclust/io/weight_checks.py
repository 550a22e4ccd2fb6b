"""Weights on their way to a graph, in one array or block by block: what none can have is refused."""

from collections.abc import Callable

import numpy as np

from graphclust.errors import GraphValidationError, amount, caller_takes


def remedy_for_signs_in_files() -> str:
    """What to do about negative weights of a file."""
    repel = 'pass kind="signed" if they repel' if caller_takes("kind") else "drop edges that repel"
    others = 'pass weights="ignore" to count every entry as 1, or weights="abs" for their sizes'
    return f"{repel}; where signs mean no such thing, {others}"


def refuse_impossible(
    weights: np.ndarray, where: str, in_file: bool = False, place: Callable[[int], str] = "entry {}".format,
    signed: bool = False,
) -> None:  # fmt: skip
    """Refuse negative weights and those that are not finite; `where` begins the sentence.

    in_file : whether the argument `weights` of `load_graph` is a remedy.  place : where a weight stands.  signed :
    whether weights may be below zero.
    """
    wrong = np.flatnonzero(~(np.isfinite(weights) & (signed | (weights >= 0.0))))
    if len(wrong):
        remedy = f": {remedy_for_signs_in_files()}" if in_file else ""
        if caller_takes("kind") and weights[wrong[0]] < 0.0 and not in_file:
            remedy = '; pass kind="signed" if they repel'
        first = f"a weight is {weights[wrong[0]]} in {place(int(wrong[0]))}"
        others = f", the first of {len(wrong)} such weights" if len(wrong) > 1 else ""
        expected = "finite weights" if signed else "finite weights >= 0"
        raise GraphValidationError(f"{where}: {first}{others}, expected {expected}{remedy}")


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
