"""Graphs of the SuiteSparse collection and of SNAP by name: a catalog to search, and a cache on this machine."""

from graphclust.datasets.cache import CachedDataset, cache_folder, cached, clear_cache
from graphclust.datasets.catalog import CatalogEntry, find
from graphclust.datasets.fetch import DatasetInfo, fetch_snap, fetch_suitesparse

__all__ = [
    "CachedDataset", "CatalogEntry", "DatasetInfo", "cache_folder", "cached", "clear_cache", "fetch_snap",
    "fetch_suitesparse", "find",
]  # fmt: skip
