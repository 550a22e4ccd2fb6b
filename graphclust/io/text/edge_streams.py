"""Edges of a file as a stream of blocks that can be taken up again at an offset, for files larger than memory."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from graphclust.errors import ResourceLimitError
from graphclust.io.edges import Edges, allowed_bytes
from graphclust.io.formats.matrix_market import edges_of, read_header, stream_entries, with_first
from graphclust.io.store.spill_files import Part
from graphclust.io.text.byte_source import Source
from graphclust.io.text.edge_lines import EdgeLines, Reading, Sample, judge_first_line
from graphclust.io.text.edge_list import NumberReader
from graphclust.io.text.lines import NegativeOrInfinite
from graphclust.progress import Progress

NO_LIMIT = 1 << 62
BYTES_PER_NODE = 40  # counts and starts of rows while lines are sorted


class ListStream:
    """The lines of an edge list with whole-number ids. `facts` is what has to be known to go on, ready for JSON."""

    def __init__(self, source: Source, reading: Reading):
        self.source, self.reading = source, reading
        self.lines = EdgeLines(source, reading)
        layout = self.lines.layout
        # The attributes that are left out are counted over all lines, which a conversion may read in two goes.
        self.fits = not (layout.text_ids or layout.bipartite or reading.quoted or self.lines.attributes)
        self.facts: dict[str, Any] = {"offset": 0, "line": 0, "n_rows": 0, "low": 2**63, "high": 0, "first": None}

    def parts(self, progress: Progress) -> Iterator[list[Part]]:
        """Edges, block by block; what is known after each is recorded, so that a later process can go on from there."""
        unfit = NegativeOrInfinite(self.source.path, self.reading.policy)
        facts, reader = self.facts, NumberReader(self.lines.layout, self.reading, unfit)
        if facts["offset"]:
            self.source.skip_to(facts["offset"])
            self.lines.n_lines = facts["line"]
        for block, n_bytes in self.lines.blocks(progress):
            parts, n_lines = reader(block, facts["line"])
            unfit.complain()
            for sources, targets, weights in parts:
                facts["n_rows"] += len(sources)
                if facts["first"] is None and len(sources):
                    facts["first"] = [int(sources[0]), int(targets[0]), None if weights is None else float(weights[0])]
                    sources, targets = sources[1:], targets[1:]
                for column in (sources, targets) if len(sources) else ():
                    facts["low"] = min(facts["low"], int(column.min()))
                    facts["high"] = max(facts["high"], int(column.max()))
            facts["line"] += n_lines
            facts["offset"] += n_bytes
            self.lines.n_lines = facts["line"]
            yield parts
        self.doubts = reader.doubts.sentence()

    def edges(self) -> Edges:
        """What the file says of itself, without its lines; raises what `judge_first_line` does."""
        facts, path, lines = self.facts, self.source.path, self.lines
        if facts["first"] is None:
            raise lines.no_edges()
        lines.check_counts(facts["n_rows"])
        first: tuple[int, int, float | None] = (*facts["first"],)
        sample = Sample(*first, facts["n_rows"], facts["low"], facts["high"])
        said = judge_first_line(sample, lines.layout, self.reading, path)
        weighted = lines.layout.weight is not None and self.reading.weights != "ignore"
        n_nodes = max(*first[:2], facts["high"]) + 1
        edges = Edges(path, n_nodes, [], gaps=True, remarks=lines.remarks(), details={"weighted": weighted})
        edges.repairs = [*lines.repairs(facts["n_rows"]), *filter(None, [said, self.doubts])]
        return edges


class MatrixStream:
    """The entries of a Matrix Market file."""

    fits = True

    def __init__(self, source: Source, reading: Reading):
        self.source, self.reading = source, reading
        self.facts: dict[str, Any] = {"offset": 0, "line": 0, "n_rows": 0}

    def parts(self, progress: Progress) -> Iterator[list[Part]]:
        """Edges, block by block; what is known after each is recorded, so that a later process can go on from there."""
        facts, source = self.facts, self.source
        n_bytes = 0

        def count_bytes(blocks):
            nonlocal n_bytes
            for block in blocks:
                n_bytes += len(block)
                yield block

        blocks = count_bytes(source.line_blocks(progress))
        self.header, rest, line = read_header(source, blocks, replace(self.reading, memory_limit=NO_LIMIT))
        self._check_nodes()
        if facts["offset"]:
            source.skip_to(facts["offset"])
            n_bytes, rest, blocks = facts["offset"], memoryview(b""), count_bytes(source.line_blocks(progress))
            line = facts["line"]
        unfit = NegativeOrInfinite(source.path, self.reading.policy)
        entries = stream_entries(source, with_first(rest, blocks), self.header, unfit, line, facts["n_rows"])
        for parts, line, n_read in entries:
            unfit.complain()
            facts.update(offset=n_bytes, line=line, n_rows=n_read)
            yield parts

    def _check_nodes(self) -> None:
        """Refuse a header that claims more nodes than the machine, or a file of this size without a word, can have."""
        n_nodes = self.header.offset + self.header.n_columns
        needed = BYTES_PER_NODE * n_nodes
        allowed = max(allowed_bytes(self.source.most_bytes, None), self.reading.memory_limit or 0)
        if needed > allowed:
            raise ResourceLimitError(
                f"{self.source.path}: {n_nodes} nodes need about {needed} bytes ({needed >> 20} MiB) beside the lines "
                f"that are sorted, but {allowed >> 20} MiB are allowed; pass a larger memory_limit if the file is right"
            )

    def edges(self) -> Edges:
        """What the file says of itself, without its entries."""
        return edges_of(self.source.path, self.header, [], self.reading)
