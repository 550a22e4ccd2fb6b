"""Compiled loops: arrays in, arrays out. The only place that imports numba, and imports nothing else of ours."""

from graphclust.compiled.interrupts import defer_interrupts

defer_interrupts()
