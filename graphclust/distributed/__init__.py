"""The same clustering on the workers of a Dask cluster, for graphs that are too large or too slow for one machine."""

from graphclust.distributed.clustering import coreset_sc
from graphclust.distributed.ingestion import ingest_parquet
from graphclust.distributed.k_means import kmeans

__all__ = ["coreset_sc", "ingest_parquet", "kmeans"]
