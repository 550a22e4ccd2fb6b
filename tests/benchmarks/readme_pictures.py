"""Make the picture of README: `python tests/benchmarks/readme_pictures.py`, seconds; same versions, same bytes.

It is of a planted graph: unequal blocks, degrees that follow a power law. The site draws its own when it is built.
"""

import pathlib

import matplotlib

import graphclust
from graphclust import plots

matplotlib.use("Agg")

FOLDER = pathlib.Path(__file__).parents[2] / "notebooks" / "pictures"
N_NODES, MEAN_DEGREE, MIXING, LARGEST = 6_000, 16.0, 0.25, 900


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    graph, planted = graphclust.lfr_like(N_NODES, MEAN_DEGREE, MIXING, largest=LARGEST, rng=0)[:2]
    path = graphclust.cluster_path(graph, range(1, 81), rng=0)
    k = path.suggest().k
    clustering = graphclust.coreset_sc(graph, k, rng=0)
    plots.quotient(clustering).figure.savefig(FOLDER / "quotient.png", dpi=100, metadata={"Software": None})
    agreement = graphclust.adjusted_rand_index(planted, clustering)
    print(f"{len(set(planted.tolist()))} planted communities, k = {k} suggested, ARI {agreement:.3f}")


if __name__ == "__main__":
    main()
