"""Cells in exactly k clusters, by the conventions of scanpy's own functions; neither it nor anndata is imported."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphclust.checks import Seed
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.partition.pipeline import coreset_sc

__all__ = ["cluster_anndata"]


def cluster_anndata(
    adata: Any,
    k: int,
    *,
    key_added: str = "graphclust",
    neighbors_key: str | None = None,
    obsp: str | None = None,
    use_weights: bool = True,
    method: str = "auto",
    objective: str | None = None,
    resolution: float | str | None = None,
    effort: str | None = None,
    components: str | None = None,
    rng: Seed = 0,
    copy: bool = False,
) -> Any:
    """Cluster the neighborhood graph of an AnnData into exactly k parts: no search for a resolution.

    adata : with a graph in `obsp`, as `scanpy.pp.neighbors` leaves it.
    k : number of clusters.
    key_added : `adata.obs[key_added]` gets the clusters, a categorical of "0", "1", ... by decreasing size, missing for
        cells without neighbors; `adata.uns[key_added]` the parameters, resolution and modularity.
    neighbors_key : of `adata.uns`, for neighbors that were computed under another name than "neighbors".
    obsp : of `adata.obsp`, instead; give one of the two at most.
    use_weights : False counts every edge 1.
    method, objective, resolution, effort, components : see `graphclust.coreset_sc`.
    rng : None, a seed (0 by default, as in scanpy) or a numpy Generator.
    copy : return a changed copy instead of changing adata.

    Returns None, or with `copy` the copy. Raises ParameterError where there is no such graph, and what `coreset_sc`
    raises.

    >>> import anndata, scipy
    >>> adata = anndata.AnnData(shape=(6, 0))
    >>> adata.obsp["connectivities"] = scipy.sparse.block_diag([np.ones((4, 4)), np.ones((2, 2))], format="csr")
    >>> cluster_anndata(adata, 2)
    >>> adata.obs["graphclust"].tolist()
    ['0', '0', '0', '0', '1', '1']
    """
    for name in ("obs", "obsp", "uns"):
        if not hasattr(adata, name):
            raise TypeError(f"adata is a {type(adata).__name__}, expected an anndata.AnnData")
    key = _connectivities_key(adata, neighbors_key, obsp)
    matrix = adata.obsp[key]
    if matrix.shape[0] != adata.n_obs:
        raise GraphValidationError(f"obsp[{key!r}] has shape {matrix.shape}, expected {adata.n_obs} cells")
    clustering = coreset_sc(
        matrix, k, method=method, objective=objective, resolution=resolution, effort=effort, components=components,
        weight="weight" if use_weights else None, rng=rng,
    )  # fmt: skip
    changed = adata.copy() if copy else adata
    changed.obs[key_added] = _categorical(clustering.labels, clustering.n_clusters)
    params = {"k": int(k), "obsp": key, "use_weights": use_weights, "rng": rng if isinstance(rng, int) else str(rng)}
    params |= {name: value for name, value in clustering.parameters.items() if value is not None}
    found = {"params": params, "modularity": clustering.modularity, "normalized_cut": clustering.normalized_cut}
    if clustering.resolution is not None:
        found["resolution"] = clustering.resolution
    changed.uns[key_added] = found
    return changed if copy else None


def _connectivities_key(adata: Any, neighbors_key: str | None, obsp: str | None) -> str:
    """The key of the graph in `adata.obsp`, found as scanpy's functions do."""
    if obsp is not None and neighbors_key is not None:
        raise ParameterError(f"obsp={obsp!r} and neighbors_key={neighbors_key!r} are given, expected one of the two")
    if obsp is None:
        entry = neighbors_key or "neighbors"
        if neighbors_key is not None and neighbors_key not in adata.uns:
            raise ParameterError(f"neighbors_key={neighbors_key!r} is not in adata.uns, expected one of {[*adata.uns]}")
        obsp = adata.uns.get(entry, {}).get("connectivities_key", "connectivities")
    if obsp not in adata.obsp:
        there = f"holds {[*adata.obsp]}; pass one as obsp=, or" if len(adata.obsp) else "is empty;"
        raise ParameterError(f"adata.obsp has no {obsp!r}, it {there} run scanpy.pp.neighbors(adata) first")
    return obsp


def _categorical(labels: np.ndarray, n_clusters: int) -> Any:
    import pandas  # anndata cannot be without it

    return pandas.Categorical.from_codes(labels, categories=[str(number) for number in range(n_clusters)])
