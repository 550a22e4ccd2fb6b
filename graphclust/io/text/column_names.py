"""The names that tables of edges give their columns, and which of them can only mean the two ends of an edge."""

import re
from itertools import combinations

# Names of weights, as `plain_name` writes them. Those in doubt may be weights, and are read with a remark.
_SURE_WEIGHTS = frozenset({"weight", "weights", "w", "edgeweight"})
WEIGHT_NAMES = _SURE_WEIGHTS | {"score", "combinedscore", "value", "strength"}

_SOURCES = {"source", "src", "from", "fromnodeid", "fromnode", "fromid", "sourceid", "sourcenode"}
_TARGETS = {"target", "dst", "to", "tonodeid", "tonode", "toid", "targetid", "targetnode"}
# Words for the two ends. Names that differ in such a pair alone mean the ends too: from_station and to_station.
_PAIR_WORDS = (
    "source/target source/destination source/dest source/sink src/dst src/dest src/tgt src/trg from/to start/end "
    "begin/end origin/destination orig/dest origin/dest sender/receiver sender/recipient follower/followee "
    "follower/followed follower/following head/tail subject/object subj/obj caller/callee citing/cited "
    "citer/citee parent/child predecessor/successor giver/receiver giver/taker buyer/seller "
    "lender/borrower creditor/debtor payer/payee truster/trustee trustor/trustee rater/ratee "
    "rater/rated voter/votee exporter/importer left/right first/second one/other one/two this/that u/v i/j "
    "row/col row/column 1/2 a/b 0/1 x/y"
)
_PAIRS = frozenset(tuple(pair.split("/")) for pair in _PAIR_WORDS.split())
_NEED_A_STEM = {("0", "1"), ("x", "y"), ("1", "2")}  # x and y alone are coordinates
_THIRD = {("1", "2"): "3", ("a", "b"): "c", ("0", "1"): "2", ("x", "y"): "z", ("i", "j"): "k", ("u", "v"): "w"}
_STEMS = "node id name vertex gene protein user person item entity interactor author word actor station city"
_GLUED = re.compile(rf"({_STEMS.replace(' ', '|')})(a|b)")  # in one word, in small letters: nodea, nodeb
_MOST_NAMES = 64  # of the columns of a table are compared with one another
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")

_ROW_NUMBERS = {
    "", "index", "idx", "row", "rowid", "rownumber", "rownum", "no", "nr", "num", "number", "id", "uid", "uuid", "key",
    "edge", "edgeid", "edgenumber", "link", "linkid", "eid", "relationid", "interactionid", "record", "recordid",
}  # fmt: skip
_TIMES = {
    "time",
    "timestamp",
    "date",
    "datetime",
    "year",
    "month",
    "day",
    "hour",
    "unixtime",
    "ts",
    "createdat",
    "since",
}
_OF_AN_EDGE = {
    "type", "kind", "relation", "relationship", "interaction", "predicate", "label", "rating", "count", "counts", "n",
    "amount", "frequency", "freq", "distance", "length", "cost", "comment", "directed", "sign", "correlation", "pvalue",
}  # fmt: skip
_NODES = {"id", "node", "nodeid", "nodes", "name", "vertex", "vertexid"}
_OF_A_NODE = {
    "label", "labels", "name", "community", "cluster", "group", "class", "category", "module", "modularityclass",
    "partition", "block", "department", "color", "colour", "size", "degree", "x", "y", "lat", "lon", "latitude",
    "longitude", "age", "gender", "sex", "title",
}  # fmt: skip
_CALLED = {"name", "label", "title"}  # second to an id
_NO_ENDS = {
    "type", "kind", "class", "category", "lat", "lon", "latitude", "longitude", "degree", "size", "time", "date",
    "year", "weight", "value", "score",
}  # fmt: skip


def plain_name(field: str) -> str:
    """The name in lower case, without spaces, dots, dashes, underscores and quotes."""
    return re.sub(r"[\s_.\-\"']+", "", field.lower())


def is_number(field: str) -> bool:
    """Whether a field of a table is a number as files write it: Python's 1_000 is none."""
    try:
        float(field)
    except ValueError:
        return False
    return "_" not in field


def is_plain_number(field: str) -> bool:
    """Whether a field is a number in the digits 0 to 9; Python reads those of other scripts too."""
    return field.isascii() and is_number(field)


def means_weight(name: str) -> bool:
    """Whether a column or an attribute of this name, upper or lower case, holds weights."""
    return plain_name(name) in WEIGHT_NAMES


def name_both_ends(names: list[str]) -> bool:
    """Whether one of the plain names can only mean where an edge starts, and another where it ends."""
    return not _SOURCES.isdisjoint(names) and not _TARGETS.isdisjoint(names)


def are_ends(one: str, other: str) -> bool:
    """Whether two names are alike but for a pair of words such as sender and receiver, or 1 and 2."""
    if plain_name(one) in _SOURCES and plain_name(other) in _TARGETS:
        return True
    ours, theirs = ([word.lower() for word in _WORDS.findall(name)] for name in (one, other))
    if len(ours) == len(theirs):
        unlike = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
        if len(unlike) == 1 and unlike[0] in _PAIRS and (len(ours) > 1 or unlike[0] not in _NEED_A_STEM):
            return True
    first, second = _GLUED.fullmatch(plain_name(one)), _GLUED.fullmatch(plain_name(other))
    return first is not None and second is not None and (first[1], first[2], second[2]) == (second[1], "a", "b")


def find_ends(names: list[str]) -> list[tuple[int, int]]:
    """Places of the two columns that are the ends by their names: one pair, none, or several that are as good."""
    plain = [plain_name(name) for name in names]
    for column, name in enumerate(plain):
        if name in _SOURCES and not _TARGETS.isdisjoint(plain):
            return [(column, next(i for i, other in enumerate(plain) if other in _TARGETS))]
    pairs = []
    names = names[:_MOST_NAMES]
    for i, j in combinations(range(len(names)), 2):
        if are_ends(names[i], names[j]):
            pairs.append((i, j))
        elif are_ends(names[j], names[i]):
            pairs.append((j, i))
    words = [[word.lower() for word in _WORDS.findall(name)] for name in names]
    pairs = [pair for pair in pairs if _NO_ENDS.isdisjoint(words[pair[0]]) and not _goes_on(words, *pair)]
    return [pair for pair in pairs if _CALLED.isdisjoint(words[pair[0]])] or pairs


def _goes_on(words: list[list[str]], one: int, other: int) -> bool:
    """Whether a third name continues a sequence: a, b, c, or node1, node2, node3."""
    third = [_THIRD.get(pair, pair[0]) for pair in zip(words[one], words[other], strict=False)]
    return third != words[one] and third in words


def is_of_an_edge(name: str) -> bool:
    """Whether a column of this name numbers, dates or describes the edges, and so is no end if others can be."""
    plain = plain_name(name)
    return plain in _ROW_NUMBERS | _TIMES | _OF_AN_EDGE or plain.startswith("unnamed:")


def is_table_of_nodes(names: list[str]) -> bool:
    """Whether the first column names a node, and the others say something of it."""
    plain = [plain_name(name) for name in names]
    return len(plain) > 1 and plain[0] in _NODES and all(name in _OF_A_NODE | WEIGHT_NAMES for name in plain[1:])


def weight_among(names: list[str]) -> tuple[int | None, bool]:
    """The place of the weights by the names of the columns, and whether it is certain."""
    plain = [plain_name(name) for name in names]
    for known in (_SURE_WEIGHTS, WEIGHT_NAMES):
        for column, name in enumerate(plain):
            if name in known:
                return column, known is _SURE_WEIGHTS
    return None, False
