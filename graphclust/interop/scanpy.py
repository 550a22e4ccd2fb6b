"""scanpy's clustering of cells, with its arguments and what it writes; scanpy itself is not needed.

import graphclust.interop.scanpy as gc
gc.leiden(adata, resolution=1.0)  # was sc.tl.leiden(adata, resolution=1.0)
gc.cluster(adata, k=12)  # exactly 12
gc.sweep(adata, resolutions=[0.5, 1.0, 2.0])  # which to take
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from graphclust.checks import PlainObjective, as_choice, as_number, as_whole_number
from graphclust.errors import ParameterError
from graphclust.interop.seeds import as_rng
from graphclust.interop.single_cell import cluster_anndata
from graphclust.objective.agreement import adjusted_rand_index

__all__ = ["cluster", "leiden", "sweep"]

FLAVORS = ("leidenalg", "igraph")
OBJECTIVES: dict[str, PlainObjective] = {
    "modularity": "modularity", "ModularityVertexPartition": "modularity", "CPM": "constant_potts",
    "RBConfigurationVertexPartition": "modularity", "CPMVertexPartition": "constant_potts",
    "RBERVertexPartition": "erdos_renyi",
}  # fmt: skip


def leiden(
    adata: Any,
    resolution: float = 1,
    *,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    random_state: Any = 0,
    key_added: str = "leiden",
    adjacency: Any = None,
    directed: bool | None = None,
    use_weights: bool = True,
    n_iterations: int = -1,
    partition_type: Any = None,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    copy: bool = False,
    flavor: str = "leidenalg",
    objective_function: str | None = None,
    **options: Any,
) -> Any:
    """Cluster cells at a resolution: the arguments and the results of `scanpy.tl.leiden`.

    adata, restrict_to, key_added, adjacency, use_weights, neighbors_key, obsp, copy : as in `cluster_anndata`; with
        `restrict_to` and no other key the result is `adata.obs["leiden_R"]`.
    resolution : > 0; higher ones make more clusters.
    random_state : a whole number, a RandomState, or None.
    partition_type, objective_function : leidenalg's or igraph's way to ask for modularity, the default, or "CPM".
    directed, n_iterations, flavor : taken for the sake of calls that give them. The graph is undirected, and moves end
        when none gains; `effort="high"` searches longer.
    options : of `cluster_anndata`, such as effort or certainty.

    Writes `adata.obs[key_added]`, a categorical of "0", "1", ... by decreasing size, and `adata.uns[key_added]`, whose
    "params" are resolution, random_state and n_iterations as scanpy's are, and "options" all that was asked for.
    Returns None, or with `copy` the copy.

    Raises ParameterError for another kind of partition, and what `cluster_anndata` raises.

    >>> import anndata, scipy
    >>> adata = anndata.AnnData(shape=(6, 0))
    >>> adata.obsp["connectivities"] = scipy.sparse.block_diag([np.ones((4, 4)), np.ones((2, 2))], format="csr")
    >>> leiden(adata)
    >>> adata.obs["leiden"].tolist()
    ['0', '0', '0', '0', '1', '1']
    """
    as_choice(flavor, "flavor", FLAVORS)
    kind = getattr(partition_type, "__name__", partition_type) or objective_function or "modularity"
    if kind not in OBJECTIVES:
        raise ParameterError(f"the objective {kind!r} is not served, expected one of {[*OBJECTIVES]}")
    key = "leiden_R" if restrict_to is not None and key_added == "leiden" else key_added
    changed = cluster_anndata(
        adata, key_added=key, neighbors_key=neighbors_key, obsp=obsp, adjacency=adjacency, restrict_to=restrict_to,
        use_weights=use_weights, objective=OBJECTIVES[kind], copy=copy,
        resolution=as_number(resolution, "resolution", above=0.0), rng=as_rng(random_state, "random_state"), **options,
    )  # fmt: skip
    found = (changed if copy else adata).uns[key]
    given = random_state is None or isinstance(random_state, int | np.integer)  # a generator could not be saved
    seed = random_state if given else found["seed"]
    found["options"] = found["params"]
    found["params"] = {"resolution": resolution, "random_state": seed, "n_iterations": n_iterations}
    return changed


def cluster(adata: Any, k: int | None = None, *, random_state: Any = 0, copy: bool = False, **options: Any) -> Any:
    """Cluster cells into exactly k: `cluster_anndata` with `random_state` as scanpy's functions have it.

    k : number of clusters; None takes the number that the graph shows.
    options : of `cluster_anndata`, such as key_added, restrict_to, neighbors_key or obsp.
    Returns None, or with `copy` the copy.

    >>> import anndata, scipy
    >>> adata = anndata.AnnData(shape=(6, 0))
    >>> adata.obsp["connectivities"] = scipy.sparse.block_diag([np.ones((4, 4)), np.ones((2, 2))], format="csr")
    >>> cluster(adata, 2)
    >>> adata.obs["graphclust"].tolist()
    ['0', '0', '0', '0', '1', '1']
    """
    return cluster_anndata(adata, k, rng=as_rng(random_state, "random_state"), copy=copy, **options)


def sweep(
    adata: Any,
    *,
    resolutions: Sequence[float] | None = None,
    ks: Sequence[int] | None = None,
    n_seeds: int = 3,
    random_state: int = 0,
    key_added: str | None = None,
    **options: Any,
) -> Any:
    """Cluster cells at several resolutions, or into several numbers of clusters, and say how stable each is.

    resolutions, ks : one of the two.
    n_seeds : clusterings of each, >= 2, with the seeds random_state, random_state + 1, ...; the first is kept.
    key_added : `adata.obs[f"{key_added}_{value}"]` gets the clusters at each value; "leiden" by default at resolutions,
        "graphclust" for numbers of clusters. The table is also `adata.uns[f"{key_added}_sweep"]`.
    options : of `leiden` or `cluster`.

    Returns a pandas table of one row a value: n_clusters, modularity, and stability, the mean adjusted Rand index of
    every two of its clusterings.

    Raises ParameterError where both or none of the two are given or n_seeds is below 2, and what the functions raise.

    >>> import anndata, scipy
    >>> adata = anndata.AnnData(shape=(6, 0))
    >>> adata.obsp["connectivities"] = scipy.sparse.block_diag([np.ones((4, 4)), np.ones((2, 2))], format="csr")
    >>> sweep(adata, resolutions=[0.5, 1.0])[["n_clusters", "stability"]].to_numpy().tolist()
    [[2.0, 1.0], [2.0, 1.0]]
    """
    import pandas

    if (resolutions is None) == (ks is None):
        raise ParameterError("give one of resolutions and ks, expected a list of numbers")
    name, values = ("resolutions", resolutions) if ks is None else ("ks", ks)
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise TypeError(f"{name}={values!r} is a {type(values).__name__}, expected a list of numbers")
    values = list(values)
    if not values:
        raise ParameterError(f"{name} is empty, expected a number at least")
    n_seeds = as_whole_number(n_seeds, "n_seeds", at_least=2)
    function: Any = leiden if ks is None else cluster
    key_added = key_added or ("leiden" if ks is None else "graphclust")
    rows = []
    for value in values:
        key, codes = f"{key_added}_{value}", []
        for seed in range(random_state + n_seeds - 1, random_state - 1, -1):  # the first seed comes last, and is kept
            function(adata, value, key_added=key, random_state=seed, **options)
            codes.append(np.asarray(adata.obs[key].cat.codes, dtype=np.int64))
        stability = np.mean([adjusted_rand_index(one, other) for one, other in combinations(codes, 2)])
        rows.append((value, int(codes[-1].max()) + 1, adata.uns[key]["modularity"], float(stability)))
    columns = ["resolution" if ks is None else "k", "n_clusters", "modularity", "stability"]
    table = pandas.DataFrame(rows, columns=columns)
    adata.uns[f"{key_added}_sweep"] = table
    return table
