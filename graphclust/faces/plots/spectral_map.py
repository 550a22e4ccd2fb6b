"""The coreset in its spectral embedding: what the clusters look like to the method that found them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphclust.checks import Seed, as_generator, as_whole_number
from graphclust.coreset.sampling import CoresetSample, construct_coreset
from graphclust.errors import ParameterError
from graphclust.faces.plots.canvas import COLORS, LINE, MARKERS, as_clustering, axes_for, without_frame
from graphclust.objective.kernel import NormalizedCutKernel
from graphclust.results.clustering import Clustering
from graphclust.spectral.embedding import block_power_embedding
from graphclust.two_step.method import default_size
from graphclust.two_step.shared_neighbors import two_step_factor

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED = 30  # clusters whose numbers are written


def embedding(
    clustering: Clustering, *, first: int = 1, second: int = 2, rng: Seed = 0, ax: Axes | None = None
) -> Axes:
    """Draw coreset nodes at two coordinates of their spectral embedding, marked by cluster.

    clustering : a `Clustering`; its coreset is drawn, or a new one, if its method needed none.
    first, second : which eigenvectors of the coreset's two-step graph, by decreasing eigenvalue from 0; vector 0 is
        constant but for the degrees. rng : for the sample and for the power method.

    Raises TypeError for no Clustering or no axes, ParameterError where there are not so many eigenvectors, ImportError
    without matplotlib.
    """
    clustering, rng = as_clustering(clustering), as_generator(rng)
    first = as_whole_number(first, "first", at_least=0)
    second = as_whole_number(second, "second", at_least=0)
    ax = axes_for(ax)
    graph = clustering.graph
    kernel = NormalizedCutKernel.of(graph)
    if clustering.coreset is not None:
        coreset = CoresetSample(clustering.coreset.nodes, clustering.coreset.weights)
    else:
        size = max(clustering.n_clusters, default_size(graph.n_nodes, graph.n_entries, clustering.n_clusters))
        coreset = construct_coreset(kernel, clustering.n_clusters, size, rng=rng)
    labels = clustering.labels[coreset.nodes]
    if max(first, second) >= len(coreset.nodes):
        raise ParameterError(
            f"first={first}, second={second} are too many for a coreset of {len(coreset.nodes)} nodes, expected "
            f"numbers below that"
        )
    n_columns = min(len(coreset.nodes), max(clustering.n_clusters, first + 1, second + 1))
    factor = two_step_factor(kernel, coreset)
    points = block_power_embedding(factor, n_columns, rows="degree", rng=rng)[:, [first, second]]
    for c in range(clustering.n_clusters):
        own = points[labels == c]
        marker, color = MARKERS[c // len(COLORS) % len(MARKERS)], COLORS[c % len(COLORS)]
        ax.scatter(own[:, 0], own[:, 1], s=14, marker=marker, color=color, alpha=0.7, linewidths=0, label=f"{c}")
        if len(own) and c < MOST_NAMED:
            box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": LINE, "linewidth": 0.5}
            ax.annotate(str(c), np.median(own, axis=0), ha="center", va="center", fontsize=7, bbox=box)
    without_frame(ax)
    ax.set_xlabel(f"eigenvector {first} of the coreset's two-step graph")
    ax.set_ylabel(f"eigenvector {second}")
    return ax
