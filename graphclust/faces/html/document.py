"""The page: its parts in order, and the file."""

from __future__ import annotations

import os
from html import escape
from string import Template

import numpy as np

from graphclust.checks import refuse_swapped
from graphclust.errors import GraphValidationError, amount
from graphclust.faces.html import figures, tables
from graphclust.faces.html.figures import levels_of
from graphclust.faces.html.members import SEARCH_HASH, members
from graphclust.faces.html.style import STYLE
from graphclust.faces.plots.canvas import as_clustering
from graphclust.io.atomic_write import check_target, whole_file
from graphclust.profile.path import ClusterPath
from graphclust.results.clustering import Clustering
from graphclust.results.confidence import Certainty
from graphclust.results.hierarchy import Hierarchy
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
SECTION = Template("""<section aria-labelledby="$name">
<h2 id="$name">$heading</h2>
$content
</section>""")


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
    for name, result in (("path", path), ("hierarchy", hierarchy)):
        of = getattr(getattr(result, "graph", None), "n_nodes", None)
        if of not in (None, n_nodes):
            raise GraphValidationError(f"{name} is of {of} nodes, expected one of the clustering's graph, {n_nodes}")
    counts = f"{amount(n_nodes, 'node')} in {amount(clustering.n_clusters, 'cluster')}"
    parts = [
        ("clusters", "The clusters", tables.clusters(clustering, _as_certainty(clustering, certainty))),
        ("members", "Who is in them", members(clustering)),
        ("adjacency", "Who is linked to whom", figures.adjacency(clustering)),
        ("quotient", "How the clusters lie to each other", figures.quotient(clustering)),
        *([] if hierarchy is None else [("levels", "Levels", levels_of(hierarchy))]),
        *_other_numbers(clustering, path),
        ("graph", "The graph", tables.facts(clustering)),
        ("assumed", "What was assumed", tables.remarks(clustering)),
        ("made", "How it was made", tables.provenance(clustering, command)),
    ]
    sections = [SECTION.substitute(name=name, heading=heading, content=content) for name, heading, content in parts]
    return PAGE.substitute(
        title=escape(counts if title is None else title),
        style=STYLE,
        policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src '{SEARCH_HASH}'",
        summary=escape(f"{counts}, made for {objective_in_words(clustering, with_range=path is None)}."),
        sections="\n".join([tables.key_figures(_key_figures(clustering)), *sections]),
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


def _as_certainty(clustering: Clustering, certainty: Certainty | None) -> Certainty | None:
    found = None if certainty is None else certainty.shares.shape
    expected = clustering.graph.n_nodes, clustering.n_clusters
    if found not in (None, expected):
        raise GraphValidationError(
            f"certainty is of {found} nodes and clusters, expected those of the clustering: {expected}"
        )
    return certainty


def _other_numbers(clustering: Clustering, path: ClusterPath | None) -> list[tuple[str, str, str]]:
    if path is None:
        return []
    from graphclust.faces.html.path_section import other_numbers
    from graphclust.faces.plots.every_k import as_path

    content = other_numbers(as_path(path), path.suggest(), clustering)
    return [("path", "Other numbers of clusters", content)]


def _key_figures(clustering: Clustering) -> list[tuple[str, str]]:
    """The numbers that are shown large; clusters of a single node are counted by themselves."""
    share = clustering.sizes.max() / clustering.graph.n_nodes
    n_single = int(np.count_nonzero(clustering.sizes == 1))
    singles = [("clusters of a single node", f"{n_single:,}")] if n_single else []
    return [
        ("clusters", f"{clustering.n_clusters - n_single:,}"),
        *singles,
        ("largest cluster", f"{share:.1%} of the nodes"),
        ("links inside clusters", f"{figures.share_inside(clustering):.1%}"),
        ("well-connected", f"{clustering.n_well_connected:,} of {clustering.n_clusters:,}"),
        ("modularity", f"{clustering.modularity:.4f}"),
    ]
