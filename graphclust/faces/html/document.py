"""A clustering as a page for a browser: one file, with its pictures inside and nothing from elsewhere.

The search over members is the page's only script. Its hash stands in the page's policy, so a browser runs this text and
no other.
"""

from __future__ import annotations

import base64
import hashlib
import os
from html import escape
from string import Template

import numpy as np

from graphclust.checks import refuse_swapped
from graphclust.errors import GraphValidationError, amount
from graphclust.faces.html import figures, tables
from graphclust.faces.html.figures import other_numbers
from graphclust.faces.html.tables import shorten
from graphclust.faces.plots.canvas import as_clustering
from graphclust.faces.plots.levels import as_path
from graphclust.io.atomic_write import check_target, whole_file
from graphclust.profile.path import ClusterPath
from graphclust.results.clustering import Clustering
from graphclust.results.confidence import Certainty
from graphclust.results.hierarchy import Hierarchy
from graphclust.results.label_files import label_rows
from graphclust.results.report import objective_in_words

__all__ = ["report_page", "write_report"]

PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="$policy">
<link rel="icon" href="data:,">
<title>$title</title>
<style>$style</style>
</head>
<body>
<header>
<h1>$title</h1>
<p>$summary</p>
</header>
<main>
$sections
</main>
<footer><p>Made by graphclust $version.</p></footer>
</body>
</html>
""")
MOST_MEMBERS = 20_000  # names on a page; some 40 bytes each in the lists, and as many again in the file
LONGEST_NAME = 200

SEARCH = """
const query = document.getElementById("query"), found = document.getElementById("found");
query.addEventListener("input", () => {
  const part = query.value.trim().toLowerCase();
  let total = 0;
  for (const cluster of document.querySelectorAll("details.members")) {
    let here = 0;
    for (const name of cluster.querySelectorAll("li")) {
      const hit = part !== "" && name.textContent.toLowerCase().includes(part);
      name.classList.toggle("hit", hit);
      here += hit;
    }
    cluster.hidden = part !== "" && here === 0;
    cluster.open = here > 0;
    total += here;
  }
  found.textContent = part === "" ? "" : total === 1 ? "1 member" : total + " members";
});
"""
SEARCH_HASH = "sha256-" + base64.b64encode(hashlib.sha256(SEARCH.encode()).digest()).decode()


def report_page(
    clustering: Clustering,
    *,
    title: str | None = None,
    certainty: Certainty | None = None,
    path: ClusterPath | None = None,
    hierarchy: Hierarchy | None = None,
    command: str | None = None,
) -> str:
    """A clustering as a page of HTML that needs nothing else: no address, pictures inside, one script for a search.

    title : of the page, as plain text; by default it says how many nodes and clusters there are.
    certainty : as `Clustering.certainty` gives, for how stable each cluster is and how many nodes are undecided.
    path : as `cluster_path` gives, for a section on other numbers of clusters, with the path's suggestion.
    hierarchy : as the function `hierarchy` gives, for a section with its levels as an icicle.
    command : that made the labels, as it was typed, for the section that says how.

    It shows each cluster's size, the share of its links that leave, its nearest cluster and nodes of highest degree,
    its members with a search over them and a table of all labels to keep, the adjacency matrix ordered by cluster, the
    quotient graph, facts of the graph, what was assumed, and how it was made; light or dark as the reader has it, on a
    phone as well. Of more than 200 clusters the largest are in the table; of graphs of more than 20,000 nodes each
    cluster's first members.

    Raises TypeError for no Clustering, no ClusterPath or no Hierarchy, GraphValidationError for a certainty of another
    clustering, or a path or hierarchy of another graph.

    >>> import networkx as nx
    >>> from graphclust import coreset_sc
    >>> page = report_page(coreset_sc(nx.karate_club_graph(), 2, rng=0), title="The <karate> club")
    >>> page.splitlines()[8]
    '<title>The &lt;karate&gt; club</title>'
    """
    from graphclust import __version__

    clustering = as_clustering(clustering)
    n_nodes = clustering.graph.n_nodes
    expected = n_nodes, clustering.n_clusters
    if certainty is not None and (shape := certainty.shares.shape) != expected:
        said = f"certainty is of {shape} nodes and clusters"
        raise GraphValidationError(f"{said}, expected those of the clustering: {expected}")
    for name, result in (("path", path), ("hierarchy", hierarchy)):
        of = getattr(getattr(result, "graph", None), "n_nodes", None)
        if of not in (None, n_nodes):
            raise GraphValidationError(f"{name} is of {of} nodes, expected one of the clustering's graph, {n_nodes}")
    counts = f"{amount(n_nodes, 'node')} in {amount(clustering.n_clusters, 'cluster')}"
    parts = [
        ("clusters", "The clusters", tables.clusters(clustering, certainty)),
        ("members", "Who is in them", members(clustering)),
        ("adjacency", "Who is linked to whom", figures.adjacency(clustering)),
        ("quotient", "How the clusters lie to each other", figures.quotient(clustering)),
        *([] if hierarchy is None else [("levels", "Levels", figures.levels_of(hierarchy))]),
        *([] if path is None else [("path", "Other numbers of clusters", other_numbers(as_path(path), clustering))]),
        ("graph", "The graph", tables.facts(clustering)),
        ("assumed", "What was assumed", tables.remarks(clustering)),
        ("made", "How it was made", tables.provenance(clustering, command)),
    ]
    sections = [
        f'<section aria-labelledby="{name}">\n<h2 id="{name}">{heading}</h2>\n{content}\n</section>'
        for name, heading, content in parts
    ]
    return PAGE.substitute(
        title=escape(counts if title is None else title),
        style=STYLE,
        policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{SEARCH_HASH}'",
        summary=escape(f"{counts}, made for {objective_in_words(clustering, with_range=path is None)}."),
        sections="\n".join([key_figures(clustering), *sections]),
        version=escape(__version__),
    )


def write_report(
    file: str | os.PathLike,
    clustering: Clustering,
    *,
    title: str | None = None,
    certainty: Certainty | None = None,
    path: ClusterPath | None = None,
    hierarchy: Hierarchy | None = None,
    command: str | None = None,
    overwrite: bool = False,
) -> None:
    """Write `report_page` to a file, which appears whole or not at all.

    title, certainty, path, hierarchy, command : of the page. overwrite : replace a file that is there.

    Raises what `report_page` does, FileExistsError, and OSError as `open` does or where there is no room for it.
    """
    refuse_swapped(file, "write_report(file, clustering)", "file")
    check_target(file, overwrite)
    page = report_page(
        clustering, title=title, certainty=certainty, path=path, hierarchy=hierarchy, command=command
    ).encode(errors="backslashreplace")  # half of a character, which UTF-8 has no form for, as JSON has it
    with whole_file(file, overwrite, lambda: len(page)) as out:
        out.write(page)


def key_figures(clustering: Clustering) -> str:
    """A few numbers, large; clusters of a single node are counted by themselves."""
    share = clustering.sizes.max() / clustering.graph.n_nodes
    n_single = int(np.count_nonzero(clustering.sizes == 1))
    rows = [
        ("clusters", f"{clustering.n_clusters - n_single:,}"),
        *([("clusters of a single node", f"{n_single:,}")] if n_single else []),
        ("largest cluster", f"{share:.1%} of the nodes"),
        ("links inside clusters", f"{figures.share_inside(clustering):.1%}"),
        ("well-connected", f"{clustering.n_well_connected:,} of {clustering.n_clusters:,}"),
        ("modularity", f"{clustering.modularity:.4f}"),
    ]
    tiles = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in rows)
    return f'<dl class="figures">{tiles}</dl>'


def members(clustering: Clustering) -> str:
    """A list for each cluster, by decreasing degree; of large graphs its first nodes, of too many clusters none."""
    graph, nodes = clustering.graph, clustering.nodes
    order = np.lexsort((-graph.degrees, clustering.labels))
    ends = int(np.count_nonzero(clustering.labels < 0)) + np.cumsum(clustering.sizes)
    most = graph.n_nodes if graph.n_nodes <= MOST_MEMBERS else MOST_MEMBERS // clustering.n_clusters
    if most == 0:
        return f"<p>There are {amount(clustering.n_clusters, 'cluster')}: too many to list their members here.</p>"
    lists = []
    for c, (end, size) in enumerate(zip(ends.tolist(), clustering.sizes.tolist(), strict=True)):
        shown = order[end - size : end][:most].tolist()
        names = "".join(f"<li>{escape(shorten(str(nodes[row]), LONGEST_NAME))}</li>" for row in shown)
        more = f"<p>and {size - len(shown):,} more, of lower degree</p>" if len(shown) < size else ""
        head = f"Cluster {c}: {amount(size, 'node')}"
        lists.append(f'<details class="members"><summary>{head}</summary><ul>{names}</ul>{more}</details>')
    return (
        '<p><label for="query">Find a member:</label> <input id="query" type="search" autocomplete="off"> '
        f'<output id="found" for="query"></output></p>{_file(clustering)}{"".join(lists)}<script>{SEARCH}</script>'
    )


def _file(clustering: Clustering) -> str:
    """A link under which the browser keeps a table of all labels, which `read_labels` reads."""
    if clustering.graph.n_nodes > MOST_MEMBERS:
        return "<p>The graph is too large for a table of all its labels on this page; write_labels writes one.</p>"
    text = "".join(label_rows(clustering.nodes, clustering.labels, "csv"))
    try:
        data = base64.b64encode(text.encode()).decode()
    except UnicodeEncodeError:
        return "<p>A name holds half of a character, which no table can hold; write_labels writes a .json file.</p>"
    return f'<p><a download="labels.csv" href="data:text/csv;base64,{data}">All labels as a table (CSV)</a></p>'


STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --card: #f4f5f7; --text: #1b1d21; --soft: #555b66; --line: #d3d7de; --mark: #0b5cad; --on-mark: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15171b; --card: #1f2228; --text: #e9ebee; --soft: #b1b7c1; --line: #3b404a; --mark: #6db3f2;
    --on-mark: #111;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1rem; max-width: 62rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 0.6rem; }
p, figcaption, footer { color: var(--soft); }
p, li { overflow-wrap: anywhere; }
dl.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 0.6rem; margin: 1rem 0; }
dl.figures div { background: var(--card); border-radius: 0.5rem; padding: 0.6rem 0.8rem; }
dt { color: var(--soft); font-size: 0.85rem; }
dd { margin: 0; font-size: 1.15rem; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--mark); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 0.92rem; }
th, td { padding: 0.3rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
th.word, td.word { text-align: left; min-width: 9rem; overflow-wrap: anywhere; }
tbody th { color: var(--text); }
.bar { display: block; height: 0.3rem; margin-top: 0.15rem; border-radius: 0.15rem; background: var(--mark); }
details.members { border-bottom: 1px solid var(--line); padding: 0.2rem 0; }
details.members summary { cursor: pointer; }
details.members ul { display: flex; flex-wrap: wrap; gap: 0.1rem 0.9rem; list-style: none; margin: 0; padding: 0; }
details.members li.hit { background: var(--mark); color: var(--on-mark); border-radius: 0.2rem; padding: 0 0.2rem; }
input { font: inherit; color: var(--text); background: var(--card); border: 1px solid var(--line); max-width: 100%; }
a { color: var(--mark); }
figure { margin: 0; }
figure img, figure svg { display: block; width: 100%; max-width: 38rem; height: auto; margin: 0 auto 0.5rem; }
figure img { border: 1px solid var(--line); image-rendering: pixelated; }
svg text { fill: var(--text); font: 11px system-ui, sans-serif; }
svg .links line { stroke: var(--soft); stroke-opacity: 0.45; }
svg text.cluster { fill: var(--mark); font-weight: 600; }
svg.chart polyline { fill: none; stroke: var(--soft); stroke-width: 1.2; }
svg.chart circle { fill: var(--mark); }
svg.chart line { stroke: var(--mark); stroke-width: 1.5; }
svg.chart line.chosen { stroke: var(--soft); stroke-dasharray: 4 4; }
svg.icicle rect { fill: var(--mark); }
svg .disks circle { fill: var(--mark); stroke: var(--page); stroke-width: 1.5; }
svg .disks text { fill: var(--on-mark); text-anchor: middle; dominant-baseline: central; }
"""
