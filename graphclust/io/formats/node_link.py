"""Graphs in JSON as lists of nodes and of links: those of D3, and of `networkx.node_link_data`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from graphclust.errors import GraphFormatError
from graphclust.io.formats.network_listing import EdgeAttribute, NetworkListing
from graphclust.io.text.lines import quote

START = re.compile(rb'\{(?=.*"(?:links|edges)"\s*:)', re.DOTALL)
_SCAN = 32  # bytes of memory that a byte of JSON takes when it is parsed, about
_NO_ATTRIBUTES = {"source", "target", "key", "id", "index"}


def read_node_link(content: bytes, listing: NetworkListing, check: Callable[[int], None]) -> None:
    """Add the nodes and links of a file to a listing; numbers that links hold are their attributes.

    Nodes are known by their "id"; where none has one, links name them by their places in the list, from 0.
    Raises GraphFormatError for what is no JSON, or no such graph.
    """
    check(_SCAN * len(content))
    try:
        data = json.loads(content)
    except json.JSONDecodeError as problem:
        raise GraphFormatError(f"is no JSON: {problem.msg}", listing.path, problem.lineno) from None
    except (UnicodeDecodeError, RecursionError, ValueError) as problem:
        raise GraphFormatError(f"is no JSON: {str(problem)[:80]}", listing.path) from None
    key = next((name for name in ("links", "edges") if isinstance(data, dict) and name in data), None)
    if key is None:
        raise GraphFormatError('holds no "links" or "edges", expected a graph as networkx.node_link_data', listing.path)
    _add_nodes(_dicts(data.get("nodes", []), "nodes", listing.path), listing)
    _add_links(_dicts(data[key], key, listing.path), key, bool(data.get("directed", False)), listing)


def _dicts(values: Any, name: str, path: str) -> list[dict[str, Any]]:
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise GraphFormatError(f"{name!r} is no list of objects", path)
    return values


def _add_nodes(nodes: list[dict[str, Any]], listing: NetworkListing) -> None:
    """Add the nodes by their ids, or by their places where none has one."""
    with_id = sum("id" in node for node in nodes)
    if with_id not in (0, len(nodes)):
        raise GraphFormatError(f"{len(nodes) - with_id} of its nodes have no 'id', expected all or none", listing.path)
    kinds = {type(node["id"]) for node in nodes if with_id}
    if str in kinds and len(kinds) > 1:
        texts = {_id(node["id"], "a node", listing.path) for node in nodes}
        if len(texts) < len({(type(node["id"]), node["id"]) for node in nodes}):
            raise GraphFormatError("ids of nodes differ in their types alone, expected text or numbers", listing.path)
    for place, node in enumerate(nodes):
        number = listing.add_node(_id(node.get("id", place), "a node", listing.path))
        for name, names in listing.names.items():
            if isinstance(node.get(name), str):
                names.of_node.setdefault(number, node[name])
                names.are_text = True


def _add_links(links: list[dict[str, Any]], key: str, is_directed: bool, listing: NetworkListing) -> None:
    """Add the links, and what they say as attributes."""
    attributes: dict[str, EdgeAttribute] = {}
    for place, link in enumerate(links):
        if not {"source", "target"} <= {*link}:
            raise GraphFormatError(f"{key}[{place}] has no source or no target, expected the ids of two", listing.path)
        source, target = (_id(link[end], f"{key}[{place}]", listing.path) for end in ("source", "target"))
        edge = listing.add_edge(source, target, is_directed)
        for name, value in link.items():
            if name in _NO_ATTRIBUTES:
                continue
            if name not in attributes:
                attributes[name] = listing.edge_attribute(name)
                attributes[name].is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None:
                attributes[name].add(edge, str(value), lambda: 1)


def _id(value: Any, where: str, path: str) -> str:
    """The text of an id; a number without fraction is that number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        found = quote(json.dumps(value).encode(), 40)
        raise GraphFormatError(f"{where} names {found}, expected an id, text or a number", path)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
