"""scanpy's clustering of cells, with its arguments and what it writes; scanpy itself is not needed.

import graphclust.interop.scanpy as gc
gc.leiden(adata, resolution=1.0)  # was sc.tl.leiden(adata, resolution=1.0)
gc.cluster(adata, k=12)  # exactly 12
gc.sweep(adata, resolutions=[0.5, 1.0, 2.0])  # which to take
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from graphclust.checks import (
    AdditiveObjective,
    Components,
    Effort,
    Method,
    ObjectiveName,
    Seed,
    Small,
    as_choice,
    as_number,
    as_weights,
    as_whole_number,
)  # fmt: skip
from graphclust.engine.bounds import order_by_name
from graphclust.errors import GraphValidationError, ParameterError
from graphclust.graph.container import Graph
from graphclust.interop.seeds import as_rng
from graphclust.io.kinds import as_layered
from graphclust.objective.agreement import adjusted_rand_index
from graphclust.partition.communities import communities
from graphclust.partition.coreset_sc import coreset_sc
from graphclust.partition.options import naming_new_arguments
from graphclust.results.clustering import Clustering

__all__ = ["cluster", "cluster_anndata", "leiden", "sweep"]

FLAVORS = ("leidenalg", "igraph")
OBJECTIVE_OF_KIND: dict[str, AdditiveObjective] = {
    "modularity": "modularity", "ModularityVertexPartition": "modularity", "CPM": "constant_potts",
    "RBConfigurationVertexPartition": "modularity", "CPMVertexPartition": "constant_potts",
    "RBERVertexPartition": "erdos_renyi",
}  # fmt: skip


@naming_new_arguments
def cluster_anndata(
    adata: Any,
    k: int | None = None,
    *,
    key_added: str = "graphclust",
    neighbors_key: str | None = None,
    obsp: str | Sequence[str] | None = None,
    adjacency: Any = None,
    layer_weights: Sequence[float] | None = None,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    use_weights: bool = True,
    certainty: bool = False,
    method: Method = "auto",
    objective: ObjectiveName | None = None,
    resolution: float | str | None = None,
    effort: Effort | None = None,
    components: Components | None = None,
    min_size: float | None = None,
    max_size: float | None = None,
    small: Small | None = None,
    node_weight: Any = None,
    rng: Seed = 0,
    copy: bool = False,
) -> Any:
    """Cluster the neighborhood graph of an AnnData into exactly k parts, or at a resolution.

    adata : with a graph in `obsp`, as `scanpy.pp.neighbors` leaves it.
    k : number of clusters. None takes the number that the graph shows, see `coreset_sc`; but with a number as
        `resolution` and method "auto" as many as that makes, see `communities`.
    key_added : `adata.obs[key_added]` gets the clusters, a categorical of "0", "1", ... by decreasing size, and
        `adata.uns[key_added]` the parameters, seed, resolution and modularity. Cells without neighbors, or put aside,
        are missing where a number of clusters was asked for or suggested; at a resolution each is a cluster.
    neighbors_key : of `adata.uns`, for neighbors that were computed under another name than "neighbors".
    obsp : of `adata.obsp`, instead; give one of the two at most. Several keys are the layers of one clustering, each
        counting alike, as `communities` takes several graphs.
    adjacency : a symmetric sparse matrix between the cells, or a `Graph` of them, instead of either; or a list of such,
        as of modalities: [m.obsp["connectivities"] for m in mdata.mod.values()], once all have the same cells.
    layer_weights : what each of several graphs counts, numbers with a sum > 0; by default 1 each.
    restrict_to : a key of `adata.obs` and some of its categories, as in `scanpy.tl.leiden`: only their cells are
        clustered. The result, by default in `adata.obs["graphclust_R"]`, names them "A,0", "A,1", ... in a category
        "A", or "A-B,0", ... in several; the other cells keep what they have under the key.
    use_weights : False counts every edge 1.
    certainty : whether `adata.obs[key_added + "_certainty"]` gets, of each cell, the share of its links that stays in
        its own cluster; missing for cells without one.
    method, objective, resolution, effort, components : see `graphclust.coreset_sc`, or `communities`, which has no
        method.
    min_size, max_size, node_weight : bounds on the cells of a cluster, or on what they weigh, see there;
        node_weight is a key of `adata.obs`, an array of shape (n_obs,), or a Series by the cells' names.
    small : "unite" or "apart", what becomes of clusters of less than min_size at a resolution, see `communities`.
    rng : None, a seed (0 by default, as in scanpy) or a numpy Generator.
    copy : return a changed copy instead of changing adata.

    Returns None, or with `copy` the copy. Raises ParameterError where there is no such graph, and what `coreset_sc` and
    `communities` raise.

    >>> import anndata, scipy
    >>> adata = anndata.AnnData(shape=(6, 0))
    >>> adata.obsp["connectivities"] = scipy.sparse.block_diag([np.ones((4, 4)), np.ones((2, 2))], format="csr")
    >>> cluster_anndata(adata, 2)
    >>> adata.obs["graphclust"].tolist()
    ['0', '0', '0', '0', '1', '1']
    """
    if not all(hasattr(adata, name) for name in ("obs", "obsp", "uns")):
        raise TypeError(f"adata is a {type(adata).__name__}, expected an anndata.AnnData")
    if isinstance(k, float):  # by place, where scanpy's functions take a resolution
        raise TypeError(f"k={k!r} is a float, expected a whole number; as a resolution it is resolution={k!r}")
    if adjacency is not None:
        if obsp is not None or neighbors_key is not None:
            raise ParameterError("adjacency is given beside obsp or neighbors_key, expected one of the three")
        several = isinstance(adjacency, list | tuple)
        graphs = {"adjacency": adjacency}
        if several:
            graphs = {f"adjacency[{i}]": one for i, one in enumerate(adjacency)}
    else:
        several = obsp is not None and not isinstance(obsp, str)
        asked = [obsp] if obsp is None or isinstance(obsp, str) else obsp
        keys = [_connectivities_key(adata, neighbors_key, key) for key in asked]
        graphs = {f"adata.obsp[{key!r}]": adata.obsp[key] for key in keys}
    matrices = [one.to_scipy() if isinstance(one, Graph) else one for one in graphs.values()]
    for name, matrix in zip(graphs, matrices, strict=True):
        if not hasattr(matrix, "shape"):
            raise TypeError(f"{name} is a {type(matrix).__name__}, expected a symmetric sparse matrix of the cells")
        if matrix.shape[0] != adata.n_obs:
            raise GraphValidationError(f"{name} has shape {matrix.shape}, expected {adata.n_obs} cells")
    name = ", ".join(graphs)
    cells, groups = _restrict(adata, restrict_to)
    weights = None if node_weight is None else _weights_of(adata, node_weight, cells)
    given: dict[str, Any] = {"objective": objective, "resolution": resolution, "effort": effort, "small": small}
    given |= {"components": components, "min_size": min_size, "max_size": max_size, "node_weight": weights}
    options = _known(given) | {"weight": "weight" if use_weights else None, "rng": rng}
    if cells is not None:
        matrices = [(one.tocsr() if sparse.issparse(one) else one)[cells][:, cells] for one in matrices]
    try:
        graph: Any = matrices[0]
        if several:
            if certainty:
                raise ParameterError("certainty=True is for one graph, and several are given; leave it out")
            graph = as_layered(matrices, weight=options["weight"], layer_weights=layer_weights)
        elif layer_weights is not None:
            raise ParameterError(f"layer_weights={layer_weights!r} is for several graphs, expected a list as obsp")
        if k is None and isinstance(resolution, Real) and method == "auto":
            clustering = communities(graph, **options)
        else:
            if options.pop("small", "unite") != "unite":
                raise ParameterError(f"small={small!r} is for a number as resolution without k, expected none of it")
            clustering = coreset_sc(graph, k, method=method, **options)
    except GraphValidationError as problem:
        problem.args = (_reword_for_cells(str(problem), name),)
        raise
    changed = adata.copy() if copy else adata
    column = key_added
    if cells is None or restrict_to is None:
        import pandas  # anndata cannot be without it

        names = [*map(str, range(clustering.n_clusters))]
        changed.obs[key_added] = pandas.Categorical.from_codes(clustering.labels, categories=names)
    else:
        column = f"{key_added}_R" if key_added == "graphclust" else key_added
        changed.obs[column] = _rename(adata.obs[restrict_to[0]], cells, groups, clustering)
    if certainty:
        changed.obs[f"{column}_certainty"] = _own_shares(clustering, cells, adata.n_obs)
    settings: dict[str, Any] = {"use_weights": use_weights, "rng": clustering.seed, "k": k}
    if adjacency is None:
        settings["obsp"] = keys if several else keys[0]
    if several:
        settings["layer_weights"] = [1.0] * len(graphs) if layer_weights is None else [*map(float, layer_weights)]
    if restrict_to is not None:
        settings["restrict_to"] = [restrict_to[0], *groups]
    facts = {name: getattr(clustering, name) for name in ("modularity", "k", "seed", "version", "resolution")}
    facts |= {"params": _known(settings) | _known(clustering.parameters)}
    facts |= {} if several else {"normalized_cut": clustering.normalized_cut}
    facts |= {"remarks": list(clustering.remarks)} if k is None and clustering.remarks else {}
    changed.uns[column] = _known(facts)
    return changed if copy else None


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are not None, which a file of anndata does not hold."""
    return {name: value for name, value in values.items() if value is not None}


def _reword_for_cells(message: str, name: str) -> str:
    """The message on a graph G in the words of a caller who named a matrix of cells."""
    if "is not symmetric" in message and "distances" in name:
        cause, _, _ = message.partition("; expected")
        return f"{name}{cause.removeprefix('G')}; distances are not weights: expected obsp='connectivities'"
    remedy = r"\bpass (as_graph|abs)\(G"
    return re.sub(remedy, rf"pass adjacency=\1({name}", re.sub(r"^G\b", lambda _: name, message))


def _connectivities_key(adata: Any, neighbors_key: str | None, obsp: str | None) -> str:
    """The key of the graph in `adata.obsp`, found as scanpy's functions do."""
    if obsp is not None and neighbors_key is not None:
        raise ParameterError(f"obsp={obsp!r} and neighbors_key={neighbors_key!r} are given, expected one of the two")
    if obsp is None:
        entry = neighbors_key or "neighbors"
        if neighbors_key is not None and not _has_neighbors(adata.uns.get(neighbors_key)):
            known = [name for name, value in adata.uns.items() if _has_neighbors(value)]
            fault = "is not in adata.uns" if neighbors_key not in adata.uns else "holds no neighbors in adata.uns"
            some = f"expected one of {known}" if known else "run scanpy.pp.neighbors(adata, key_added=...) first"
            raise ParameterError(f"neighbors_key={neighbors_key!r} {fault}, {some}")
        obsp = adata.uns.get(entry, {}).get("connectivities_key", "connectivities")
    if obsp not in adata.obsp:
        there = f"holds {[*adata.obsp]}; pass one as obsp=, or" if len(adata.obsp) else "is empty;"
        raise ParameterError(f"adata.obsp has no {obsp!r}, it {there} run scanpy.pp.neighbors(adata) first")
    return obsp


def _weights_of(adata: Any, node_weight: Any, cells: np.ndarray | None) -> np.ndarray:
    """The weights of the cells that are clustered."""
    if isinstance(node_weight, str):
        if node_weight not in adata.obs:
            raise ParameterError(f"node_weight={node_weight!r} is unknown, expected one of adata.obs: {[*adata.obs]}")
        node_weight = adata.obs[node_weight].to_numpy()
    node_weight = order_by_name(node_weight, adata.obs_names.tolist(), "cell")
    weights = as_weights(node_weight, adata.n_obs, "node_weight")
    return weights if cells is None else weights[cells]


def _has_neighbors(entry: Any) -> bool:
    """Whether an entry of `adata.uns` is one that scanpy.pp.neighbors leaves."""
    return isinstance(entry, Mapping) and ("connectivities_key" in entry or "distances_key" in entry)


def _restrict(adata: Any, restrict_to: tuple[str, Sequence[str]] | None) -> tuple[np.ndarray | None, list[str]]:
    """The rows of the cells that are clustered, None for all, and the categories they are of."""
    if restrict_to is None:
        return None, []
    if isinstance(restrict_to, str) or len(restrict_to) != 2 or isinstance(restrict_to[1], str):
        raise TypeError(f"restrict_to={restrict_to!r}, expected a key of adata.obs and a list of its categories")
    key, groups = restrict_to[0], [str(group) for group in restrict_to[1]]
    if key not in adata.obs:
        raise ParameterError(f"restrict_to names {key!r}, expected one of the keys of adata.obs: {[*adata.obs]}")
    there = adata.obs[key].astype(str)
    unknown = [group for group in groups if not (there == group).any()]
    if unknown or not groups:
        known = sorted(set(there))[:20]
        raise ParameterError(f"restrict_to names the categories {unknown} of {key!r}, expected some of {known}")
    return np.flatnonzero(there.isin(groups).to_numpy()), groups


def _rename(column: Any, cells: np.ndarray, groups: list[str], clustering: Clustering) -> Any:
    """The column with the new clusters in the place of some categories, as scanpy names them."""
    import pandas

    values = column.astype(object).where(column.notna(), None).to_numpy().copy()
    prefix = "-".join(groups)
    values[cells] = [f"{prefix},{label}" if label >= 0 else None for label in clustering.labels.tolist()]
    named = [None if value is None else str(value) for value in values]
    categories = sorted({name for name in named if name is not None}, key=_by_numbers)
    return pandas.Categorical(named, categories=categories)


def _by_numbers(name: str) -> list[Any]:
    """A sort key that puts "A,2" before "A,10", as scanpy does."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"([0-9]+)", name)]


def _own_shares(clustering: Clustering, cells: np.ndarray | None, n_cells: int) -> np.ndarray:
    """Of each cell, the share of its links that stays in its cluster; NaN for those in none."""
    rows = np.flatnonzero(clustering.labels >= 0)
    own = np.asarray(clustering.certainty().shares[rows, clustering.labels[rows]]).ravel()
    shares = np.full(n_cells, np.nan)
    shares[rows if cells is None else cells[rows]] = own
    return shares


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
    if kind not in OBJECTIVE_OF_KIND:
        raise ParameterError(f"the objective {kind!r} is not served, expected one of {[*OBJECTIVE_OF_KIND]}")
    key = "leiden_R" if restrict_to is not None and key_added == "leiden" else key_added
    changed = cluster_anndata(
        adata, key_added=key, neighbors_key=neighbors_key, obsp=obsp, adjacency=adjacency, restrict_to=restrict_to,
        use_weights=use_weights, objective=OBJECTIVE_OF_KIND[kind], copy=copy,
        resolution=as_number(resolution, "resolution", above=0.0), rng=as_rng(random_state, "random_state"), **options,
    )  # fmt: skip
    facts = (changed if copy else adata).uns[key]
    is_number = random_state is None or isinstance(random_state, int | np.integer)  # a generator could not be saved
    seed = random_state if is_number else facts["seed"]
    facts["options"] = facts["params"]
    facts["params"] = {"resolution": resolution, "random_state": seed, "n_iterations": n_iterations}
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
