"""Files of nodes and edges with attributes: which one is the weight, what nodes are called, how directions join.

Attributes of other kinds are not parsed: nodes and edges are read whatever else a file holds. Adjacency lists, as
`networkx.write_adjlist` writes them, have in each line a node, then its neighbors.
"""

import re
from collections.abc import Callable

import numpy as np

from graphclust.errors import GraphFormatError, GraphValidationError, ResourceLimitError, amount, quote
from graphclust.io.columns import plain_name, weight_among
from graphclust.io.container_limits import available_bytes
from graphclust.io.edges import Edges, NegativeOrInfinite
from graphclust.io.formats.gml import read_gml
from graphclust.io.formats.network_listing import EdgeAttribute, NetworkListing
from graphclust.io.formats.node_link import START as JSON_START
from graphclust.io.formats.node_link import read_node_link
from graphclust.io.formats.pajek import START as PAJEK_START
from graphclust.io.formats.pajek import read_pajek
from graphclust.io.formats.xml_networks import Gexf, GraphML
from graphclust.io.text.byte_source import BLOCK, HEAD, Source
from graphclust.io.text.edge_lines import Reading
from graphclust.io.text.records import as_numbers
from graphclust.progress import Progress

_CHECKED = 1 << 14  # lines between two looks at the memory
_COUNTERS = {"id", "key", "edgeid", "networkxkey", "suid"}  # numbers that only tell edges apart
_XML_START = re.compile(rb"<(?:[\w.-]+:)?(graphml|gexf)[\s>/]")
_GML_START = re.compile(rb"(?:#[^\n]*\n\s*)*+(?:graph|Creator|Version|comment|directed)\b", re.IGNORECASE)
_GML_GRAPH = re.compile(rb"(?:^|[\s\"])graph\s*+\[", re.IGNORECASE)
_GML_TEXT = re.compile(rb"(?:#[^\n]*\n\s*)*+(?:Creator|comment)\s*\"", re.IGNORECASE)  # which may be long


def read_adjacency_list(content: bytes, listing: NetworkListing, check: Callable[[], None]) -> None:
    """Add the nodes and the undirected edges of a list; an edge may stand in the line of one end or of both.

    Words are parted by blanks; what follows a # is a comment.
    """
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate(listing.decode(content).split("\n"), 1):
        if number % _CHECKED == 0:
            check()
        words = line.split("#")[0].split()
        for word in words:
            if word not in listing.number_of:
                listing.add_node(word)
        for other in words[1:]:
            pair = (words[0], other) if words[0] <= other else (other, words[0])
            if pair not in seen:
                seen.add(pair)
                listing.add_edge(words[0], other, False)


XML: dict[str, type[GraphML] | type[Gexf]] = {"graphml": GraphML, "gexf": Gexf}
# What is parsed whole: NAME(content, listing, check) adds nodes and edges to a listing; check(n) looks at the memory.
TEXT: dict[str, Callable[..., None]] = {
    "gml": read_gml, "pajek": read_pajek, "node_link": read_node_link, "adjacency_list": read_adjacency_list
}  # fmt: skip
LISTED_FORMATS = (*XML, *TEXT)


def network_format(head: bytes, path: str) -> str | None:
    """Which of these formats the first bytes of a file have, or its name says, if any."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"\xff\xfe<\0", b"\xfe\xff\0<", b"<\0", b"\0<")):
        text = text.replace(b"\0", b"").lstrip(b"\xff\xfe")  # UTF-16, as far as it is ASCII
    if text.startswith(b"<"):
        match = _XML_START.search(text)
        return match[1].decode() if match else None
    if PAJEK_START.match(text):
        return "pajek"
    if JSON_START.match(text):
        return "node_link"
    if re.search(r"\.adjlist(\.gz|\.bz2)?$", path, re.IGNORECASE):
        return "adjacency_list"
    begins_so = _GML_START.match(text) or re.search(r"\.gml(\.gz|\.bz2)?$", path, re.IGNORECASE)
    if begins_so and (_GML_GRAPH.search(text) or (len(head) >= HEAD and _GML_TEXT.match(text))):
        return "gml"
    return None


def read_network_file(source: Source, reading: Reading, progress: Progress) -> Edges:
    """The edges of a file of one of these formats; the weight is the edge attribute that was asked for, or called so.

    Parallel edges are repeated entries, and without weights count 1 each. In a graph of directed and undirected edges
    the undirected ones have both directions. Nodes are called by the attribute "name" or "label" where it tells all of
    them apart, else by their ids; names that are all whole numbers become numbers.
    """
    weight, format = reading.columns.weight, reading.format or ""
    listing = NetworkListing(source.path, None if weight is None else str(weight))
    limit = available_bytes() if reading.memory_limit is None else reading.memory_limit

    def check(n_more: int = 0) -> None:
        if listing.n_bytes + n_more > limit:
            wrong = f"{source.path}: its nodes and edges need more memory than the limit of {limit} bytes"
            raise ResourceLimitError(f"{wrong}; pass a larger memory_limit, or convert the file to an edge list")

    if format in XML:
        XML[format](source.path, listing).read(source, progress, check)
    else:
        blocks: list[bytes] = []
        for block in source.blocks(BLOCK, progress):
            blocks.append(block)
            check(2 * sum(map(len, blocks)))
        content = b"".join(blocks).removeprefix(b"\xef\xbb\xbf")
        del blocks
        TEXT[format](content, listing, lambda n_more=0: check(len(content) + n_more))
    return _edges_of(listing, reading.weights, reading.symmetrize, ids_are_names=format not in ("gml", "pajek"))


def _edges_of(listing: NetworkListing, weights: str | None, symmetrize: str | None, ids_are_names: bool) -> Edges:
    """The edges of a file that lists nodes and edges, with the weights and names that were chosen."""
    edges = Edges(listing.path, 0, [], remarks=listing.remarks)
    n_added = listing.list_other_ends()
    edges.n_nodes = len(listing.number_of)
    if edges.n_nodes == 0:
        raise GraphValidationError(f"{listing.path}: the graph has 0 nodes, expected at least 1 node")
    if n_added:
        edges.repairs.append(f"{amount(n_added, 'node')} that only edges name {'is' if n_added == 1 else 'are'} added")
    if listing.n_listed_twice:
        edges.repairs.append(f"{amount(listing.n_listed_twice, 'repeat')} of a node's id: each id is one node")
    if listing.n_nested:
        edges.remarks.append("some nodes hold nodes or graphs; all nodes and edges were read as one graph")
    names, remark = _names_of(listing, ids_are_names)
    edges.nodes = None if names == list(range(len(names))) else names
    edges.remarks += remark
    values = _weights_of(listing, weights, edges)
    if values is not None:
        unfit = NegativeOrInfinite(listing.path, weights or "file")
        ends = listing.sources, listing.targets
        values = unfit.look_at(values, lambda i: f"edge ({', '.join(str(names[end[i]]) for end in ends)})")
        unfit.complain()
    sources, targets, values = _entries(listing, values, edges, symmetrize)
    if values is None and weights != "ignore":
        keys = np.sort(sources.astype(np.int64) << 32 | targets)
        values = np.ones(len(sources)) if (keys[1:] == keys[:-1]).any() else None
    edges.chunks = [(sources, targets, values)] if len(sources) else []
    return edges


def _entries(listing: NetworkListing, values: np.ndarray | None, edges: Edges, symmetrize: str | None) -> tuple:
    """Sources, targets and weights of the edges, with both directions of an undirected edge among directed ones."""
    sources, targets = (np.array(ends, np.int32) for ends in (listing.sources, listing.targets))
    is_directed = np.frombuffer(listing.is_directed, bool)
    if not is_directed.any():
        edges.symmetric = "stored once"
        return np.minimum(sources, targets), np.maximum(sources, targets), values
    edges.symmetric = "full"
    if not is_directed.all():
        n_directed = int(np.count_nonzero(is_directed))
        edges.remarks.append(f"{amount(n_directed, 'edge is', 'edges are')} directed, {len(sources) - n_directed} not")
        if symmetrize != "sum":  # which adds what each direction has
            other = np.flatnonzero(~is_directed & (sources != targets))
            sources, targets = np.append(sources, targets[other]), np.append(targets, sources[other])
            values = None if values is None else np.append(values, values[other])
    return sources, targets, values


def _names_of(listing: NetworkListing, ids_are_names: bool) -> tuple[list, list[str]]:
    """What the nodes are called, and what is to say of it."""
    ids = list(listing.number_of)
    remark = ""
    for attribute, names in listing.names.items():
        if not names.of_node:
            continue
        texts = [names.of_node[node] for node in range(len(ids)) if node in names.of_node]
        if len(set(texts)) == len(ids):
            by_name = [f"nodes are called by their {attribute}, not by their id"]
            return texts if names.are_text else as_numbers(texts), by_name if ids_are_names and texts != ids else []
        if len(texts) < len(ids):
            why = f"{amount(len(ids) - len(texts), 'node')} without {attribute}"
        else:
            why = f"nodes with the same {attribute}"
        remark = remark or f"nodes are called by their id: there {'is' if why.startswith('1 ') else 'are'} {why}"
    return as_numbers(ids), [remark] if remark else []


def _weights_of(listing: NetworkListing, weights: str | None, edges: Edges) -> np.ndarray | None:
    """The weights of the edges, None if all are 1; what else could be one is named among the remarks of `edges`."""
    attribute, is_sure = _weight_attribute(listing)
    if weights == "ignore":
        return None
    no_weights = _COUNTERS if attribute is None else {*_COUNTERS, plain_name(attribute.name)}
    others = [
        other.name
        for other in listing.attributes
        if other.occurs and other.is_number and other.unfit is None and not other.is_repeated
        and plain_name(other.name) not in no_weights
    ]  # fmt: skip
    if attribute is not None and attribute.is_repeated:
        if listing.weight is not None:
            wrong = f"{listing.path}: an edge has several values of the attribute {attribute.name!r}, expected one"
            raise GraphValidationError(wrong)
        attribute = None
    for other in listing.attributes:
        if other.is_repeated:
            edges.repairs.append(f"edge attribute {other.name!r} has several values for an edge, and was not used")
    if others:
        names = ", ".join(map(repr, others))
        note = f"numeric edge attributes not used: {names}; pass weight={others[0]!r} if that is the weight"
        (edges.repairs if attribute is None else edges.remarks).append(note)
    if attribute is None:
        return None
    if attribute.unfit is not None:
        word, line = attribute.unfit
        text = quote(word.encode(errors="replace"), 40)
        problem = f"the edge attribute {attribute.name!r} is {text!r}, expected a number"
        raise GraphFormatError(f'{problem}; weights="ignore" counts every edge as 1', listing.path, line)
    if not is_sure and weights is None:
        remedy = 'pass weights="file" if it is, weights="ignore" if it is not'
        edges.repairs.append(f"the edge attribute {attribute.name!r} was read as weights; {remedy}")
    default = 1.0 if attribute.default is None else attribute.default
    values = np.full(len(listing.sources), default)
    values[np.array(attribute.edges, np.int64)] = attribute.values
    n_missing = len(values) - len(attribute.edges)
    if n_missing and attribute.default is None and not attribute.may_be_left_out:
        count = "counts" if n_missing == 1 else "count"
        edges.remarks.append(f"{amount(n_missing, 'edge')} without {attribute.name!r} {count} 1")
    return values


def _weight_attribute(listing: NetworkListing) -> tuple[EdgeAttribute | None, bool]:
    """The attribute that holds the weight, and whether that is sure: by its name it may hold something else."""
    there = [attribute for attribute in listing.attributes if attribute.occurs or attribute.default is not None]
    if listing.weight is not None:
        asked = next((attribute for attribute in there if attribute.name == listing.weight), None)
        if asked is None and len(listing.sources):
            names = ", ".join(dict.fromkeys(repr(attribute.name) for attribute in there))
            expected = f"expected one of {names}" if names else "nor any other"
            raise GraphValidationError(f"{listing.path}: no edge has the attribute {listing.weight!r}, {expected}")
        return asked, True
    there = [attribute for attribute in there if attribute.unfit is None or weight_among([attribute.name])[1]]
    there.sort(key=lambda attribute: plain_name(attribute.name) != "weight")
    place, is_sure = weight_among([attribute.name for attribute in there])
    return None if place is None else there[place], is_sure
