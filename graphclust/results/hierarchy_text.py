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
from typing import TYPE_CHECKING

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


def as_json(hierarchy: Hierarchy) -> str:
    """See `Hierarchy.to_json`."""
    graph, members = hierarchy.graph, hierarchy.listed_members()
    plain = [name.item() if isinstance(name, np.generic) else name for name in hierarchy.listed_nodes()]
    fits = [isinstance(name, str | int) or (isinstance(name, float) and isfinite(name)) for name in plain]
    names = [name if of_json else str(name) for name, of_json in zip(plain, fits, strict=True)]
    leaves: dict[int, tuple[float, float]] = {}
    if hierarchy.layered is None:  # what `load_model` reads
        sums = cut_and_volume(graph, hierarchy.levels[-1], len(hierarchy.ids[-1]))
        leaves = {one: (cut, volume) for one, cut, volume in zip(hierarchy.ids[-1].tolist(), *sums, strict=True)}
    clusters = []
    for one in hierarchy.clusters:
        told = one._asdict() | {"nodes": [names[place] for place in members[one.id].tolist()]}
        if one.id in leaves:
            told["cut"], told["volume"] = map(float, leaves[one.id])
        if one.level == 0 and hierarchy.node_sizes is not None:
            told["node_sizes"] = hierarchy.node_sizes[listing_order(graph)][members[one.id]].tolist()
        clusters.append(told)
    held = header_of("hierarchy", hierarchy.origin) | {"n_levels": len(hierarchy.levels)}
    held |= {"max_size": hierarchy.max_size, "resolutions": list(hierarchy.resolutions), "n_ids": hierarchy.n_ids}
    # A number that is no whole one is written, but not read as a name.
    held |= {"named": graph.nodes is not None, "names_are_texts": any(type(name) not in (str, int) for name in plain)}
    held |= {"remarks": list(hierarchy.remarks), "clusters": clusters}
    return json.dumps(held, ensure_ascii=False, default=str)


def as_newick(hierarchy: Hierarchy) -> str:
    """See `Hierarchy.to_newick`."""
    names, members = hierarchy.listed_nodes(), hierarchy.listed_members()
    inner: dict[int, list[str]] = {one.id: [] for one in hierarchy.clusters}
    roots: list[str] = []
    for one in reversed(hierarchy.clusters):  # those below come after those above
        if one.is_leaf:
            parts = [_newick_label(names[place]) for place in members[one.id].tolist()]
        else:
            parts = inner[one.id][::-1]
        text = f"({','.join(parts)}){one.id}"
        (roots if one.parent is None else inner[one.parent]).append(text)
    return f"({','.join(reversed(roots))});"


def rows_of(hierarchy: Hierarchy, separator: str) -> str:
    """The records as a table of text with a header."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(("node", "cluster", "level", "parent", "is_leaf"))
    writer.writerows((*one[:4], int(one.is_leaf)) for one in hierarchy.records())
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


def write(path: str | os.PathLike, hierarchy: Hierarchy, overwrite: bool) -> None:
    """See `Hierarchy.save`."""
    refuse_swapped(path, "hierarchy.save(path)")
    make_text = writer_for(path)
    if make_text is not as_json:
        _refuse_names(list(map(str, hierarchy.nodes)), os.fsdecode(path))
    text = make_text(hierarchy).encode(errors="backslashreplace")  # a lone surrogate as JSON has it
    with whole_file(path, overwrite, lambda: len(text)) as file:
        file.write(text)


def _refuse_names(names: list[str], path: str) -> None:
    """Refuse names that a table or a tree could not hold, or could not tell apart; JSON can."""
    remedy = "save a .json file, which can"
    if len({*names}) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise GraphValidationError(f"two nodes are named {twice!r} as text, which {path!r} cannot tell apart; {remedy}")
    bad = next((name for name in names if not name.isascii() and name != name.encode(errors="replace").decode()), None)
    if bad is not None:
        raise GraphValidationError(f"node {bad!r} holds half of a character, which {path!r} cannot hold; {remedy}")


def as_page(hierarchy: Hierarchy) -> str:
    """The levels in a few lines, and where they came from."""
    graph, n_levels, n_clusters = hierarchy.graph, len(hierarchy.levels), len(hierarchy.clusters)
    lines = [f"{amount(graph.n_nodes, 'node')}, {amount(n_levels, 'level')}, {amount(n_clusters, 'cluster')} in all"]
    has_evidence = hierarchy.layered is None
    lines.append("   level   clusters    largest   smallest   modularity" + "     evidence" * has_evidence)
    for depth, modularity in enumerate(hierarchy.modularities):
        sizes = hierarchy.sizes_on(depth)
        evidence = f" {evidence_in_words(hierarchy.nats_saved[depth]):>12}" if has_evidence else ""
        lines.append(f"{depth:8d} {len(sizes):10,d} {sizes.max():10,d} {sizes.min():10,d} {modularity:12.4f}{evidence}")
    if not has_evidence:
        lines.append(f"  modularity is {hierarchy.coarsest.modularity_name}")
        return "\n".join([*lines, *map("  {}".format, hierarchy.remarks)])
    remarks = [EVIDENCE, *hierarchy.remarks]
    if max(hierarchy.nats_saved) <= 0.0 and len(np.unique(graph.components[~graph.isolated])) == 1:
        remarks.append("no level describes the edges in fewer bits than one cluster: the edges alone show no more")
    return "\n".join([*lines, *map("  {}".format, remarks)])


def _newick_label(name: Hashable) -> str:
    text = str(name)
    return text if PLAIN_LABEL.fullmatch(text) else "'" + text.replace("'", "''") + "'"
