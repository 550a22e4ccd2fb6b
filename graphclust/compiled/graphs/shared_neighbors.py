"""Two steps of the random walk between coreset nodes: who shares which neighbors with whom."""

from typing import NamedTuple

import numpy as np

from graphclust.compiled.graphs.cluster_links import LEAST_LINK
from graphclust.compiled.graphs.row_subset import first_at_least
from graphclust.compiled.runtime.loops import loop
from graphclust.compiled.runtime.prefetch import CACHED, ask_for

AHEAD = 8  # entries of a row: so far ahead of the one at hand its visitors are asked for, and twice as far their place


class Visits(NamedTuple):
    """The coreset nodes (by position) that each node z is a neighbor of, from starts[z] on, and the degrees of all z.

    Empty weights stand for all ones.
    """

    starts: np.ndarray
    visitors: np.ndarray
    weights: np.ndarray
    degrees: np.ndarray


@loop()
def count_visits(indices, starts):
    """How many coreset nodes each node z is a neighbor of, into starts[z + 1]."""
    many, end = len(starts) > CACHED, len(indices)
    for e in range(end):
        if many and e + AHEAD < end:
            ask_for(starts, indices[e + AHEAD])
        starts[indices[e] + 1] += 1


@loop()
def list_visits(rows, place, visitors, visit_weights):
    """The coreset nodes that each z is a neighbor of, in order; place (n,) starts at the lists' starts.

    place[z] ends one past the last visitor of z.
    """
    indptr, indices, weights = rows
    many, end = len(place) > CACHED, len(indices)
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            if many and e + 2 * AHEAD < end:
                ask_for(place, indices[e + 2 * AHEAD])
                ask_for(visitors, place[indices[e + AHEAD]])
            z = indices[e]
            visitors[place[z]] = i
            if len(weights) > 0:
                visit_weights[place[z]] = weights[e]
            place[z] += 1


@loop()
def shared_neighbors(first, last, block, made, most, scale, rows, visits):
    """Rows first..last-1 of scale_x scale_y sum_z A_xz A_zy / d_z, x != y, between coreset nodes, from their rows.

    Of more than `most` visitors of one z only those in the same run of `most` count, with their weights scaled up: the
    work is at most `most` times the entries of the coreset's rows, whatever the hubs. Returns the entries written; a
    row has room for as many as there are visits or coreset nodes, so that one more can always be written than counted.
    """
    lengths, out_indices, out_weights = made
    indptr, indices, weights = rows
    starts, visitors, visit_weights, degrees = visits
    weighted, many = len(weights) > 0, len(degrees) > CACHED
    link = np.zeros(len(scale))
    written = 0
    for x in range(first, last):
        start_of_row = written
        for e in range(indptr[x], indptr[x + 1]):
            if many and e + 2 * AHEAD < len(indices):
                ask_for(starts, indices[e + 2 * AHEAD])
                ask_for(degrees, indices[e + 2 * AHEAD])
                ask_for(visitors, starts[indices[e + AHEAD]])
            z = indices[e]
            w = weights[e] if weighted else 1.0
            start, end = starts[z], starts[z + 1]
            factor = w / degrees[z]
            n_visitors = end - start
            if n_visitors > most:
                run = (first_at_least(visitors, start, end, x) - start) // most
                end = min(start + (run + 1) * most, end)
                start += run * most
                if end - start > 1:
                    factor *= (n_visitors - 1) / (end - start - 1)
            for i in range(start, end):
                y = visitors[i]
                if y == x:
                    continue
                out_indices[written] = y  # counted only for the first link, without an unpredictable branch
                written += link[y] == 0.0
                # No product that rounds to zero: it would look as if y were not met yet, and be no edge.
                link[y] += max(factor * (visit_weights[i] if weighted else 1.0), LEAST_LINK)
        for i in range(start_of_row, written):
            y = out_indices[i]
            out_weights[i] = max(scale[x] * scale[y] * link[y], LEAST_LINK)
            link[y] = 0.0
        lengths[x] = written - start_of_row
    return written
