"""Compiled loops: arrays in, arrays out. The only place that imports numba, and imports nothing else of ours."""

from graphclust.compiled.runtime.cache_folder import provide_cache_folder
from graphclust.compiled.runtime.interrupts import defer_interrupts

defer_interrupts()
provide_cache_folder()
