"""The catalog: published facts of all matrices of the SuiteSparse Matrix Collection, and of SNAP's known communities.

The facts of the 2,904 matrices are those of the collection's own website (S. Kolodziej et al., "The SuiteSparse matrix
collection website interface", Journal of Open Source Software 4(35), 2019), as of June 2025; those of the graphs with
ground truth are SNAP's (https://snap.stanford.edu/data/#communities).
"""

import csv
import difflib
import functools
import gzip
import importlib.resources
import io
import os
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphclust.checks import as_choice, as_number
from graphclust.errors import ParameterError, amount
from graphclust.io.edges import bytes_to_load

__all__ = ["CatalogEntry", "entry_at", "entry_named", "find"]

SUITESPARSE, SNAP = "suitesparse", "snap"
_NAME = re.compile(r"[A-Za-z0-9_+-]+/[A-Za-z0-9_.+-]+")
_CITATIONS = {
    SUITESPARSE: "T. Davis and Y. Hu, The University of Florida Sparse Matrix Collection, ACM TOMS 38(1), 2011; "
    "S. Kolodziej et al., The SuiteSparse Matrix Collection Website Interface, JOSS 4(35), 2019",
    SNAP: "J. Leskovec and A. Krevl, SNAP Datasets: Stanford Large Network Dataset Collection, "
    "https://snap.stanford.edu/data, 2014",
}


@dataclass(frozen=True)
class CatalogEntry:
    """Published facts of a matrix or graph.

    source : "suitesparse" or "snap".  id : of SuiteSparse, else 0.  group : of SuiteSparse, else "".
    entries : of the whole matrix, both triangles of a symmetric one; of a SNAP graph twice its undirected edges.
    structure : "symmetric", "unsymmetric", "rectangular", "Hermitian" or "skew-symmetric".
    type : of the entries: "binary", "integer", "real" or "complex".
    strong_components, year : None where unknown.  auxiliary : names of what else the archive holds.
    """

    source: str
    id: int
    group: str
    name: str
    kind: str
    rows: int
    columns: int
    entries: int
    structure: str
    type: str
    strong_components: int | None
    year: int | None
    authors: str
    auxiliary: tuple[str, ...]

    @property
    def full_name(self) -> str:
        """GROUP/NAME of SuiteSparse, NAME of SNAP: what the fetching functions take."""
        return f"{self.group}/{self.name}" if self.group else self.name

    @property
    def address(self) -> str:
        """What `load_graph` and the command line take, like "suitesparse:SNAP/com-DBLP"."""
        return f"{self.source}:{self.full_name}"

    @property
    def bipartite(self) -> bool:
        """Whether rows and columns are different things: a rectangular matrix, or a graph of that kind."""
        return self.rows != self.columns or "bipartite" in self.kind

    @property
    def memory(self) -> int:
        """About the most bytes at a time while the graph is read from its archive."""
        n_nodes = self.rows + self.columns if self.bipartite else self.rows
        symmetric = self.structure == "symmetric"
        n_lines = self.entries // 2 if symmetric else self.entries
        return bytes_to_load(n_nodes, n_lines, 2 * n_lines, self.type != "binary", n_bytes=16 * self.entries)

    @property
    def citation(self) -> str:
        """What to cite for the collection; the group or the authors may ask for more."""
        return _CITATIONS[self.source]

    def __str__(self) -> str:
        size = f"{self.rows:,} x {self.columns:,}" if self.rows != self.columns else f"{self.rows:,}"
        return f"{self.address}: {self.kind}, {size} nodes, {self.entries:,} entries, {self.structure}, {self.type}"


class SnapGraph(NamedTuple):
    """Its entry, and paths of its files below the site's address.

    communities : which communities -> path.
    written : how: "cmty" (a community a line), "labels" (a node and its community a line) or "categories" (the name of
        a community, a semicolon and its nodes a line).
    """

    entry: CatalogEntry
    edges: str
    communities: dict[str, str]
    written: str


def _entry_of(name: str, n_nodes: int, n_entries: int, structure: str, year: int, authors: str) -> CatalogEntry:
    kind = f"{'directed' if structure == 'unsymmetric' else 'undirected'} graph with communities"
    more = "binary", None, year, authors, ("communities",)
    return CatalogEntry(SNAP, 0, "", name, kind, n_nodes, n_nodes, n_entries, structure, *more)


def _yang(name: str, file: str, n_nodes: int, n_edges: int, kept: str = "all") -> SnapGraph:
    entry = _entry_of(name, n_nodes, 2 * n_edges, "symmetric", 2012, "J. Yang, J. Leskovec")
    folder = f"data/bigdata/communities/com-{file}"
    communities = {"all": f"{folder}.{kept}.cmty.txt.gz", "top5000": f"{folder}.top5000.cmty.txt.gz"}
    return SnapGraph(entry, f"{folder}.ungraph.txt.gz", communities, "cmty")


_YIN = "H. Yin, A. Benson, J. Leskovec, D. Gleich"
_SNAP_GRAPHS = (
    _yang("com-LiveJournal", "lj", 3_997_962, 34_681_189),
    _yang("com-Friendster", "friendster", 65_608_366, 1_806_067_135),
    _yang("com-Orkut", "orkut", 3_072_441, 117_185_083),
    _yang("com-Youtube", "youtube", 1_134_890, 2_987_624),
    _yang("com-DBLP", "dblp", 317_080, 1_049_866),
    _yang("com-Amazon", "amazon", 334_863, 925_872, kept="all.dedup"),
    SnapGraph(
        _entry_of("email-Eu-core", 1_005, 25_571, "unsymmetric", 2007, "J. Leskovec, J. Kleinberg, C. Faloutsos"),
        "data/email-Eu-core.txt.gz", {"all": "data/email-Eu-core-department-labels.txt.gz"}, "labels",
    ),
    SnapGraph(
        _entry_of("wiki-topcats", 1_791_489, 28_511_807, "unsymmetric", 2017, _YIN),
        "data/wiki-topcats.txt.gz", {"all": "data/wiki-topcats-categories.txt.gz"}, "categories",
    ),
)  # fmt: skip
GRAPHS = {graph.entry.name: graph for graph in _SNAP_GRAPHS}


@functools.cache
def entries() -> tuple[CatalogEntry, ...]:
    """All of the catalog: SuiteSparse by id, then SNAP."""
    packed = importlib.resources.files("graphclust.datasets").joinpath("suitesparse.csv.gz").read_bytes()
    table = csv.DictReader(io.StringIO(gzip.decompress(packed).decode(), newline=""))
    return (*map(_of_row, table), *(graph.entry for graph in GRAPHS.values()))


def _of_row(row: dict[str, str]) -> CatalogEntry:
    whole = ("id", "rows", "columns", "entries", "strong_components", "year")  # the last two may be unknown
    values: dict[str, Any] = row | {name: int(row[name]) if row[name] else None for name in whole}
    return CatalogEntry(SUITESPARSE, **values | {"auxiliary": tuple(row["auxiliary"].split())})


def find(
    word: str = "",
    *,
    kind: str | None = None,
    entries: tuple[float, float] | None = None,
    symmetric: bool | None = None,
    order: str = "id",
) -> list[CatalogEntry]:
    """Search the catalog; every condition that is given has to hold.

    word : part of the name, group, kind or authors, upper or lower case; "" for all.
    kind : a word of the kind, like "graph", which also finds multigraphs, but no "computer graphics".
    entries : least and most entries of the matrix, both included.
    symmetric : whether the matrix is.
    order : "id" (SuiteSparse by id, then SNAP), "memory" (the largest need first) or "name".

    Raises TypeError and ParameterError for what can be no condition.

    >>> [entry.address for entry in find("polbooks")]
    ['suitesparse:Newman/polbooks']
    """
    if not isinstance(word, str):
        raise TypeError(f"word={word!r} is a {type(word).__name__}, expected text")
    as_choice(order, "order", ("id", "memory", "name"))
    if symmetric is not None and not isinstance(symmetric, bool):
        raise TypeError(f"symmetric={symmetric!r} is a {type(symmetric).__name__}, expected True, False or None")
    least, most = _bounds(entries)
    matches = [
        entry
        for entry in _all()
        if word.lower() in f"{entry.full_name}\n{entry.kind}\n{entry.authors}".lower()
        and (kind is None or _is_of_kind(entry, kind))
        and least <= entry.entries <= most
        and (symmetric is None or (entry.structure == "symmetric") == symmetric)
    ]
    if order == "memory":
        matches.sort(key=lambda entry: -entry.memory)
    elif order == "name":
        matches.sort(key=lambda entry: entry.full_name.lower())
    return matches


_all = entries  # `entries` is an argument of `find`


def _bounds(entries: tuple[float, float] | None) -> tuple[float, float]:
    if entries is None:
        return 0, float("inf")
    if not isinstance(entries, tuple | list) or len(entries) != 2:
        raise TypeError(f"entries={entries!r}, expected a pair: the least and the most entries")
    least, most = as_number(entries[0], "entries[0]"), float(entries[1])  # the most may be infinite
    if not least <= most:
        raise ParameterError(f"entries={entries!r} has no numbers between, expected the least and then the most")
    return least, most


def _is_of_kind(entry: CatalogEntry, kind: str) -> bool:
    """Each word asked for ends, or is, one of the kind's: "graph" is also a multigraph."""
    words = re.findall(r"[\w-]+", entry.kind.lower())
    return all(any(word.endswith(asked) for word in words) for asked in kind.lower().split())


def entry_named(name: str, source: str = SUITESPARSE) -> CatalogEntry:
    """The entry of a name: GROUP/NAME of SuiteSparse, NAME of SNAP.

    Raises TypeError, and ParameterError with the three nearest names for one that is not in the catalog.
    """
    if not isinstance(name, str):
        raise TypeError(f"name={name!r} is a {type(name).__name__}, expected text like 'SNAP/com-DBLP'")
    known = {entry.full_name: entry for entry in entries() if entry.source == source}
    if name in known:
        return known[name]
    expected = ""
    if source == SUITESPARSE and not _NAME.fullmatch(name):
        expected = "expected GROUP/NAME, of letters, digits and _ + - . only, "
    nearest = ", ".join(_nearest(name, sorted(known)))
    collection = "SuiteSparse collection" if source == SUITESPARSE else "SNAP graphs with known communities"
    raise ParameterError(
        f"name={name[:80]!r} is none of the {amount(len(known), 'name')} of the {collection}, {expected}"
        f"the nearest are {nearest}"
    )


def entry_at(address: object) -> CatalogEntry | None:
    """The entry of an address like "suitesparse:SNAP/com-DBLP" (see `entry_named`); None for the path of a file."""
    source, colon, name = address.partition(":") if isinstance(address, str) else ("", "", "")
    if not colon or source not in (SUITESPARSE, SNAP) or os.path.exists(str(address)):
        return None
    return entry_named(name, source)


def _nearest(name: str, known: list[str]) -> list[str]:
    """Three names, by the share of letters in common; of a name without a group the groups do not count."""
    asked, named = name[:80].lower(), dict[str, list[str]]()
    for full in known:
        named.setdefault((full if "/" in asked else full.rpartition("/")[2]).lower(), []).append(full)
    return [full for short in difflib.get_close_matches(asked, named, 3, cutoff=0.0) for full in named[short]][:3]
