"""One call of every public function, of whatever graphclust is installed; the tests of errors spoil these calls.

    python tests/public_calls.py     # each, with what it returns; ends with 1 where one fails

A function whose extra is missing, or that would fetch a data set, has to refuse by a plain error. With
GRAPHCLUST_COMPILE=always and GRAPHCLUST_NO_COMPILE=1 in the environment a wheel shows that it brings all loops along.
"""

import inspect
import os
import pathlib
import tempfile
import warnings

import networkx as nx
import numpy as np

import graphclust
from graphclust import as_graph, coreset_sc, d2_seeding, importance_sample

GRAPH = nx.barbell_graph(5, 0)
LABELS = [0] * 5 + [1] * 5
POINTS = np.arange(24.0).reshape(12, 2) % 7
KERNEL = graphclust.NormalizedCutKernel.of(GRAPH)
SEEDS = d2_seeding(KERNEL, 4, rng=0)
CORESET = importance_sample(KERNEL, SEEDS, 6, rng=0)
CLUSTERING, PUBLISHED = (coreset_sc(GRAPH, 2, method=method, rng=0) for method in ("auto", "paper"))
TABLE = {"source": np.array([0, 1]), "target": np.array([1, 2])}


class Frame(dict):
    """What of a table needs no pandas."""

    @property
    def columns(self):
        return list(self)


def files(folder):
    """The paths of the calls below."""
    for name, text in {
        "g.csv": "source,target,weight\na,b,1\nb,c,2\n",
        "negative.csv": "source,target,weight\na,b,-1\nb,c,2\n",
        "negative.mtx": "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 -1\n3 2 1\n",
        "large.mtx": "%%MatrixMarket matrix coordinate pattern symmetric\n900000000 900000000 1\n2 1\n",
        "wide.mtx": "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 3\n",
        "l.tsv": "node\tlabel\na\t0\nb\t1\n",
        "half.mtx": "1 2\n2 3\n",
    }.items():
        (folder / name).write_text(text)
    CLUSTERING.model().save(folder / "m.npz")
    graphclust.save_store(folder / "store", GRAPH)


def calls(folder):
    """Public function -> arguments that it takes."""
    graph, k, points = {"G": GRAPH}, {"k": 2}, {"X": POINTS, "k": 2}
    labels, kernels = graph | {"labels": LABELS}, {"K_or_X": POINTS, "k": 2, "max_iter": 1}
    return {
        "adjusted_mutual_information": {"labels": LABELS, "other": LABELS},
        "adjusted_rand_index": {"labels": LABELS, "other": LABELS},
        "element_centric_similarity": {"labels": LABELS, "other": LABELS},
        "v_measure": {"classes": LABELS, "labels": LABELS},
        "variation_of_information": {"labels": LABELS, "other": LABELS}, "as_graph": graph,
        "block_power_embedding": {"B": as_graph(GRAPH).to_scipy(), "n_columns": 2},
        "block_sums": {"X": POINTS, "centroids": POINTS[:2]}, "certainty": {"clustering": CLUSTERING},
        "classic_graph": {"name": "karate"},
        "cluster_coreset": {"induced": KERNEL.graph.to_scipy(), "weights": np.ones(10)} | k,
        "cluster_path": graph | {"ks": [2, 3]}, "balanced_partition": graph | k, "communities": graph,
        "time_slices": {"graphs": [GRAPH, GRAPH]}, "conductance": labels,
        "construct_coreset": {"kernel": KERNEL, "size": 6} | k,
        "convert_to_store": {"path": folder / "g.csv", "store": folder / "new"},
        "coreset_graph": {"kernel": KERNEL, "coreset": CORESET}, "coreset_kernel_kmeans": kernels | {"coreset_size": 6},
        "coreset_quality": {"clustering": PUBLISHED}, "coreset_sc": graph | k,
        "d2_seeding": {"kernel": KERNEL, "n_seeds": 4}, "graph_facts": graph, "distance_seeding": points,
        "edge_cut": labels, "estimate_memory": graph | k,
        "extend_labels": {"kernel": KERNEL, "coreset": CORESET, "coreset_labels": np.zeros(len(CORESET.nodes), int)},
        "fast_spectral_clustering": graph | k, "fast_spectral_embedding": graph | k,
        "fetch_snap": {"name": "com-Amazon", "memory_limit": 1},
        "fetch_suitesparse": {"name": "Newman/karate", "memory_limit": 1},
        "graph_from_neighbors": {"indices": [[1], [0]]}, "graph_from_table": {"table": Frame(TABLE)},
        "hierarchy": graph | {"max_size": 4}, "importance_sample": {"kernel": KERNEL, "seeds": SEEDS, "size": 6},
        "kernel_k_means_cost": labels, "kernel_kmeans": kernels,
        "kernel_kmeans_plusplus": {"K_or_X": POINTS, "n_seeds": 2}, "kmeans": points, "kmeans_parallel": points,
        "kmeans_plusplus": points, "knn_graph": {"X": POINTS, "n_neighbors": 2},
        "lfr_like": {"n_nodes": 100, "mean_degree": 6.0, "mixing": 0.2}, "load_graph": {"path": folder / "g.csv"},
        "load_model": {"path": folder / "m.npz"}, "merge_clusters": graph | k, "minibatch_kernel_kmeans": kernels,
        "minibatch_kmeans": points, "modularity": labels, "well_connected": labels, "move_nodes": labels,
        "nearest_centroids": {"X": POINTS, "centroids": POINTS[:2]},
        "nearest_neighbor_kernel": {"X": POINTS, "n_neighbors": 2},
        "nearest_neighbors": {"X": POINTS, "n_neighbors": 2}, "nested_minibatch_kmeans": points,
        "normalized_cut": labels, "normalized_mutual_information": {"labels": LABELS, "other": LABELS},
        "open_store": {"path": folder / "store"},
        "planted_partition": {"n_blocks": 2, "block_size": 10, "inside_degree": 4.0, "outside_degree": 1.0},
        "quotient_graph": labels, "read_labels": {"path": folder / "l.tsv"}, "refine_partition": labels,
        "remap_labels": {"old": LABELS, "new": LABELS}, "report_page": {"clustering": CLUSTERING},
        "sampling_probabilities": {"kernel": KERNEL, "seeds": SEEDS},
        "save_graph": {"path": folder / "new.csv"} | graph, "save_store": {"path": folder / "new_store"} | graph,
        "spectral_clustering": graph | k, "spectral_embedding": graph | k, "spherical_kmeans": points,
        "stochastic_block_model": {"sizes": [5, 5], "p": 0.5, "q": 0.1}, "truncated_kernel_kmeans": kernels,
        "two_step_coreset_graph": {"kernel": KERNEL, "coreset": CORESET},
        "two_step_factor": {"kernel": KERNEL, "coreset": CORESET}, "cluster_volumes": labels,
        "write_labels": {"path": folder / "new.tsv", "labels": LABELS},
        "write_report": {"file": folder / "new.html", "clustering": CLUSTERING},
    }  # fmt: skip


ELSEWHERE = {"cluster_anndata", "limit_threads"}  # the first needs anndata, the other takes a number alone


def main() -> int:
    """Call them all, and count."""
    warnings.simplefilter("ignore", graphclust.GraphWarning)
    n_done, n_refused, faults = 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["GRAPHCLUST_CACHE"] = f"{name}/cache"
        files(folder)
        known = calls(folder)
        functions = {name for name in graphclust.__all__ if inspect.isfunction(getattr(graphclust, name))}
        for function in sorted(functions - ELSEWHERE):
            try:
                with graphclust.limit_threads(2):
                    result = getattr(graphclust, function)(**known[function])
                n_done += 1
                print(f"{function:28} {type(result).__name__}")
            except (ImportError, graphclust.ResourceLimitError, graphclust.DownloadError) as problem:
                n_refused += 1
                print(f"{function:28} refused: {problem}")
                faults += not (function.startswith("fetch_") or "pip install" in str(problem))
            except Exception as problem:
                faults += 1
                print(f"{function:28} FAULT {type(problem).__name__}: {problem}")
    print(f"graphclust {graphclust.__version__}: {n_done} functions called, {n_refused} refused, {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    raise SystemExit(main())
