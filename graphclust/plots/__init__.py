"""Pictures of a graph's clusters, drawn by matplotlib: `pip install graphclust[plots]`, `from graphclust import plots`.

Each function takes `ax=`, axes to draw on (None: new ones), and returns them. Colors can be told apart by everyone:
Okabe and Ito's for what has no order, cividis for what has one.
"""

from graphclust.plots.bars import calibration, margins, stage_times
from graphclust.plots.block_matrix import adjacency
from graphclust.plots.cluster_map import quotient
from graphclust.plots.contingency_table import contingency
from graphclust.plots.every_k import path_values, tree_of_splits
from graphclust.plots.levels import icicle
from graphclust.plots.spectral_map import embedding

__all__ = [
    "adjacency",
    "calibration",
    "contingency",
    "embedding",
    "icicle",
    "margins",
    "path_values",
    "quotient",
    "stage_times",
    "tree_of_splits",
]
