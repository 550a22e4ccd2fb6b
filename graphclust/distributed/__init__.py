"""The same clustering on the workers of a Dask cluster, for graphs that are too large or too slow for one machine."""

from graphclust.distributed.clustering import coreset_sc

__all__ = ["coreset_sc"]
