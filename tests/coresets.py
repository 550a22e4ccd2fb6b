"""Coresets for tests."""

import numpy as np

from graphclust import CoresetSample


def some_coreset(kernel, seed, share=0.5):
    """About half of the points with weights over two orders of magnitude."""
    rng = np.random.default_rng(seed)
    points = kernel.points
    nodes = np.sort(rng.choice(points, max(1, int(share * len(points))), replace=False))
    return CoresetSample(nodes, kernel.point_weights[nodes] * 10 ** rng.uniform(-1, 1, len(nodes)))
