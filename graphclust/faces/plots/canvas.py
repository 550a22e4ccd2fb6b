"""Axes to draw on, and the colors that all pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphclust.checks import check_type, import_extra
from graphclust.errors import ParameterError
from graphclust.results.clustering import Clustering

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe & Ito 2008, "Color universal design"; black is left for lines and text.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#F0E442")
MARKERS = "o^sDvP*X"
ORDERED = "cividis"  # Nuñez, Anderton & Renslow 2018: seen alike with and without color-vision deficiency
LINE = "#444444"


def axes_for(ax: Axes | None, width: float = 6.0, height: float = 5.0) -> Axes:
    """The given axes, or new ones; ImportError with the name of the extra where matplotlib is missing."""
    pyplot = import_extra("matplotlib.pyplot", "pictures need matplotlib", "graphclust[plots]")
    if ax is None:
        return pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    if not hasattr(ax, "transAxes"):
        raise TypeError(f"ax={ax!r} is a {type(ax).__name__}, expected matplotlib axes or None")
    return ax


def as_clustering(clustering: Any) -> Clustering:
    """What was passed, if it is a Clustering with a cluster."""
    check_type(clustering, Clustering, "clustering", "coreset_sc(G, k) returns one")
    if clustering.n_clusters == 0:
        raise ParameterError("clustering has no clusters, expected at least one to draw")
    return clustering
