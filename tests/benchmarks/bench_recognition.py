"""Do people recognize the clusters? Agreement with annotated classes over many real graphs, at exactly as many parts.

    python bench_recognition.py [--repeats 3] [--floors] [--only NAME ...]

Largest components; k is the number of classes; 15-NN graphs (exact, union, unweighted) of points besides. Leiden at k
is what people do who need k clusters: its resolution is bisected on a logarithmic scale, 1e-3 to 1e3, until k parts
come out, 20 runs at most, all timed, the closest kept. Medians over the seeds; compile time is excluded, our gate
included.
--floors measures our default for several floors of the resolution instead (`FLOOR` in engine/resolution.py).
Needs igraph, pymetis, scikit-learn and the data that $GRAPHCLUST_DATA names.
"""

from collections.abc import Sequence
from unittest import mock

import numpy as np
from harness import asked, is_wanted, shown, write_table
from peers_data import annotated_graphs, planted
from tools import DEFAULT, LEIDEN_AT_K, METIS, SMALLEST_CUT, Measured, measure

from graphclust import coreset_sc
from graphclust.engine import resolution

TOOLS = (DEFAULT, SMALLEST_CUT, METIS, LEIDEN_AT_K)
FLOORS = (0.0, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 1.0)


def compare_tools(graphs: list, repeats: int, whole: bool) -> None:
    rows: list[list[str]] = []
    found: list[list[Measured]] = []
    for name, matrix, classes in graphs:
        k = int(classes.max()) + 1
        found.append([measure(tool, matrix, k, classes, repeats) for tool in TOOLS])
        for tool, one in zip(TOOLS, found[-1], strict=True):
            parts = "" if one.parts == k else f" ({one.parts:.0f} parts)"
            rows.append(shown([name, str(k), tool.name + parts, *_figures(one, found[-1][0].seconds)]))
    total = sum(row[0].seconds for row in found)
    for place, tool in enumerate(TOOLS):
        of_tool = [row[place] for row in found]
        seconds = sum(one.seconds for one in of_tool)
        ari, nmi = np.mean([(one.ari, one.nmi) for one in of_tool], axis=0)
        rows.append([f"mean of {len(found)}", "", tool.name, f"{ari:.3f}", f"{nmi:.3f}", f"{seconds:.2f}",
                     f"{seconds / total:.1f}", f"{np.mean([one.ari_spread for one in of_tool]):.3f}"])  # fmt: skip
    notes = (
        "The last rows hold means of ARI, NMI and spread, and all seconds together. Spread is half the range of the "
        "ARI over the seeds. Below the better of METIS and Leiden at k "
        f"by more than 0.05 ARI: {_worse([name for name, *_ in graphs], found) or 'no graph'}."
    )
    header = ["graph", "k", "tool", "ARI", "NMI", "seconds", "times ours", "spread of ARI"]
    write_table("recognition", "Agreement with annotated classes", header, rows, notes, whole)


def _figures(one: Measured, ours: float) -> list[str]:
    times, spread = f"{one.seconds / ours:.1f}", f"{one.ari_spread:.3f}"
    return [f"{one.ari:.3f}", f"{one.nmi:.3f}", f"{one.seconds:.3f}", times, spread]


def _worse(names: Sequence[str], found: list[list[Measured]]) -> str:
    gaps = [max(metis.ari, leiden.ari) - ours.ari for ours, _, metis, leiden in found]
    return ", ".join(f"{name} ({gap:.2f})" for name, gap in zip(names, gaps, strict=True) if gap > 0.05)


def compare_floors(graphs: list, repeats: int, whole: bool) -> None:
    """Mean agreement of the default for each floor, and on how many graphs the floor is what decides."""
    rows, given = [], [(matrix, int(classes.max()) + 1, classes) for _, matrix, classes in graphs]
    for floor in FLOORS:
        mark = " (as it is)" if floor == resolution.FLOOR else ""
        with mock.patch.object(resolution, "FLOOR", floor):
            found = [measure(DEFAULT, *one, repeats) for one in given]
            at_floor = sum(coreset_sc(matrix, k, rng=0).resolution <= floor for matrix, k, _ in given)
        ari, nmi = np.mean([(one.ari, one.nmi) for one in found], axis=0)
        spread = f"{np.mean([one.ari_spread for one in found]):.3f}"
        rows.append(shown([f"{floor:g}{mark}", f"{ari:.3f}", f"{nmi:.3f}", str(at_floor), spread]))
    notes = (
        f"{len(graphs)} graphs, those of recognition.md. ARI and NMI are means over them, and so is the spread, half "
        "of the ARI's range over the seeds."
    )
    header = ["floor", "ARI", "NMI", "graphs at the floor", "spread of ARI"]
    write_table("recognition_floors", "Floors of the matched resolution", header, rows, notes, whole)


def main() -> None:
    options = asked(__doc__, repeats=3, floors=False, only=[])
    for tool in (DEFAULT, SMALLEST_CUT):
        tool.run(planted("5x200:10:1")[0], 5, 0)  # compile
    graphs = [graph for graph in annotated_graphs() if is_wanted(graph[0], options.only)]
    (compare_floors if options.floors else compare_tools)(graphs, options.repeats, whole=not options.only)


if __name__ == "__main__":
    main()
