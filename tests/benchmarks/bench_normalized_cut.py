"""coreset_sc under both objectives against Leiden, METIS, Louvain and scikit-learn: quality and time at the same k.

    python bench_normalized_cut.py [planted] [weighted] [lfr] [real] [meshes] [knn] [mnist-sklearn] [paper]
        [--repeats 3]

Each tool gets the largest component and k; seconds and quality are medians over the seeds, compile time excluded, our
gate included. NCut is the mean over the parts that a tool found. Leiden and Louvain choose their own number of parts:
where that is not k their NCut is not comparable and stands in brackets; "Leiden at k" has its resolution bisected until
k parts come out. The spread is half the range of NCut over the seeds, in per cent of its median. Needs igraph, pymetis,
scikit-network, scikit-learn, coreset-sc; `real`, `knn` and `mnist-sklearn` need the data that $GRAPHCLUST_DATA names.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import peers_data as data
import tools
from harness import asked, write_table
from scipy import sparse
from tools import LEIDEN_AT_K, METIS, Tool, compare

from graphclust import Coreset, coreset_sc, normalized_cut, stochastic_block_model

OURS = [tools.DEFAULT, tools.SMALLEST_CUT]
PLANTED = (
    "50x1000:20:4", "50x1000:40:1", "50x1000:8:2", "40x3400:30:3:dc:unbalanced", "20x10000:8:8", "1000x1000:16:3",
    "200x5000:16:4",
)  # fmt: skip
SPEC = "blocks x size : degree inside : degree of edges between any two nodes, some of which stay in a block"
Planted = tuple[str, tuple[sparse.csr_matrix, np.ndarray]]  # name, graph and blocks
MANY_ENTRIES = 10_000_000  # on larger graphs the rivals run once


def compare_planted(graphs: Iterable[Planted], rivals: Sequence[Tool], repeats: int) -> list[list[str]]:
    """Rows of each graph, that of the planted labels first; on the largest graphs the rivals run once."""
    rows = []
    for name, (matrix, truth) in graphs:
        k = int(truth.max()) + 1
        rows.append([name, str(k), "planted labels", "", "", f"{normalized_cut(matrix, truth) / k:.4f}", "1.0000", ""])
        once = rivals if matrix.nnz > MANY_ENTRIES else ()
        rows += compare(name, matrix, k, truth, [*OURS, *rivals], repeats, once)
    return rows


def run_planted(repeats: int) -> None:
    graphs = ((spec, data.largest_component(*data.planted(spec))) for spec in PLANTED)
    rows = compare_planted(graphs, [tools.LEIDEN, METIS, tools.LOUVAIN], repeats)
    write_table("normalized_cut_planted", "Planted partitions", tools.HEADER, rows, SPEC)


def run_paper(repeats: int) -> None:
    graph, truth = stochastic_block_model([1000] * 250, 0.5, 0.001 / 250, rng=1)
    matrix = sparse.csr_matrix(graph.to_scipy())
    one_percent = tools.ours("graphclust, coreset_size=2500", coreset=Coreset(size=2_500))
    rows = compare("250 x 1000, p = 0.5", matrix, 250, truth, [tools.DEFAULT, one_percent, tools.CORESET_SC], repeats)
    write_table("normalized_cut_paper", "The paper's block model, 125 million entries, 1 % coreset", tools.HEADER, rows)


WEIGHTED = ("50x1000:20:4", "20x1000:12:2:unbalanced", "50x1000:8:2")


def run_weighted(repeats: int) -> None:
    """Weights that say nothing about the blocks: how far do they lead each tool astray?"""

    def graphs() -> Iterator[Planted]:
        for spec in WEIGHTED:
            matrix, truth = data.largest_component(*data.planted(spec))
            for kind in ("exponential", "log-normal"):
                yield f"{spec}, {kind}", (data.with_random_weights(matrix, kind), truth)

    notes = "Weights are drawn for each edge by itself, log-normal with sigma 1.5."
    rows = compare_planted(graphs(), [LEIDEN_AT_K, METIS], repeats)
    write_table("normalized_cut_weighted", "Planted partitions with random weights", tools.HEADER, rows, notes)


def run_lfr(repeats: int) -> None:
    mixings = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    graphs = ((f"LFR, mixing {mixing}", data.largest_component(*data.lfr(mixing))) for mixing in mixings)
    notes = "5,000 nodes of mean degree 20, communities of 20 to 100 nodes."
    rows = compare_planted(graphs, [LEIDEN_AT_K, METIS], repeats)
    write_table("normalized_cut_lfr", "LFR benchmark graphs", tools.HEADER, rows, notes)


def run_real(repeats: int) -> None:
    rows = []
    for name in data.real_names():
        if name in ("cnr-2000", "livejournal_top5000_sub"):
            continue
        matrix, truth = data.real(name)
        n, classes = matrix.shape[0], len(np.unique(truth[truth >= 0]))
        for k in sorted({k for k in (classes, 2, 5, 20, 100) if k >= 2 and (k <= n / 20 or k == classes)}):
            compared = [*OURS, METIS, *([LEIDEN_AT_K] if k == classes else [])]
            rows += compare(name, matrix, k, truth, compared, repeats)
    write_table("normalized_cut_real", "Real graphs", tools.HEADER, rows)


def run_meshes(repeats: int) -> None:
    rows = []
    for name, matrix in data.meshes():
        unknown = np.full(matrix.shape[0], -1)
        for k in (2, 5, 20, 100):
            rows += compare(name, matrix, k, unknown, [tools.SMALLEST_CUT, METIS], repeats)
    write_table("normalized_cut_meshes", "Meshes", tools.HEADER, rows)


SKLEARN, LOBPCG = tools.sklearn_spectral(), tools.sklearn_spectral("lobpcg")


def compare_neighbors(name: str, compared: Sequence[Tool], repeats: int) -> list[list[str]]:
    """Rows of the 50-nearest-neighbor graph of a data set, without weights and with; scikit-learn runs once."""
    distances, classes = data.largest_component(*data.nearest_neighbors(name, 50))
    k, rows = len(np.unique(classes)), []
    for kind, matrix in (("", (distances > 0).astype(np.float64)), (" Gaussian", data.gaussian_weights(distances))):
        rows += compare(f"{name} 50-NN{kind}", matrix, k, classes, [*OURS, *compared], repeats, (SKLEARN, LOBPCG))
    return rows


def run_knn(repeats: int) -> None:
    rows = []
    for name in ("satellite", "pendigits", "letter"):
        rows += compare_neighbors(name, [METIS, SKLEARN], repeats)
    rows += compare_neighbors("mnist", [METIS], repeats)  # too much for scikit-learn's default solver, which factorizes
    notes = "METIS gets weights times 1000, rounded, or less where their sum would not fit into 32 bits."
    write_table("normalized_cut_knn", "Nearest-neighbor graphs", tools.HEADER, rows, notes)


def run_mnist_sklearn(repeats: int) -> None:
    """scikit-learn's quicker solver on a graph that is too much for its default one."""
    rows, title = compare_neighbors("mnist", [LOBPCG], repeats), "The 50-NN graph of MNIST, against scikit-learn"
    write_table("normalized_cut_mnist_sklearn", title, tools.HEADER, rows)


def main() -> None:
    parts = {
        "planted": run_planted, "weighted": run_weighted, "lfr": run_lfr, "paper": run_paper,
        "real": run_real, "meshes": run_meshes, "knn": run_knn, "mnist-sklearn": run_mnist_sklearn,
    }  # fmt: skip
    words = {"parts": {"nargs": "*", "default": list(parts), "metavar": "|".join(parts)}}
    options = asked(__doc__, words, repeats=3)
    for method in ("multilevel", "two-step", "paper"):
        coreset_sc(data.planted("5x200:10:1")[0], 5, method=method, rng=0)  # compile
    for part in options.parts:
        parts[part](options.repeats)


if __name__ == "__main__":
    main()
