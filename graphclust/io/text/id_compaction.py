"""Renumber the nodes of edges whose ids are far apart: through a table of the ids that there are."""

import secrets

import numpy as np

from graphclust.compiled.text import node_ids


class IdTable:
    """All ids of a file in a table that grows with their number, and then the rank of each."""

    def __init__(self):
        self.multiplier = np.uint64(secrets.randbits(64) | 1)
        self.n_ids = 0
        self._resize(16)

    def _resize(self, n_bits: int) -> None:
        self.n_bits, self.shift = n_bits, np.uint64(64 - n_bits)
        self.slots = np.full(1 << n_bits, node_ids.EMPTY, np.int64)

    def add(self, ids: np.ndarray) -> None:
        while 2 * (self.n_ids + len(ids)) > len(self.slots):
            known = self.slots[self.slots != node_ids.EMPTY]
            self._resize(self.n_bits + 1)
            node_ids.insert(known, self.multiplier, self.shift, self.slots)
        self.n_ids += node_ids.insert(ids, self.multiplier, self.shift, self.slots)

    def add_all(self, ids: np.ndarray) -> None:
        """Add ids in pieces, so that the table is never much larger than it has to be."""
        with np.errstate(over="ignore"):  # the products wrap round, which interpreted loops warn of
            for start in range(0, len(ids), 1 << 16):
                self.add(ids[start : start + (1 << 16)].astype(np.int64, copy=False))

    def sort(self) -> np.ndarray:
        """The ids in increasing order, after which `ranks` may be asked for."""
        used = np.flatnonzero(self.slots != node_ids.EMPTY)
        order = np.argsort(self.slots[used])
        self.rank_of_slot = np.zeros(len(self.slots), np.int32)
        self.rank_of_slot[used[order]] = np.arange(self.n_ids, dtype=np.int32)
        return self.slots[used[order]]

    def ranks(self, ids: np.ndarray) -> np.ndarray:
        ranks = np.empty(len(ids), np.int32)
        node_ids.look_up(
            ids.astype(np.int64, copy=False), self.multiplier, self.shift, self.slots, self.rank_of_slot, ranks
        )
        return ranks


def renumber_sparse(chunks: list, columns: tuple[int, ...] = (0, 1)) -> np.ndarray:
    """Replace the ids in these columns of the chunks by their ranks; returns the ids."""
    table = IdTable()
    with np.errstate(over="ignore"):  # the products wrap round, which interpreted loops warn of
        for part in chunks:
            for column in columns:
                table.add_all(part[column])
        ids = table.sort()
        for i, part in enumerate(chunks):
            chunks[i] = tuple(table.ranks(part[column]) if column in columns else part[column] for column in range(3))
    return ids
