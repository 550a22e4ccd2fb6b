"""The pictures of the page: a raster as a PNG, drawings as SVG, whose colors follow the page's."""

from html import escape

import numpy as np
import numpy.typing as npt

from graphclust.errors import amount
from graphclust.faces.html.png import as_data_uri
from graphclust.faces.html.tables import figure, share_leaving
from graphclust.faces.plots.links import places, strongest_links
from graphclust.faces.plots.raster import block_raster
from graphclust.results.clustering import Clustering

SQUARES = 480  # a side of the raster
FAINTEST = 80  # of 255: the strength of the lowest density, which is to be seen
SIDE, MARGIN = 560.0, 44.0  # of a drawing
SMALLEST, LARGEST = 9.0, 34.0  # radius of a disk


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
