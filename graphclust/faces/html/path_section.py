"""The part of the page on other numbers of clusters: what the path suggests, its values, and the tree of splits."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphclust.engine.likelihood import evidence_in_words
from graphclust.faces.html.tables import figure, table
from graphclust.faces.plots.every_k import height_of, tree_lines, values_of

if TYPE_CHECKING:
    from graphclust.profile.path import ClusterPath
    from graphclust.profile.select_k import Suggestion
    from graphclust.results.clustering import Clustering

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 560.0, 260.0, 52.0, 36.0, 14.0
N_TICKS = 5
LARGEST_DOT, SMALLEST_DOT, WIDEST = 7.0, 1.8, 3.0  # radius; WIDEST as in `plots.path_values`


def other_numbers(path: ClusterPath, suggestion: Suggestion, clustering: Clustering) -> str:
    """Sentences, candidates, a chart and a tree; clustering : the one that the page is about."""
    said = "".join(f"<li>{escape(reason)}</li>" for reason in suggestion.reasons)
    rows = [
        [str(found.k), _range(found.best_range),
         "not tried" if np.isnan(found.stability) else f"{found.stability:.2f}", evidence_in_words(found.nats_saved)]
        for found in suggestion.candidates
    ]  # fmt: skip
    head = ["clusters", "best at resolutions", "stability", "evidence"]
    candidates = table(head, rows, "Candidates for the number of clusters") if rows else ""
    tree = _tree(path, suggestion.k, clustering) if path.ks[-1] > 1 else ""
    return f"<ul>{said}</ul>{candidates}{_chart(path, suggestion.k, clustering.n_clusters)}{tree}"


def _chart(path: ClusterPath, suggested: int, k: int) -> str:
    """The value of each k as a chart in SVG: dots by the width of their range, lines at the suggestion and this k."""
    ks, values, widths, name = values_of(path)
    x = _scale(np.log(ks.astype(np.float64)), LEFT, WIDTH - TOP)
    y = _scale(values, HEIGHT - BOTTOM, TOP)
    radius = SMALLEST_DOT + (LARGEST_DOT - SMALLEST_DOT) * np.minimum(widths / WIDEST, 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    dots = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{r:.1f}"><title>{n} clusters: {value:.4f}</title></circle>'
        for a, b, r, n, value in zip(x, y, radius, ks.tolist(), values.tolist(), strict=True)
    )
    shown = np.unique(np.linspace(0, len(ks) - 1, N_TICKS).astype(int)) if len(ks) < N_TICKS else _spread(x)
    across = "".join(
        f'<text x="{x[i]:.1f}" y="{HEIGHT - BOTTOM + 16:g}" text-anchor="middle">{ks[i]}</text>' for i in shown
    )
    ends = np.unique([float(values.min()), float(values.max())])
    up = "".join(
        f'<text x="{LEFT - 8:g}" y="{y[np.abs(values - end).argmin()] + 4:.1f}" text-anchor="end">{end:.3g}</text>'
        for end in ends
    )
    marks = "".join(
        f'<line class="{kind}" x1="{x[i]:.1f}" x2="{x[i]:.1f}" y1="{TOP:g}" y2="{HEIGHT - BOTTOM:g}"/>'
        for n, kind in ((suggested, "suggested"), (k, "chosen"))
        for i in np.flatnonzero(ks == n)
    )
    middle = (LEFT + WIDTH) / 2
    label = f'<text x="{middle:g}" y="{HEIGHT - 4:g}" text-anchor="middle">clusters, on a logarithmic scale</text>'
    alt = f"{name} for {ks[0]} to {ks[-1]} clusters; {suggested} is suggested"
    caption = (
        f"{name.capitalize()} of the partition into each number of clusters; a dot is the larger, the wider the range "
        f"of resolutions is at which that number is the best. The solid line marks the suggestion, {suggested}, the "
        f"dashed one the {k} of this page."
    )
    drawing = f'{marks}<polyline points="{points}"/>{dots}{across}{up}{label}'
    return figure(drawing, WIDTH, HEIGHT, alt, caption, "chart")


def _tree(path: ClusterPath, suggested: int, clustering: Clustering) -> str:
    """The unions as a tree in SVG, cut at the suggestion, with the clusters of this page below its leaves."""
    tree = tree_lines(path)
    clusters = clusters_of_leaves(path, tree["leaves"], clustering)
    x, height = np.array(tree["icoord"]), np.array(tree["dcoord"])
    lowest, highest = float(path.tree()[:, 2].min()) / 1.5, float(path.tree()[-1, 2])
    n = len(tree["ivl"])

    def across(place: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return TOP + place / (10.0 * n) * (WIDTH - 2 * TOP)

    def up(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        share = np.log(np.maximum(values, lowest) / lowest) / np.log(1.05 * highest / lowest)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    lines = "".join(
        f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across(one), up(other), strict=True))}"/>'
        for one, other in zip(x, height, strict=True)
    )
    names = "".join(
        f'<text x="{across(np.array(5.0 + 10.0 * i)):.1f}" y="{HEIGHT - BOTTOM + 14:g}" text-anchor="middle">'
        f"{escape(name)}<title>{escape(name)}: mostly cluster {cluster}</title></text>"
        f'<text class="cluster" x="{across(np.array(5.0 + 10.0 * i)):.1f}" y="{HEIGHT - BOTTOM + 28:g}" '
        f'text-anchor="middle">{cluster}</text>'
        for i, (name, cluster) in enumerate(zip(tree["ivl"], clusters, strict=True))
    )
    at = float(up(np.array(height_of(path, suggested))))
    cut = f'<line class="suggested" x1="{TOP:g}" x2="{WIDTH - TOP:g}" y1="{at:.1f}" y2="{at:.1f}"/>'
    alt = f"Tree in which the {path.ks[-1]} clusters of the finest partition are united into one"
    caption = (
        f"How the clusters of the partition into {path.ks[-1]} are united, the higher the weaker they are linked; a "
        f"number in brackets counts clusters that are united further down. Below each leaf stands the cluster of this "
        f"page that has most of its nodes. The line cuts the tree into {suggested}."
    )
    return figure(f"{lines}{cut}{names}", WIDTH, HEIGHT, alt, caption, "chart")


def clusters_of_leaves(path: ClusterPath, leaves: Sequence[int], clustering: Clustering) -> list[int]:
    """For each leaf of the drawn tree, the cluster that has most of its nodes; a leaf may be a union of clusters.

    leaves : as SciPy numbers them: clusters first, then the unions in the order of `path.tree()`.
    """
    most = path.ks[-1]
    shared = np.zeros((2 * most - 1, clustering.n_clusters), dtype=np.int64)
    fine = path[most].labels
    both = (fine >= 0) & (clustering.labels >= 0)
    np.add.at(shared, (fine[both], clustering.labels[both]), 1)
    for i, (one, other) in enumerate(path.tree()[:, :2].astype(np.int64).tolist()):
        shared[most + i] = shared[one] + shared[other]
    return shared[list(leaves)].argmax(axis=1).tolist()


def _scale(values: npt.NDArray[np.float64], low: float, high: float) -> npt.NDArray[np.float64]:
    """Values mapped linearly onto low (the least) to high; the middle if all are equal."""
    span = float(np.ptp(values))
    return (
        np.full(len(values), (low + high) / 2) if span == 0.0 else low + (values - values.min()) / span * (high - low)
    )


def _spread(x: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Places of ticks, about evenly spaced, the first and the last among them."""
    wanted = np.linspace(x[0], x[-1], N_TICKS)
    return np.unique(np.abs(x[:, None] - wanted).argmin(axis=0))


def _range(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:.3g} to {bounds[1]:.3g}"
