"""The pictures of the page: a raster as a PNG, drawings as SVG, whose colors follow the page's."""

import base64
import struct
import zlib
from html import escape

import numpy as np
import numpy.typing as npt

from graphclust.checks import check_type
from graphclust.errors import amount
from graphclust.faces.html.tables import figure, share_leaving, table
from graphclust.faces.plots.levels import boxes_of
from graphclust.faces.plots.links import places, strongest_links
from graphclust.faces.plots.raster import block_raster
from graphclust.results.clustering import Clustering
from graphclust.results.hierarchy import Hierarchy

SQUARES = 480  # a side of the raster
FAINTEST = 80  # of 255: the strength of the lowest density, which is to be seen
SIDE, MARGIN = 560.0, 44.0  # of a drawing
SMALLEST, LARGEST = 9.0, 34.0  # radius of a disk
COLOR = (47, 128, 210)  # blue that stands out from white and from black
ROW = 30.0  # of the icicle, as high as a level
MOST_BOXES = 2000  # of the widest, some 100 bytes each; the others would hardly show
NAMED_FROM = 24.0  # of the width, from which a box has room for its number of nodes
STRENGTHS = (0.85, 0.55, 0.7, 0.4)  # of the color, for the clusters of the coarsest level in turn


def adjacency(clustering: Clustering) -> str:
    """The adjacency matrix ordered by cluster."""
    raster = block_raster(clustering, SQUARES)
    nodes = amount(len(raster.order), "node")
    inside = share_inside(clustering)
    alt = f"Adjacency matrix of {nodes}, ordered by cluster; {inside:.0%} of the edge weight lies within clusters"
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
    found = density > 0.0
    strength = np.zeros(density.shape, np.uint8)
    if found.any():
        scale = np.log(density[found])
        low, high = float(scale.min()), float(scale.max())
        place = (scale - low) / (high - low) if high > low else np.ones(len(scale))
        strength[found] = np.round(FAINTEST + (255 - FAINTEST) * place)
    return strength


def quotient(clustering: Clustering) -> str:
    """The quotient graph."""
    links = strongest_links(clustering)
    xy = MARGIN + places(links) * (SIDE - 2 * MARGIN)
    volume, leaving = clustering.volume[links.clusters], share_leaving(clustering)
    radius = np.maximum(LARGEST * np.sqrt(volume / volume.max()), SMALLEST)
    share = links.weight / np.minimum(volume[links.pairs[:, 0]], volume[links.pairs[:, 1]])
    widths = 0.5 + 6.0 * share / max(float(share.max(initial=0.0)), 1e-300)
    lines = [
        f'<line x1="{xy[a, 0]:.1f}" y1="{xy[a, 1]:.1f}" x2="{xy[b, 0]:.1f}" y2="{xy[b, 1]:.1f}" '
        f'stroke-width="{width:.2f}"><title>{links.clusters[a]} and {links.clusters[b]}: {times:.2g} times chance'
        "</title></line>"
        for (a, b), width, times in zip(links.pairs.tolist(), widths.tolist(), links.excess.tolist(), strict=True)
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
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)  # 8 bits a pixel, the place in a palette
    file = b"\x89PNG\r\n\x1a\n" + b"".join([
        _chunk(b"IHDR", header),
        _chunk(b"PLTE", bytes(COLOR) * 256),
        _chunk(b"tRNS", bytes(range(256))),
        _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
        _chunk(b"IEND", b""),
    ])  # fmt: skip
    return "data:image/png;base64," + base64.b64encode(file).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def levels_of(hierarchy: Hierarchy) -> str:
    """A picture in which each cluster stands below the one it is in, and a table of the levels."""
    check_type(hierarchy, Hierarchy, "hierarchy", "hierarchy(G) returns one")
    n_levels, n = len(hierarchy.levels), hierarchy.graph.n_nodes
    boxes = boxes_of(hierarchy, n_levels)
    shown = sorted(boxes, key=lambda box: -box[2])[:MOST_BOXES]
    ids = {(depth, left): int(one) for depth in range(n_levels) for left, one in _ids_by_place(hierarchy, depth, boxes)}
    drawn = []
    for depth, left, width, top in shown:
        x, wide = SIDE * left / n, max(SIDE * width / n - 0.5, 0.2)
        title = f"cluster {ids[depth, left]} on level {depth}: {amount(width, 'node')}"
        drawn.append(
            f'<rect x="{x:.1f}" y="{ROW * depth:g}" width="{wide:.2f}" height="{ROW - 2:g}" '
            f'fill-opacity="{STRENGTHS[top % len(STRENGTHS)]}"><title>{title}</title></rect>'
        )
        if wide >= NAMED_FROM:
            drawn.append(
                f'<text x="{x + wide / 2:.1f}" y="{ROW * depth + ROW / 2 + 3:g}" text-anchor="middle">{width:,}</text>'
            )
    counts = [len(one) for one in hierarchy.ids]
    alt = f"Icicle of {amount(n_levels, 'level')} with {', '.join(map(str, counts))} clusters"
    caption = "A row for each level, the coarsest on top, and a box for each cluster, as wide as it has nodes."
    if len(boxes) > len(shown):
        caption += f" {amount(len(boxes) - len(shown), 'small box', 'small boxes')} are not shown."
    rows = [
        [str(depth), f"{len(hierarchy.ids[depth]):,}", f"{sizes.max():,}", f"{int(np.median(sizes)):,}"]
        for depth, sizes in enumerate(map(hierarchy.sizes_on, range(n_levels)))
    ]
    levels = table(["level", "clusters", "nodes of the largest", "median"], rows, "Levels, coarsest first")
    return figure("".join(drawn), SIDE, ROW * n_levels, alt, caption, "icicle") + levels


def _ids_by_place(hierarchy: Hierarchy, depth: int, boxes: list[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
    """The left side of each box of a level, and the id of its cluster."""
    order = np.lexsort(hierarchy.levels[::-1])
    lefts = np.array([left for at, left, _, _ in boxes if at == depth])
    return list(zip(lefts.tolist(), hierarchy.ids[depth][hierarchy.levels[depth][order[lefts]]].tolist(), strict=True))
