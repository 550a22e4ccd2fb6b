"""Tests that loop over cases: where a case is not worth a line of its own in the report, a failure names it."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def for_each(
    names: str | tuple[str, ...], values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The test is run for one value after the other, tuples where there are several names; called as parametrize."""
    names = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    values = list(values)
    if any(hasattr(value, "marks") for value in values):
        raise TypeError(f"{names}: a value has a mark, which parametrize heeds")
    rows = [(value,) if len(names) == 1 else value for value in values]
    cases = [dict(zip(names, row, strict=True)) for row in rows]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**given: Any) -> None:
            for case in cases:
                try:
                    test(**given, **case)
                except BaseException as error:
                    error.add_note("for " + ", ".join(f"{name}={value!r:.200}" for name, value in case.items()))
                    raise

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in names]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate


def refuses(error: Any, words: str | None, call: Callable[..., Any], /, *given: Any, **by_name: Any) -> None:
    """The call with what it is given raises the error, with these words, a pattern, in its message."""
    with pytest.raises(error, match=words):
        call(*given, **by_name)
