"""Text files of formats that are not read here: they are named, and never taken for an edge list."""

import re

from graphclust.errors import GraphFormatError
from graphclust.io.text.lines import quote

_DOT = re.compile(
    rb"(?:\s|//[^\n]*\n|/\*.*?\*/|#[^\n]*\n)*(?:strict\s+)?(?:di)?graph\b[^{}\n\[]*\{", re.IGNORECASE | re.DOTALL
)
_STARTS = {
    "a DOT file of Graphviz": _DOT,
    "a UCINET DL file": re.compile(rb"\s*dl\s+n\s*=?\s*\d+|\s*dl\s+(?:nr|nc|format|labels|data)\b", re.IGNORECASE),
    "a DIMACS graph": re.compile(rb"(?:c\b[^\n]*\n)*p\s+(?:max|min|asn|cut|tw|ds)\s+\d+\s+\d+"),
    "a GDF file of GUESS": re.compile(rb"\s*nodedef\s*>", re.IGNORECASE),
    "a LEDA graph": re.compile(rb"\s*(?:#[^\n]*\n\s*)*LEDA\.GRAPH"),
    "a Tulip file": re.compile(rb"\s*\(tlp\s"),
    "a graph6 file": re.compile(rb">>graph6<<"),
    "a sparse6 file": re.compile(rb">>sparse6<<|:[?-~]+\s*$"),
    "RDF in Turtle": re.compile(rb"\s*@(?:prefix|base)\b"),
    "a YAML file": re.compile(rb"---\s*\n"),
    "a pointer of Git LFS to a file that was not fetched": re.compile(rb"version https://git-lfs"),
}
_MARK = re.compile(rb"#\s+\S+")  # of LGL: a node, above its neighbors
_ARROWS = {b"->", b"-->", b"<-", b"<->", b"--", b"---", b"=>"}


def refuse_other_formats(head: bytes, path: str) -> None:
    """Raise GraphFormatError for a file that looks like one of them by its first bytes."""
    text = head.removeprefix(b"\xef\xbb\xbf")
    if re.search(r"\.hgr(\.gz|\.bz2)?$", path, re.IGNORECASE):
        _refuse("a hypergraph of hMETIS", text, path)
    for what, start in _STARTS.items():
        if start.match(text):
            _refuse(what, text, path)
    lines = _lines(text, 20)
    if [line.startswith(b"#") for line in lines[:2]] == [True, False] and _is_lgl(_lines(text, 1000)):
        _refuse("an LGL file, with the neighbors of each node below a line `# node`", text, path)
    if len(lines) > 1 and all(len(words) > 2 and words[1] in _ARROWS for words in map(bytes.split, lines[:10])):
        _refuse("a list of edges drawn as arrows", text, path)
    if b"\n#\n" in text and _is_trivial_graph(_lines(text, 1000)):
        _refuse("a trivial graph format (TGF) file, whose nodes and edges are parted by a line `#`", text, path)
    if _is_named_matrix(lines):
        _refuse("an adjacency matrix with the names of its rows and columns", text, path)


def _lines(text: bytes, most: int) -> list[bytes]:
    """The first lines that are not blank."""
    lines = [line.strip() for line in text.split(b"\n", most)[:most]]
    return [line for line in lines if line] or [b""]


def _refuse(what: str, text: bytes, path: str) -> None:
    start = quote(text.strip().split(b"\n")[0], 40)
    found = f"looks like {what} (it starts with {start!r}), which is not read here"
    raise GraphFormatError(f"{found}; write its edges as a table `source,target,weight`, or as GraphML", path)


def _is_lgl(lines: list[bytes]) -> bool:
    """Whether `# node` stands above one or two words, several times, and no other comment anywhere."""
    marks = [line for line in lines if line.startswith(b"#")]
    if len(marks) < 2 or not lines[0].startswith(b"#") or lines[1].startswith(b"#"):
        return False
    return all(map(_MARK.fullmatch, marks)) and all(len(line.split()) <= 2 for line in lines)


def _is_trivial_graph(lines: list[bytes]) -> bool:
    """Whether a line `#` alone parts nodes, each with a label at most, from edges between them."""
    if b"#" not in lines[1:-1]:
        return False
    at = lines.index(b"#")
    nodes = {line.split()[0] for line in lines[:at]}
    edges = [line.split() for line in lines[at + 1 :]]
    return len(nodes) == at and all(len(edge) >= 2 and {edge[0], edge[1]} <= nodes for edge in edges)


def _is_named_matrix(lines: list[bytes]) -> bool:
    """Whether the first word of each line is the name of its column in the first line."""
    rows = [[field.strip(b' "') for field in re.split(rb"[,;\t]", line)] for line in lines]
    names = rows[0][1:] if rows else []
    if len(names) < 2 or len(rows) < 3 or len(set(names)) < len(names) or {*map(len, rows)} != {len(rows[0])}:
        return False
    return [row[0] for row in rows[1:]] == names[: len(rows) - 1]
