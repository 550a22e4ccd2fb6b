"""The members of each cluster: lists that fold, a search over them, and a file of all labels to keep.

The search is the page's only script. Its hash stands in the page's policy, so a browser runs this text and no other.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from graphclust.errors import amount
from graphclust.faces.html.tables import shorten
from graphclust.results.label_files import label_rows

if TYPE_CHECKING:
    from graphclust.results.clustering import Clustering

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
