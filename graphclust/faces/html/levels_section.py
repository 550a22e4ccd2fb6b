"""The part of the page on nested levels: an icicle, and how many clusters each level has."""

import numpy as np

from graphclust.checks import check_type
from graphclust.errors import amount
from graphclust.faces.html.tables import figure, table
from graphclust.faces.plots.levels import boxes_of
from graphclust.results.hierarchy import Hierarchy

WIDTH, ROW = 560.0, 30.0
MOST_BOXES = 2000  # of the widest, some 100 bytes each; the others would hardly show
NAMED_FROM = 24.0  # of the width, from which a box has room for its number of nodes
STRENGTHS = (0.85, 0.55, 0.7, 0.4)  # of the color, for the clusters of the coarsest level in turn


def levels_of(hierarchy: Hierarchy) -> str:
    """A picture in which each cluster stands below the one it is in, and a table of the levels."""
    check_type(hierarchy, Hierarchy, "hierarchy", "hierarchy(G) returns one")
    n_levels, n = len(hierarchy.levels), hierarchy.graph.n_nodes
    boxes = boxes_of(hierarchy, n_levels)
    shown = sorted(boxes, key=lambda box: -box[2])[:MOST_BOXES]
    ids = {(depth, left): int(one) for depth in range(n_levels) for left, one in _ids_by_place(hierarchy, depth, boxes)}
    drawn = []
    for depth, left, width, top in shown:
        x, wide = WIDTH * left / n, max(WIDTH * width / n - 0.5, 0.2)
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
    return figure("".join(drawn), WIDTH, ROW * n_levels, alt, caption, "icicle") + levels


def _ids_by_place(hierarchy: Hierarchy, depth: int, boxes: list[tuple[int, int, int, int]]) -> list[tuple[int, int]]:
    """The left side of each box of a level, and the id of its cluster."""
    order = np.lexsort(hierarchy.levels[::-1])
    lefts = np.array([left for at, left, _, _ in boxes if at == depth])
    return list(zip(lefts.tolist(), hierarchy.ids[depth][hierarchy.levels[depth][order[lefts]]].tolist(), strict=True))
