"""Properties that are computed once, without a lock.

Those of functools hold one in Python 3.11, for all instances, while they compute: a process that is forked meanwhile
waits for it for ever, as threads wait for each other. Later ones have none: two threads may compute the same value.
"""

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):
        """As that of Python 3.12."""

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            if self.attrname not in instance.__dict__:
                instance.__dict__[self.attrname] = self.func(instance)
            return instance.__dict__[self.attrname]


__all__ = ["cached_property"]
