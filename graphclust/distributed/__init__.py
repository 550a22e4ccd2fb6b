"""The same clustering on the workers of a Dask cluster, for graphs that are too large or too slow for one machine."""

from graphclust.argument_names import with_hints
from graphclust.distributed import clustering, ingestion, k_means

coreset_sc = with_hints(clustering.coreset_sc)
ingest_parquet = ingestion.ingest_parquet
kmeans = with_hints(k_means.kmeans)

__all__ = ["coreset_sc", "ingest_parquet", "kmeans"]
