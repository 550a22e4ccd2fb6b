"""Compiled loops: arrays in, arrays out. The only place that imports numba, and imports nothing else of ours."""

from graphclust.compiled.runtime.announcement import announce_compilation
from graphclust.compiled.runtime.cache_files import keep_cache_files_sound
from graphclust.compiled.runtime.cache_folder import provide_cache_folder
from graphclust.compiled.runtime.interrupts import defer_interrupts

defer_interrupts()
provide_cache_folder()  # by numba's own words, before its cache is replaced
keep_cache_files_sound()
announce_compilation()
