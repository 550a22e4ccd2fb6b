"""A hierarchy as text: JSON and tables for programs, Newick for viewers of trees, a page for the terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Hashable
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from graphclust.checks import refuse_swapped
from graphclust.engine.likelihood import EVIDENCE, evidence_in_words
from graphclust.errors import GraphValidationError, ParameterError, amount
from graphclust.graph.node_order import listing_order
from graphclust.io.atomic_write import whole_file
from graphclust.objective.cuts import cut_and_volume
from graphclust.results.file_header import header_of

if TYPE_CHECKING:
    from graphclust.results.hierarchy import Hierarchy

PLAIN_LABEL = re.compile(r"[A-Za-z0-9.+#@*/\\|^-]+")  # that Newick takes without quotes; an underscore means a space


def as_json(found: Hierarchy) -> str:
    """See `Hierarchy.to_json`."""
    listed = found.listed_nodes()
    names = [_plain(name) for name in listed]
    members = found.listed_members()
    clusters: list[dict[str, Any]] = [
        one._asdict() | {"nodes": [names[place] for place in members[one.id].tolist()]} for one in found.clusters
    ]
    sums: dict[int, tuple[float, float]] = {}
    if found.layered is None:  # what `load_model` reads
        leaves = cut_and_volume(found.graph, found.levels[-1], len(found.ids[-1]))
        sums = {one: (cut, volume) for one, cut, volume in zip(found.ids[-1].tolist(), *leaves, strict=True)}
    for one in clusters:
        if one["id"] in sums:
            one["cut"], one["volume"] = map(float, sums[one["id"]])
        if one["level"] == 0 and found.node_sizes is not None:
            one["node_sizes"] = found.node_sizes[listing_order(found.graph)][members[one["id"]]].tolist()
    said = header_of("hierarchy", found.origin) | {"n_levels": len(found.levels), "max_size": found.max_size}
    said |= {"resolutions": list(found.resolutions), "n_ids": found.n_ids}
    said |= {"named": found.graph.nodes is not None, "names_are_texts": any(map(_is_text_alone, listed))}
    return json.dumps(said | {"remarks": list(found.remarks), "clusters": clusters}, ensure_ascii=False, default=str)


def as_newick(found: Hierarchy) -> str:
    """See `Hierarchy.to_newick`."""
    names, members = found.listed_nodes(), found.listed_members()
    inner: dict[int, list[str]] = {one.id: [] for one in found.clusters}
    roots: list[str] = []
    for one in reversed(found.clusters):  # those below come after those above
        if one.is_leaf:
            parts = [_newick_label(names[place]) for place in members[one.id].tolist()]
        else:
            parts = inner[one.id][::-1]
        text = f"({','.join(parts)}){one.id}"
        (roots if one.parent is None else inner[one.parent]).append(text)
    return f"({','.join(reversed(roots))});"


def rows_of(found: Hierarchy, separator: str) -> str:
    """The records as a table of text with a header."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(("node", "cluster", "level", "parent", "is_leaf"))
    writer.writerows((*one[:4], int(one.is_leaf)) for one in found.records())
    return text.getvalue()


WRITERS: dict[str, Callable[[Hierarchy], str]] = {
    ".json": as_json,
    ".csv": partial(rows_of, separator=","),
    ".tsv": partial(rows_of, separator="\t"),
    ".nwk": as_newick,
}


def writer_for(path: str | os.PathLike) -> Callable[[Hierarchy], str]:
    """What makes the text of a file with that ending; ParameterError for another."""
    ending = os.path.splitext(os.fsdecode(path))[1].lower()
    if ending not in WRITERS:
        raise ParameterError(
            f"path {os.fsdecode(path)!r} has the ending {ending!r}, expected one of {', '.join(WRITERS)}"
        )
    return WRITERS[ending]


def write(path: str | os.PathLike, found: Hierarchy, overwrite: bool) -> None:
    """See `Hierarchy.save`."""
    refuse_swapped(path, "hierarchy.save(path)")
    make_text = writer_for(path)
    if make_text is not as_json:
        _refuse_names(list(map(str, found.nodes)), os.fsdecode(path))
    text = make_text(found).encode(errors="backslashreplace")  # a lone surrogate as JSON has it
    with whole_file(path, overwrite, lambda: len(text)) as file:
        file.write(text)


def _refuse_names(names: list[str], path: str) -> None:
    """Refuse names that a table or a tree could not hold, or could not tell apart; JSON can."""
    remedy = "save a .json file, which can"
    if len({*names}) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise GraphValidationError(f"two nodes are named {twice!r} as text, which {path!r} cannot tell apart; {remedy}")
    bad = next((name for name in names if not _is_unicode(name)), None)
    if bad is not None:
        raise GraphValidationError(f"node {bad!r} holds half of a character, which {path!r} cannot hold; {remedy}")


def _is_unicode(name: str) -> bool:
    return name.isascii() or name.encode(errors="replace").decode() == name


def as_page(found: Hierarchy) -> str:
    """The levels in a few lines, and where they came from."""
    graph = found.graph
    n_clusters = len(found.clusters)
    lines = [
        f"{amount(graph.n_nodes, 'node')}, {amount(len(found.levels), 'level')}, {amount(n_clusters, 'cluster')} in all"
    ]
    has_evidence = found.layered is None
    lines.append("   level   clusters    largest   smallest   modularity" + "     evidence" * has_evidence)
    for depth, modularity in enumerate(found.modularities):
        sizes = found.sizes_on(depth)
        evidence = f" {evidence_in_words(found.nats_saved[depth]):>12}" if has_evidence else ""
        lines.append(f"{depth:8d} {len(sizes):10,d} {sizes.max():10,d} {sizes.min():10,d} {modularity:12.4f}{evidence}")
    if not has_evidence:
        lines.append(f"  modularity is {found.coarsest.modularity_name}")
        return "\n".join([*lines, *map("  {}".format, found.remarks)])
    remarks = [EVIDENCE, *found.remarks]
    if max(found.nats_saved) <= 0.0 and len(np.unique(graph.components[~graph.isolated])) == 1:
        remarks.append("no level describes the edges in fewer bits than one cluster: the edges alone show no more")
    return "\n".join([*lines, *map("  {}".format, remarks)])


def _plain(name: Hashable) -> Any:
    """A name as JSON holds it; a name that JSON cannot hold becomes its text."""
    value = name.item() if isinstance(name, np.generic) else name
    can_be = isinstance(value, str | int) or (isinstance(value, float) and isfinite(value))
    return value if can_be else str(value)


def _is_text_alone(name: Hashable) -> bool:
    """Whether a name is written as another than it is, or is a number that is read as a name no more."""
    return type(name.item() if isinstance(name, np.generic) else name) not in (str, int)


def _newick_label(name: Hashable) -> str:
    text = str(name)
    return text if PLAIN_LABEL.fullmatch(text) else "'" + text.replace("'", "''") + "'"
