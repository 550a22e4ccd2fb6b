"""Edges of a file as a stream of blocks that can be taken up again at an offset, for files larger than memory."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphclust.errors import ResourceLimitError
from graphclust.io.edge_list import (
    ANNOUNCED,
    MayBeMetis,
    NumberReader,
    first_block,
    may_be_metis,
    refuse_headless_matrix,
)
from graphclust.io.edge_list_layout import layout_of
from graphclust.io.edges import Edges, allowed_bytes
from graphclust.io.lines import NegativeOrInfinite
from graphclust.io.matrix_market import edges_of, read_header, stream_entries, with_first
from graphclust.io.source import Source
from graphclust.io.spilled_edges import Part
from graphclust.progress import Progress

NO_LIMIT = 1 << 62
BYTES_PER_NODE = 40  # counts and starts of rows while lines are sorted


class ListStream:
    """The lines of an edge list with whole-number ids. `facts` is what has to be known to go on, ready for JSON."""

    def __init__(self, source: Source, weights: str | None, text_ids: bool | None):
        self.source, self.weights, self.text_ids = source, weights, text_ids
        self.head = source.head()
        self.layout = layout_of(self.head, source.path, weights, text_ids)
        self.fits = not self.layout.text_ids
        self.facts: dict[str, Any] = {"offset": 0, "line": 0, "n_rows": 0, "low": 2**63, "high": 0, "first": None}

    def parts(self, progress: Progress) -> Iterator[list[Part]]:
        facts, reader = self.facts, NumberReader(self.layout)
        unfit = NegativeOrInfinite(self.source.path, self.weights or "file")
        if facts["offset"]:
            self.source.skip_to(facts["offset"])
        for block in self.source.line_blocks(progress):
            n_bytes = len(block)
            if facts["line"] == 0:
                block = first_block(block, self.layout.n_passed)
            parts, n_lines = reader(block, facts["line"], unfit, self.source.path)
            unfit.complain()
            for sources, targets, weights in parts:
                if len(sources):
                    if facts["first"] is None:
                        first_weight = 0.0 if weights is None else float(weights[0])
                        facts["first"] = [int(sources[0]), int(targets[0]), first_weight]
                    facts["low"] = min(facts["low"], int(sources.min()), int(targets.min()))
                    facts["n_rows"] += len(sources)
            facts["high"] = max(facts["high"], reader.largest)
            facts["line"] += n_lines
            facts["offset"] += n_bytes
            yield parts
        self.doubts = reader.doubts.sentence()

    def edges(self) -> Edges:
        """What the file says of itself, without its lines; MayBeMetis where they could be something else."""
        facts, path = self.facts, self.source.path
        ends = np.array([facts["first"][:2], [facts["low"], facts["high"]]])
        weighted = self.layout.weight is not None and self.weights != "ignore"
        sample: list = [(ends[:, 0], ends[:, 1], np.array([facts["first"][2], 0.0]) if weighted else None)]
        refuse_headless_matrix(sample, facts["n_rows"], path)
        if self.text_ids is None and may_be_metis(sample, facts["n_rows"], self.layout):
            raise MayBeMetis
        edges = Edges(path, facts["high"] + 1, [], gaps=True, details={"weighted": weighted})
        announced = ANNOUNCED.search(self.head)
        short = announced and facts["n_rows"] < int(announced[1][:18])
        edges.repairs += [note for note in (self.layout.note, self.doubts) if note]
        if announced and short:
            edges.repairs.append(
                f"its header announces {int(announced[1][:18])} edges, {facts['n_rows']} lines follow: is it whole?"
            )
        return edges


class MatrixStream:
    """The entries of a Matrix Market file."""

    fits = True

    def __init__(self, source: Source, weights: str, bipartite: bool, memory_limit: int | None):
        self.source, self.weights, self.bipartite, self.memory_limit = source, weights, bipartite, memory_limit
        self.facts: dict[str, Any] = {"offset": 0, "line": 0, "n_rows": 0}

    def parts(self, progress: Progress) -> Iterator[list[Part]]:
        facts, source = self.facts, self.source
        n_bytes = 0

        def counted(blocks):
            nonlocal n_bytes
            for block in blocks:
                n_bytes += len(block)
                yield block

        blocks = counted(source.line_blocks(progress))
        self.header, rest, line = read_header(source, blocks, NO_LIMIT, self.bipartite)
        self._check_nodes()
        if facts["offset"]:
            source.skip_to(facts["offset"])
            n_bytes, rest, blocks = facts["offset"], memoryview(b""), counted(source.line_blocks(progress))
            line = facts["line"]
        unfit = NegativeOrInfinite(source.path, self.weights)
        entries = stream_entries(source, with_first(rest, blocks), self.header, unfit, line, facts["n_rows"])
        for parts, line, n_read in entries:
            unfit.complain()
            facts.update(offset=n_bytes, line=line, n_rows=n_read)
            yield parts

    def _check_nodes(self) -> None:
        """Refuse a header that claims more nodes than the machine, or a file of this size without a word, can have."""
        n_nodes = self.header.offset + self.header.n_columns
        needed = BYTES_PER_NODE * n_nodes
        allowed = max(allowed_bytes(self.source.most_bytes, None), self.memory_limit or 0)
        if needed > allowed:
            raise ResourceLimitError(
                f"{self.source.path}: {n_nodes} nodes need about {needed} bytes ({needed >> 20} MiB) beside the lines "
                f"that are sorted, but {allowed >> 20} MiB are allowed; pass a larger memory_limit if the file is right"
            )

    def edges(self) -> Edges:
        """What the file says of itself, without its entries."""
        return edges_of(self.source.path, self.header, [], self.weights)
