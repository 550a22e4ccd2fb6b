"""Which files of SNAP (https://snap.stanford.edu/data) make up its graphs with ground-truth communities."""

from typing import NamedTuple

_YANG = "J. Yang, J. Leskovec"
_SOCIAL = "undirected graph with communities"


class SnapGraph(NamedTuple):
    """Paths below the site's address, and the published numbers of nodes and of lines with an edge.

    communities : which communities -> path.
    written : how: "cmty" (a community a line), "labels" (a node and its community a line) or "categories" (the name of
        a community, a semicolon and its nodes a line).
    """

    edges: str
    communities: dict[str, str]
    written: str
    n_nodes: int
    n_lines: int
    directed: bool
    kind: str
    year: int
    authors: str


def _yang(file: str, n_nodes: int, n_edges: int, kept: str = "all") -> SnapGraph:
    folder = f"data/bigdata/communities/com-{file}"
    communities = {"all": f"{folder}.{kept}.cmty.txt.gz", "top5000": f"{folder}.top5000.cmty.txt.gz"}
    return SnapGraph(
        f"{folder}.ungraph.txt.gz", communities, "cmty", n_nodes, n_edges, False, _SOCIAL, 2012, _YANG
    )  # fmt: skip


GRAPHS = {
    "com-LiveJournal": _yang("lj", 3_997_962, 34_681_189),
    "com-Friendster": _yang("friendster", 65_608_366, 1_806_067_135),
    "com-Orkut": _yang("orkut", 3_072_441, 117_185_083),
    "com-Youtube": _yang("youtube", 1_134_890, 2_987_624),
    "com-DBLP": _yang("dblp", 317_080, 1_049_866),
    "com-Amazon": _yang("amazon", 334_863, 925_872, kept="all.dedup"),
    "email-Eu-core": SnapGraph(
        "data/email-Eu-core.txt.gz", {"all": "data/email-Eu-core-department-labels.txt.gz"}, "labels",
        1_005, 25_571, True, "directed graph with communities", 2007, "J. Leskovec, J. Kleinberg, C. Faloutsos",
    ),
    "wiki-topcats": SnapGraph(
        "data/wiki-topcats.txt.gz", {"all": "data/wiki-topcats-categories.txt.gz"}, "categories",
        1_791_489, 28_511_807, True, "directed graph with communities", 2017,
        "H. Yin, A. Benson, J. Leskovec, D. Gleich",
    ),
}  # fmt: skip
