"""Names of nodes as a file of text holds them, and what they were."""

from collections.abc import Iterable
from typing import Any

MOST = 2**63  # what a store can hold as a number is smaller


def as_texts(names: Iterable[Any]) -> list[str] | None:
    """The names as they are printed; None where two would be the same."""
    texts = [str(name) for name in names]
    return texts if len(set(texts)) == len(texts) else None


def as_numbers(names: list[Any]) -> list[Any]:
    """Names as whole numbers below 2^63, if all are, as they would be written."""
    return [int(name) for name in names] if all(map(_is_number, names)) else names


def _is_number(name: Any) -> bool:
    if not isinstance(name, str):
        return False
    digits = name.removeprefix("-")
    shaped = digits.isascii() and digits.isdigit() and len(digits) <= len(str(MOST))
    return shaped and str(int(name)) == name and abs(int(name)) < MOST
