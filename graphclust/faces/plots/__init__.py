"""Pictures of a graph's clusters, drawn by matplotlib: `pip install graphclust[plots]`, `from graphclust import plots`.

Each function takes `ax=`, axes to draw on (None: new ones), and returns them. Colors can be told apart by everyone:
Okabe and Ito's for what has no order, cividis for what has one.
"""

from graphclust.faces.plots.bars import calibration, contingency, margins, stage_times
from graphclust.faces.plots.clusters import adjacency, embedding, quotient
from graphclust.faces.plots.levels import icicle, path_values, tree_of_splits

__all__ = [
    "adjacency", "calibration", "contingency", "embedding", "icicle", "margins", "path_values", "quotient",
    "stage_times", "tree_of_splits",
]  # fmt: skip
