"""Cuts and volumes that a method has summed, kept with its clustering so that no figure of quality reads the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from graphclust.results.clustering import Clustering

# Sums that moves kept lose about 1e-16 of the heaviest node that passed through. With weights a cut is trusted where it
# is more than the first share of its cluster's volume and more than the second of the graph's.
ROUND_OFF, ROUND_OFF_OF_ALL = 1e-6, 1e-10


def keep_sums(found: Clustering, cut: npt.NDArray[Any], volume: npt.NDArray[Any]) -> None:
    """Keep cuts and volumes of clusters that moves have summed, so that no figure of quality reads the edges.

    Where round-off may be all there is of a cut, nothing is kept.
    """
    least = np.maximum(ROUND_OFF * volume, ROUND_OFF_OF_ALL * found.graph.total_volume)
    if found.graph.weights is None or ((cut > least) | (volume == 0.0)).all():
        vars(found)["_cut_and_volume"] = cut, volume
