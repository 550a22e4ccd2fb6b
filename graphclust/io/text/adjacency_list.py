"""Adjacency lists, as `networkx.write_adjlist` writes them: in each line a node, then its neighbors."""

from collections.abc import Callable

from graphclust.errors import GraphFormatError
from graphclust.io.formats.network_listing import NetworkListing

_CHECKED = 1 << 14  # lines between two looks at the memory


def read_adjacency_list(content: bytes, listing: NetworkListing, check: Callable[[], None]) -> None:
    """Add the nodes and the undirected edges of a list; an edge may stand in the line of one end or of both.

    Words are parted by blanks; what follows a # is a comment. Raises GraphFormatError for what is no UTF-8.
    """
    try:
        lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError as problem:
        raise GraphFormatError(f"is not UTF-8 text: {problem.reason} at byte {problem.start}", listing.path) from None
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate(lines, 1):
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
