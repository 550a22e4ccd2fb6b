"""The tables and lists of the page; text from outside is escaped here."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from graphclust.errors import amount
from graphclust.faces.describe import facts_in_words, graph_facts
from graphclust.faces.plots.clusters import nearest_clusters
from graphclust.results.clustering import Clustering
from graphclust.results.report import leading_nodes

if TYPE_CHECKING:
    from graphclust.results.confidence import Certainty

MOST_ROWS = 200
LONGEST_NAME = 40


def table(head: Sequence[str], rows: Sequence[Sequence[str]], label: str, words: Sequence[int] = ()) -> str:
    """Rows of escaped cells, the first of each being its head; words : which columns hold text, set to the left."""
    kinds = [' class="word"' if i in words else "" for i in range(len(head))]
    top = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(head, kinds, strict=True))
    body = []
    for first, *rest in rows:
        cells = "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(rest, kinds[1:], strict=True))
        body.append(f'<tr><th scope="row"{kinds[0]}>{first}</th>{cells}</tr>')
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}"><table>'
        f"<thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def bar(share: float) -> str:
    """A bar of this share of its cell."""
    return f'<span class="bar" style="width:{100 * min(max(share, 0.0), 1.0):.1f}%"></span>'


def clusters(clustering: Clustering, certainty: Certainty | None = None) -> str:
    """A row for each cluster, the largest first; certainty : of its nodes and clusters, where it is known."""
    n_shown, volume = min(clustering.n_clusters, MOST_ROWS), clustering.volume.tolist()
    nearest, members = nearest_clusters(clustering), leading_nodes(clustering, n_shown)
    rows, sure, leaving = [], _certainty_columns(clustering, certainty), share_leaving(clustering).tolist()
    for c in range(n_shown):
        rows.append([
            str(c),
            f"{clustering.sizes[c]:,}",
            f"{clustering.sizes[c] / clustering.graph.n_nodes:.1%}",
            f"{leaving[c]:.1%}{bar(leaving[c])}",
            *(column[c] for column in sure.values()),
            "none" if nearest[c] < 0 else str(nearest[c]),
            ", ".join(escape(shorten(str(name), LONGEST_NAME)) for name in members[c]),
            f"{volume[c]:,.0f}" if 1000.0 <= volume[c] < 1e15 else f"{volume[c]:.4g}",
            f"{clustering.min_cuts[c]:,.6g}",
        ])  # fmt: skip
    head = [
        "cluster", "nodes", "share", "links that leave", *sure, "nearest", "nodes of most links", "links in all",
        "fewest links to cut",
    ]  # fmt: skip
    text = (
        "<p>Links that leave lead to other clusters: at 0 % a cluster is a part of its own, near 100 % it is none. "
        "Links count by their weights, those inside a cluster from both ends. The nearest cluster is the one "
        "with which a cluster has most links beyond chance. The fewest links to cut part a cluster in two: above log10 "
        "of its nodes it is well-connected.</p>"
    )
    if "stability" in sure:
        text += (
            "<p>Stability says how much of a cluster is found as one again where a tenth of the edges is left out: "
            "above 0.75 it can be relied on, below 0.5 it cannot.</p>"
        )
    if "undecided" in sure:
        text += "<p>Undecided nodes are those that one link more would bring to another cluster.</p>"
    hidden = clustering.sizes[n_shown:]
    more = ""
    if len(hidden):
        more = f"<p>{len(hidden):,} more clusters, of {hidden.min():,} to {hidden.max():,} nodes, are not listed.</p>"
    return text + table(head, rows, "The clusters", words=(head.index("nodes of most links"),)) + more


def share_leaving(clustering: Clustering) -> npt.NDArray[np.float64]:
    """Of each cluster the share of its link weight that leads to others, shape (n_clusters,); 0 where it has none."""
    volume = clustering.volume
    cut = clustering.conductance * np.minimum(volume, volume.sum() - volume)
    return np.divide(cut, volume, out=np.zeros(len(volume)), where=volume > 0.0)


def _certainty_columns(clustering: Clustering, certainty: Certainty | None) -> dict[str, list[str]]:
    """Further columns of the table of clusters, as text."""
    if certainty is None:
        return {}
    columns = {}
    if certainty.stability is not None:
        columns["stability"] = [f"{value:.2f}" for value in certainty.stability.tolist()]
    doubtful = clustering.labels[certainty.undecided & (clustering.labels >= 0)]
    columns["undecided"] = [f"{n:,}" for n in np.bincount(doubtful, minlength=clustering.n_clusters).tolist()]
    return columns


def facts(clustering: Clustering) -> str:
    """What is known of the graph."""
    rows = [
        [escape(name), escape(text)] for name, text in facts_in_words(graph_facts(clustering.graph)) if name != "note"
    ]
    return table(["what", "value"], rows, "Facts of the graph", words=(0, 1))


def remarks(clustering: Clustering) -> str:
    """What was assumed or repaired, one sentence each."""
    if not clustering.remarks:
        return "<p>Nothing: the graph was taken as it came.</p>"
    return "<ul>" + "".join(f"<li>{escape(remark)}</li>" for remark in clustering.remarks) + "</ul>"


def provenance(clustering: Clustering, command: str | None = None) -> str:
    """The command where there was one, settings and seconds."""
    origin = {name: value for name, value in clustering.origin.items() if name != "options" and value is not None}
    said_as = {} if command is None else {"command": command}
    settings = [
        [escape(name), escape(str(value))] for name, value in (said_as | origin | clustering.parameters).items()
    ]
    longest = max(clustering.seconds.values(), default=0.0) or 1.0
    stages = [
        [escape(stage), f"{seconds:.3f}", bar(seconds / longest)] for stage, seconds in clustering.seconds.items()
    ]
    said = f"<p>{amount(len(stages), 'stage')}, {sum(clustering.seconds.values()):.3f} seconds in all.</p>"
    return (
        table(["setting", "value"], settings, "Settings", words=(0, 1))
        + said
        + table(["stage", "seconds", ""], stages, "Seconds of each stage", words=(0, 2))
    )


def shorten(name: str, most: int) -> str:
    """The name, or its first letters."""
    return name if len(name) <= most else name[: most - 1] + "…"
