"""Graphs in JSON as lists of nodes and of links: those of D3, and of `networkx.node_link_data`."""

import json
import re
from collections.abc import Callable
from typing import Any

from graphclust.errors import GraphFormatError, quote
from graphclust.io.formats.network_listing import NetworkListing

START = re.compile(rb'\{\s*(?:["}]|\Z)')
_SCAN = 31  # bytes of memory that a byte of JSON takes when it is parsed, about, beside its own
_ENDS = (("source", "target"), ("from", "to"))
_NESTED = ("data", "attributes")  # objects of Cytoscape and graphology that hold what others have at the top
_NO_ATTRIBUTES = {"source", "target", "from", "to", "key", "id", "index", *_NESTED}


def read_node_link(content: bytes, listing: NetworkListing, check: Callable[[int], None]) -> None:
    """Add the nodes and links of a file to a listing; numbers that links hold are their attributes.

    Nodes are known by the first of "id", "key", "name" and whatever else all of them have under which all ends of links
    are found, or by their places in the list, from 0; a file without nodes has those that its links name.
    """
    check(_SCAN * len(content))
    try:
        data = json.loads(content)
    except json.JSONDecodeError as problem:
        raise GraphFormatError(f"is not JSON: {problem.msg}", listing.path, problem.lineno) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as problem:
        raise GraphFormatError(f"is not JSON: {str(problem)[:80]}", listing.path) from None
    data = data.get("elements", data) if isinstance(data, dict) else data
    key = next((name for name in ("links", "edges") if isinstance(data, dict) and name in data), None)
    if key is None:
        wrong = 'is JSON without "links" or "edges", no known format'
        raise GraphFormatError(f"{wrong}; expected a graph as networkx.node_link_data", listing.path)
    nodes = _dicts(data.get("nodes", []), "nodes", listing.path)
    links = _dicts(data[key], key, listing.path)
    ends: list[tuple[Any, Any]] = []
    for place, link in enumerate(links):
        pair = next((pair for pair in _ENDS if {*pair} <= {*link}), None)
        if pair is None:
            raise GraphFormatError(f"{key}[{place}] has no source or no target, expected the ids of two", listing.path)
        for name in pair:
            _id(link[name], f"{key}[{place}]", listing.path)
        ends.append((link[pair[0]], link[pair[1]]))
    names = _names_of(nodes, ends, listing.path)
    texts = [_id(name, "a node", listing.path) for name in names]
    if len(set(texts)) < len(set(zip(map(type, names), texts, strict=True))):
        raise GraphFormatError("ids of nodes differ in their types alone, expected text or numbers", listing.path)
    for node, text in zip(nodes, texts, strict=True):
        number = listing.add_node(text)
        for name, of_nodes in listing.names.items():
            if isinstance(node.get(name), str):
                of_nodes.of_node.setdefault(number, node[name])
                of_nodes.are_text = True
    for link, (source, target) in zip(links, ends, strict=True):
        edge = listing.add_edge(_text(source), _text(target), bool(data.get("directed", False)))
        for name, value in link.items():
            if name in _NO_ATTRIBUTES or value is None:
                continue
            attribute = listing.undeclared_attribute(name)
            if not attribute.occurs:
                attribute.is_number = isinstance(value, int | float) and not isinstance(value, bool)
            attribute.add(edge, str(value), lambda: 1)


def _dicts(values: Any, name: str, path: str) -> list[dict[str, Any]]:
    """The objects of a list, each with what its nested objects hold."""
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise GraphFormatError(f"{name!r} is not a list of objects", path)
    nested = [[value[name] for name in _NESTED if isinstance(value.get(name), dict)] for value in values]
    return [
        {key: one for part in (*parts, value) for key, one in part.items()}
        for value, parts in zip(values, nested, strict=True)
    ]


def _names_of(nodes: list[dict[str, Any]], ends: list[tuple[Any, Any]], path: str) -> list[Any]:
    """What links call each node. GraphFormatError where they name one that no key of all nodes has."""
    if not nodes:
        return []
    wanted = {_id(end, "a link", path) for pair in ends for end in pair}
    shared = {name for name in nodes[0] if all(_is_name(node.get(name)) for node in nodes)}
    without_id = sum("id" not in node for node in nodes)
    others = () if 0 < without_id < len(nodes) else nodes[0]  # an attribute "id" of graphology, not what links name
    keys = [name for name in dict.fromkeys(("id", "key", "name", *others)) if name in shared]
    for name in keys:
        values = [node[name] for node in nodes]
        texts = [_id(value, "a node", path) for value in values]
        if wanted <= {*texts} and (name == "id" or len({*texts}) == len(texts)):
            return values
    if 0 < without_id < len(nodes):
        raise GraphFormatError(f"{without_id} of its nodes have no 'id', expected all or none", path)
    places = {str(place) for place in range(len(nodes))}
    if wanted <= places and not any(isinstance(end, str) for pair in ends for end in pair):
        return list(range(len(nodes)))
    known = places if not keys else {_id(node[keys[0]], "a node", path) for node in nodes}
    lost = next((text for pair in ends for text in map(_text, pair) if text not in known), "")
    which = f"(keys: {', '.join(map(repr, keys[:8])) or 'none'}), nor by their places"
    first = f"the first that is not found is {quote(lost.encode(errors='replace'), 40)!r}"
    raise GraphFormatError(f"links name nodes by no key that all nodes have {which}; {first}", path)


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    """The text of an id; a number without fraction is that number."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _id(value: Any, where: str, path: str) -> str:
    """The same, checked."""
    if not _is_name(value):
        text = quote(json.dumps(value).encode(), 40)
        raise GraphFormatError(f"{where} names {text}, expected an id, text or a number", path)
    return _text(value)
