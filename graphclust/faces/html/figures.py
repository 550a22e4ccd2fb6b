"""The pictures of the page: a raster as a PNG; maps, charts and trees as SVG, whose colors follow the page's."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from graphclust.checks import check_type
from graphclust.engine.likelihood import evidence_in_words
from graphclust.errors import amount
from graphclust.faces.html.tables import share_leaving, table
from graphclust.faces.plots.clusters import block_raster, places, strongest_links, widths
from graphclust.faces.plots.levels import WIDEST, boxes_of, height_of, tree_lines, values_of
from graphclust.profile.path import ClusterPath
from graphclust.results.clustering import Clustering
from graphclust.results.hierarchy import Hierarchy

SQUARES = 480  # a side of the raster
FAINTEST = 80  # of 255: the strength of the lowest density, which is to be seen
SIDE, MARGIN = 560.0, 44.0  # of a drawing
HEIGHT, LEFT, BOTTOM, TOP = 260.0, 52.0, 36.0, 14.0  # of a chart
N_TICKS = 5
LARGEST_DOT, SMALLEST_DOT = 7.0, 1.8  # radius
SMALLEST, LARGEST = 9.0, 34.0  # radius of a disk
COLOR = (47, 128, 210)  # blue that stands out from white and from black
ROW = 30.0  # of the icicle, as high as a level
MOST_BOXES = 2000  # of the widest, some 100 bytes each; the others would hardly show
NAMED_FROM = 24.0  # of the width, from which a box has room for its number of nodes
STRENGTHS = (0.85, 0.55, 0.7, 0.4)  # of the color, for the clusters of the coarsest level in turn


def figure(drawing: str, width: float, height: float, alt: str, caption: str, kind: str = "") -> str:
    """A drawing in SVG with what is read out in its place and what stands below it; kind : its class."""
    marked = f' class="{kind}"' if kind else ""
    return (
        f'<figure><svg{marked} viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(alt)}">{drawing}</svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def adjacency(clustering: Clustering) -> str:
    """The adjacency matrix ordered by cluster."""
    raster = block_raster(clustering, SQUARES)
    alt = (
        f"Adjacency matrix of {amount(len(raster.order), 'node')}, ordered by cluster; "
        f"{share_inside(clustering):.0%} of the edge weight lies within clusters"
    )
    caption = (
        "A row and a column for each node, the largest cluster first and in each cluster the nodes of high degree "
        "first; the stronger a spot, the more of its pairs of nodes are linked. Squares along the diagonal are the "
        "clusters."
    )
    size = len(raster.density)
    source = as_data_uri(strengths(raster.density))
    return (
        f'<figure><img src="{source}" width="{size}" height="{size}" alt="{escape(alt)}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def strengths(density: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    """Densities on a logarithmic scale from FAINTEST to 255, and 0 for none; uint8, of the same shape."""
    is_held = density > 0.0
    strength = np.zeros(density.shape, np.uint8)
    if is_held.any():
        scale = np.log(density[is_held])
        low, high = float(scale.min()), float(scale.max())
        place = (scale - low) / (high - low) if high > low else np.ones(len(scale))
        strength[is_held] = np.round(FAINTEST + (255 - FAINTEST) * place)
    return strength


def quotient(clustering: Clustering) -> str:
    """The quotient graph."""
    links = strongest_links(clustering)
    xy = MARGIN + places(links) * (SIDE - 2 * MARGIN)
    volume, leaving = clustering.volume[links.clusters], share_leaving(clustering)
    radius = np.maximum(LARGEST * np.sqrt(volume / volume.max()), SMALLEST)
    lines = [
        f'<line x1="{xy[a, 0]:.1f}" y1="{xy[a, 1]:.1f}" x2="{xy[b, 0]:.1f}" y2="{xy[b, 1]:.1f}" '
        f'stroke-width="{width:.2f}"><title>{links.clusters[a]} and {links.clusters[b]}: {times:.2g} times chance'
        "</title></line>"
        for (a, b), width, times in zip(
            links.pairs.tolist(), widths(links, volume).tolist(), links.excess.tolist(), strict=True
        )
    ]
    disks = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"><title>cluster {c}: '
        f"{amount(int(clustering.sizes[c]), 'node')}, {leaving[c]:.1%} of its links leave</title></circle>"
        f'<text x="{x:.1f}" y="{y:.1f}">{c}</text>'
        for (x, y), r, c in zip(xy.tolist(), radius.tolist(), links.clusters.tolist(), strict=True)
    ]
    hidden = clustering.n_clusters - len(links.clusters)
    alt = f"Quotient graph of {amount(len(links.clusters), 'cluster')} and {amount(len(lines), 'link')} between them"
    caption = (
        "Each disk is a cluster, its area the weight of the cluster's links. Of each cluster the three connections are "
        "drawn that exceed most what chance would put there; a line is the wider, the larger its share of the smaller "
        "cluster's links."
    )
    if hidden:
        caption += f" {amount(hidden, 'smaller cluster is', 'smaller clusters are')} not shown."
    drawing = f'<g class="links">{"".join(lines)}</g><g class="disks">{"".join(disks)}</g>'
    return figure(drawing, SIDE, SIDE, alt, caption)


def share_inside(clustering: Clustering) -> float:
    """The share of the link weight that lies within clusters."""
    return 1.0 - float((share_leaving(clustering) * clustering.volume).sum()) / (clustering.graph.total_volume or 1.0)


def as_data_uri(strength: npt.NDArray[np.uint8]) -> str:
    """The picture as an address that holds it; strength : uint8, shape (height, width), 0 is transparent.

    >>> as_data_uri(np.zeros((2, 3), np.uint8))[:32]
    'data:image/png;base64,iVBORw0KGg'
    """
    height, width = strength.shape
    rows = np.zeros((height, width + 1), np.uint8)  # each row starts with the number of its filter: none
    rows[:, 1:] = strength
    chunks = {
        b"IHDR": struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0),  # 8 bits a pixel, the place in a palette
        b"PLTE": bytes(COLOR) * 256,
        b"tRNS": bytes(range(256)),
        b"IDAT": zlib.compress(rows.tobytes(), 9),
        b"IEND": b"",
    }
    file = b"\x89PNG\r\n\x1a\n"
    for kind, data in chunks.items():
        file += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return "data:image/png;base64," + base64.b64encode(file).decode()


def levels_of(hierarchy: Hierarchy) -> str:
    """A picture in which each cluster stands below the one it is in, and a table of the levels."""
    check_type(hierarchy, Hierarchy, "hierarchy", "hierarchy(G) returns one")
    n_levels, n = len(hierarchy.levels), hierarchy.graph.n_nodes
    boxes = boxes_of(hierarchy, n_levels)
    shown = sorted(boxes, key=lambda box: -box[2])[:MOST_BOXES]
    order = np.lexsort(hierarchy.levels[::-1])  # as the boxes are
    drawn = []
    for depth, left, width, top in shown:
        x, wide = SIDE * left / n, max(SIDE * width / n - 0.5, 0.2)
        cluster = hierarchy.ids[depth][hierarchy.levels[depth][order[left]]]
        drawn.append(
            f'<rect x="{x:.1f}" y="{ROW * depth:g}" width="{wide:.2f}" height="{ROW - 2:g}" '
            f'fill-opacity="{STRENGTHS[top % len(STRENGTHS)]}">'
            f"<title>cluster {cluster} on level {depth}: {amount(width, 'node')}</title></rect>"
        )
        if wide >= NAMED_FROM:
            drawn.append(
                f'<text x="{x + wide / 2:.1f}" y="{ROW * depth + ROW / 2 + 3:g}" text-anchor="middle">{width:,}</text>'
            )
    counts = [len(ids) for ids in hierarchy.ids]
    alt = f"Icicle of {amount(n_levels, 'level')} with {', '.join(map(str, counts))} clusters"
    caption = "A row for each level, the coarsest on top, and a box for each cluster, as wide as it has nodes."
    if len(boxes) > len(shown):
        caption += f" {amount(len(boxes) - len(shown), 'small box', 'small boxes')} are not shown."
    rows = [
        [str(depth), f"{counts[depth]:,}", f"{sizes.max():,}", f"{int(np.median(sizes)):,}"]
        for depth, sizes in enumerate(map(hierarchy.sizes_on, range(n_levels)))
    ]
    levels = table(["level", "clusters", "nodes of the largest", "median"], rows, "Levels, coarsest first")
    return figure("".join(drawn), SIDE, ROW * n_levels, alt, caption, "icicle") + levels


def other_numbers(path: ClusterPath, clustering: Clustering) -> str:
    """What the path suggests and why, candidates, a chart and a tree; clustering : the one that the page is about."""
    suggestion = path.suggest()
    said = "".join(f"<li>{escape(reason)}</li>" for reason in suggestion.reasons)
    rows = [
        [
            str(one.k),
            f"{one.best_range[0]:.3g} to {one.best_range[1]:.3g}",
            "not tried" if np.isnan(one.stability) else f"{one.stability:.2f}",
            evidence_in_words(one.nats_saved),
        ]
        for one in suggestion.candidates
    ]
    head = ["clusters", "best at resolutions", "stability", "evidence"]
    candidates = table(head, rows, "Candidates for the number of clusters") if rows else ""
    tree = _tree(path, suggestion.k, clustering) if path.ks[-1] > 1 else ""
    return f"<ul>{said}</ul>{candidates}{_chart(path, suggestion.k, clustering.n_clusters)}{tree}"


def _chart(path: ClusterPath, suggested: int, k: int) -> str:
    """The value of each k as a chart in SVG: dots by the width of their range, lines at the suggestion and this k."""
    ks, values, widths, name = values_of(path)
    x = _scale(np.log(ks.astype(np.float64)), LEFT, SIDE - TOP)
    y = _scale(values, HEIGHT - BOTTOM, TOP)
    radius = SMALLEST_DOT + (LARGEST_DOT - SMALLEST_DOT) * np.minimum(widths / WIDEST, 1.0)
    dots = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{r:.1f}"><title>{n} clusters: {value:.4f}</title></circle>'
        for a, b, r, n, value in zip(x, y, radius, ks.tolist(), values.tolist(), strict=True)
    )
    evenly = np.linspace(x[0], x[-1], N_TICKS)
    shown = np.unique(np.abs(x[:, None] - evenly).argmin(axis=0)) if len(ks) >= N_TICKS else range(len(ks))
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
    middle = (LEFT + SIDE) / 2
    label = f'<text x="{middle:g}" y="{HEIGHT - 4:g}" text-anchor="middle">clusters, on a logarithmic scale</text>'
    alt = f"{name} for {ks[0]} to {ks[-1]} clusters; {suggested} is suggested"
    caption = (
        f"{name.capitalize()} of the partition into each number of clusters; a dot is the larger, the wider the range "
        f"of resolutions is at which that number is the best. The solid line marks the suggestion, {suggested}, the "
        f"dashed one the {k} of this page."
    )
    drawing = f"{marks}{_line(x, y)}{dots}{across}{up}{label}"
    return figure(drawing, SIDE, HEIGHT, alt, caption, "chart")


def _tree(path: ClusterPath, suggested: int, clustering: Clustering) -> str:
    """The unions as a tree in SVG, cut at the suggestion, with the clusters of this page below its leaves."""
    tree = tree_lines(path)
    clusters = clusters_of_leaves(path, tree["leaves"], clustering)
    x, height = np.array(tree["icoord"]), np.array(tree["dcoord"])
    lowest, highest = float(path.tree()[:, 2].min()) / 1.5, float(path.tree()[-1, 2])
    n = len(tree["ivl"])

    def across(place: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return TOP + place / (10.0 * n) * (SIDE - 2 * TOP)

    def up(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        share = np.log(np.maximum(values, lowest) / lowest) / np.log(1.05 * highest / lowest)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    lines = "".join(_line(across(one), up(other)) for one, other in zip(x, height, strict=True))
    middles = across(5.0 + 10.0 * np.arange(n, dtype=np.float64))
    names = "".join(
        f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 14:g}" text-anchor="middle">{escape(name)}'
        f"<title>{escape(name)}: mostly cluster {cluster}</title></text>"
        f'<text class="cluster" x="{at:.1f}" y="{HEIGHT - BOTTOM + 28:g}" text-anchor="middle">{cluster}</text>'
        for at, name, cluster in zip(middles, tree["ivl"], clusters, strict=True)
    )
    at = float(up(np.array(height_of(path, suggested))))
    cut = f'<line class="suggested" x1="{TOP:g}" x2="{SIDE - TOP:g}" y1="{at:.1f}" y2="{at:.1f}"/>'
    alt = f"Tree in which the {path.ks[-1]} clusters of the finest partition are united into one"
    caption = (
        f"How the clusters of the partition into {path.ks[-1]} are united, the higher the weaker they are linked; a "
        f"number in brackets counts clusters that are united further down. Below each leaf stands the cluster of this "
        f"page that has most of its nodes. The line cuts the tree into {suggested}."
    )
    return figure(f"{lines}{cut}{names}", SIDE, HEIGHT, alt, caption, "chart")


def _line(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> str:
    """A line through some points."""
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return f'<polyline points="{points}"/>'


def clusters_of_leaves(path: ClusterPath, leaves: Sequence[int], clustering: Clustering) -> list[int]:
    """The cluster that has most nodes of each leaf; leaves : clusters, then unions in the order of `path.tree()`."""
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
    place = (values - values.min()) / span if span > 0.0 else np.full(len(values), 0.5)
    return low + place * (high - low)
