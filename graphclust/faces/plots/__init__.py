"""Pictures of a graph's clusters, drawn by matplotlib: `pip install graphclust[plots]`, `from graphclust import plots`.

Each function takes `ax=`, axes to draw on (None: new ones), and returns them. Colors can be told apart by everyone:
Okabe and Ito's for what has no order, cividis for what has one.
"""

from graphclust.faces.plots.bars import calibration, margins, stage_times
from graphclust.faces.plots.contingency_table import contingency
from graphclust.faces.plots.every_k import path_values, tree_of_splits
from graphclust.faces.plots.levels import icicle
from graphclust.faces.plots.links import quotient
from graphclust.faces.plots.raster import adjacency
from graphclust.faces.plots.spectral_map import embedding

__all__ = [
    "adjacency", "calibration", "contingency", "embedding", "icicle", "margins", "path_values", "quotient",
    "stage_times", "tree_of_splits",
]  # fmt: skip
