"""The coreset paper's stochastic block model: this package against the authors' coreset-sc, on the same graph.

    python bench_paper_sbm.py [--k 20 50 250] [--repeats 5]

k blocks of 1,000 nodes, p = 0.5, q = 0.001/k, a loop on every node, coresets of 1 % and 5 % of the nodes. The times of
both sides' published algorithm are sampling + coreset graph + power-method embedding + labeling of all nodes; reading
the input (our gate, their conversion to 64-bit indices) and k-means are columns of their own. Of "two-step", by the
normalized cut from a coreset of as many draws, the stages are all that it does after the gate. They take turns, each
time with another seed: seconds are the least of the repeats, which other work on the machine disturbs least, quality is
their median.
Needs the package coreset-sc.
"""

import time
from importlib.metadata import version

import numpy as np
from coreset_sc import coreset_sc as rival_stages
from coreset_sc import utils as rival_utils
from harness import asked, shown, write_table
from scipy import sparse
from sklearn.cluster import KMeans
from tools import percent, spread_over_seeds

from graphclust import Coreset, adjusted_rand_index, coreset_sc, normalized_cut, stochastic_block_model

COLUMNS = {
    "input": min, "stages": min, "k-means": min, "ARI coreset": np.median, "ARI": np.median, "NCut/k": np.median
}  # fmt: skip
OURS = ("D²-sampling", "importance sampling", "coreset graph", "embedding", "labeling")


def run_ours(matrix, k: int, size: int, planted: np.ndarray, seed: int, method: str = "paper") -> dict[str, float]:
    """The published algorithm by the power method, or two steps by the normalized cut."""
    is_paper, start = method == "paper", time.perf_counter()
    coreset = Coreset(size=size, embedding="power") if is_paper else Coreset(size=size)
    found = coreset_sc(matrix, k, method=method, objective="normalized_cut", coreset=coreset, rng=seed)
    all_of_it = time.perf_counter() - start - found.seconds["gate"]
    return {
        "input": found.seconds["gate"],
        "stages": sum(found.seconds[stage] for stage in OURS) if is_paper else all_of_it,
        "k-means": found.seconds.get("k-means", 0.0) if is_paper else 0.0,
        "ARI coreset": adjusted_rand_index(found.coreset.labels, planted[found.coreset.nodes]),
        "ARI": adjusted_rand_index(found.labels, planted),
        "NCut/k": found.normalized_cut / k,
    }


def run_rival(matrix, k: int, size: int, planted: np.ndarray, graph) -> dict[str, float]:
    n = matrix.shape[0]
    start = time.perf_counter()
    degrees = matrix.sum(axis=1).A1
    data, indices, indptr = rival_utils.convert_from_csr_matrix(matrix)
    row_sizes = np.diff(indptr).astype(np.uint64)
    rows = data, indices, indptr, row_sizes, degrees
    converted = time.perf_counter()
    nodes, weights, embedding = rival_stages.coreset_embeddings(k, n, size, 2.0, *rows, 0.0, True)
    embedded = time.perf_counter()
    coreset_labels = KMeans(k, n_init=10).fit(embedding).labels_.astype(np.uint64)
    clustered = time.perf_counter()
    labels, _ = rival_stages.label_full_graph(k, n, *rows, nodes, weights, coreset_labels, 0.0)
    labeled = time.perf_counter()
    labels = labels.astype(np.int64)
    return {
        "input": converted - start,
        "stages": embedded - converted + labeled - clustered,
        "k-means": clustered - embedded,
        "ARI coreset": adjusted_rand_index(coreset_labels.astype(np.int64), planted[nodes.astype(np.int64)]),
        "ARI": adjusted_rand_index(labels, planted),
        "NCut/k": normalized_cut(graph, labels) / k,
    }


def main() -> None:
    options = asked(__doc__, k=[20, 50, 250], repeats=5)

    small, _ = stochastic_block_model([100] * 5, 0.5, 0.01, self_loops=True, rng=0)
    for method in ("paper", "two-step"):  # compile
        run_ours(small.to_scipy(), 5, 100, np.zeros(500, np.int64), 0, method)
    table = []
    for k in options.k:
        graph, planted = stochastic_block_model([1000] * k, 0.5, 0.001 / k, self_loops=True, rng=1)
        matrix = sparse.csr_matrix(graph.to_scipy())
        for share in (1, 5):
            size = graph.n_nodes * share // 100
            given = matrix, k, size, planted
            runs = [
                (run_ours(*given, seed), run_ours(*given, seed, "two-step"), run_rival(*given, graph))
                for seed in range(options.repeats)
            ]
            summaries = [
                {column: float(best([run[side][column] for run in runs])) for column, best in COLUMNS.items()}
                for side in range(3)
            ]
            names = ("graphclust, paper", "graphclust, two-step", f"coreset-sc {version('coreset-sc')}")
            for side, (name, summary) in enumerate(zip(names, summaries, strict=True)):
                ratio = summaries[-1]["stages"] / summary["stages"]
                cells = [f"{summary[column]:.3f}" for column in COLUMNS]
                cells[1] = f"{summary['stages']:.4f}"
                spread = percent(spread_over_seeds([run[side]["NCut/k"] for run in runs]), summary["NCut/k"])
                table.append(shown([str(k), f"{share} %", name, *cells, f"{ratio:.1f}", spread]))
        del graph, matrix
    write_table(
        "paper_sbm",
        "The paper's stochastic block model",
        ["k", "coreset", "tool", "input s", "stages s", "k-means s", "ARI coreset", "ARI", "NCut/k", "times faster",
         "spread of NCut, %"],
        table,
        "k blocks of 1,000 nodes, p = 0.5, q = 0.001/k, with loops. Stages: sampling, coreset graph, power-method "
        "embedding, labeling of all nodes; of two-step (by the normalized cut) all that follows the gate. "
        "Spread is half the range of NCut over the seeds.",
    )  # fmt: skip


if __name__ == "__main__":
    main()
