"""What every tuned number and step is worth: each set to another value, or left out, over graphs of six kinds.

    python bench_ablation.py [--repeats 2] [--seconds S] [--only WORD ...] [--beside-other-work]

Rows are kept in results/ablation_rows.json as they are measured, and the table is written once all are there: to remake
it, delete that file.

Planted, real, nearest-neighbor and weighted planted graphs, meshes, and a tree of 3,280 nodes, under the default and
the normalized cut. What a change costs is how much more is lacking of the best conceivable value, in per cent of what
is lacking as things stand: for the normalized cut that is how much larger the cut is, for modularity how much more is
cut or expected by chance, at the resolution that the unchanged program matched. Numbers of the method of coresets are
tried with that method, on planted graphs. ARI is the change of its mean, under the default objective; times are a
geometric mean of ratios.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple
from unittest import mock

import networkx as nx
import numpy as np
from harness import RESULTS, asked, is_wanted, shown, write_table
from peers_data import largest_component, meshes, nearest_neighbors, planted, real, with_random_weights
from tools import percent, spread_over_seeds

import graphclust as gc
from graphclust.engine import engine, family_tree, local_moving, resolution, settling, v_cycle
from graphclust.engine.engine import EFFORTS
from graphclust.engine.levels import value
from graphclust.graph.matrices import graph_from_csr
from graphclust.partition import coreset_sc as door
from graphclust.two_step import in_memory, shared_neighbors
from graphclust.two_step import method as coreset_parents

OBJECTIVES = ("modularity", "normalized_cut")
ROWS = RESULTS / "ablation_rows.json"
KINDS = ("planted", "real", "k-NN", "weighted", "mesh", "tree")


class Change(NamedTuple):
    """What is changed, and the method that it is tried with: names of modules get values, coreset_sc options."""

    what: str
    method: str
    patches: tuple[tuple[Any, str, Any], ...] = ()
    options: tuple[tuple[str, Any], ...] = ()


def numbers(method: str, module: Any, tried: dict[str, tuple]) -> list[Change]:
    """One change for each value of each number, which is named as it stands too."""
    return [
        Change(f"{name} {getattr(module, name)} -> {value}", method, ((module, name, value),))
        for name, values in tried.items()
        for value in values
    ]


def everywhere(method: str, name: str, values: tuple, module: Any, *others: Any) -> list[Change]:
    """One change for each value of a number that several modules read."""
    before = getattr(module, name)
    return [Change(f"{name} {before} -> {value}", method, tuple((m, name, value) for m in others)) for value in values]


def as_it_is(level, found, *rest):
    """In place of a step that betters a partition: none."""
    return found


def best_parent(level, parents, schedule, run):
    """In place of recombination: the best of the parents."""
    return max(parents, key=lambda one: value(one, schedule.task))


def not_at_all(*given):
    """In place of a step that may fail: it does."""


def matched(cycles: engine.Cycles) -> dict[str, engine.EffortCycles]:
    """The efforts, with other V-cycles for k clusters in "normal"."""
    return EFFORTS | {"normal": EFFORTS["normal"]._replace(matched=cycles)}


def one_step_graph(kernel, coreset):
    """In place of links by shared neighbors: the coreset graph of the paper, without its loops."""
    links = gc.coreset_graph(kernel, coreset)
    links.setdiag(0)
    links.eliminate_zeros()
    return graph_from_csr(links.indptr, links.indices, links.data)


def to_any_region(kernel, coreset, labels, met_only):
    """In place of labels by the regions of coreset neighbors: by the nearest of all, as published."""
    return gc.extend_labels(kernel, coreset, labels)


def one_round(whole, labels, regions, choice):
    """In place of rounds over pieces: the first alone."""
    return PART_PIECES(whole, labels, regions, choice, most_rounds=1)


PART_PIECES = coreset_parents.part_pieces

CHANGES = [
    *numbers("multilevel", resolution, {
        "FLOOR": (0.0, 0.5), "REGIONS_PER_CLUSTER": ((4,), (8,), (4, 8, 16, 32)), "FEW_CLUSTERS": (0, 10, 40),
    }),
    *numbers("multilevel", settling, {
        "IN_VAIN": (0.05, 1.0), "FM_MIN_ENTRIES": (0, 1 << 14), "ROUNDS": (1, 9),
    }),
    Change("no Fiduccia-Mattheyses", "multilevel", ((engine, "climb", as_it_is),)),
    Change("no regions merged by excess", "multilevel", ((engine, "merge_regions", not_at_all),)),
    *everywhere("multilevel", "ROUNDS", (1, 4), local_moving, local_moving, v_cycle),
    *numbers("multilevel", engine, {
        "MIN_REGIONS": (6, 24), "COARSER": (2.0, 8.0), "UNCLEAR": (0.0, 0.05, 0.2, 1.0),
    }),
    *numbers("multilevel", family_tree, {"CYCLES_OF_A_CHILD": (1, 9)}),
    *everywhere("multilevel", "BUDGET", (0, 10**7), v_cycle, v_cycle, engine),
    *numbers("multilevel", v_cycle, {"HEAVY": (1.0, 4.0, 1e9)}),
    *everywhere("multilevel", "LARGEST_SHARE", (0.9,), v_cycle, v_cycle, engine),
    Change("first V-cycles 1 -> 3", "multilevel", ((door, "EFFORTS", matched(engine.Cycles(3, 1))),)),
    Change("V-cycles inside clusters 1 -> 3", "multilevel", ((door, "EFFORTS", matched(engine.Cycles(1, 3))),)),
    Change("new partitions", "multilevel", ((door, "EFFORTS", matched(engine.Cycles(1, 1, 1 << 17))),)),
    Change("effort low", "multilevel", options=(("effort", "low"),)),
    Change("effort high", "multilevel", options=(("effort", "high"),)),
    Change("no V-cycles inside clusters", "multilevel", ((engine, "improve", as_it_is),)),
    Change("no recombination", "multilevel", tuple((m, "recombine", best_parent) for m in (engine, family_tree))),
    Change("no V-cycle by a ratio", "multilevel", ((engine, "accept_likelier", as_it_is),)),
    Change("clusters need not be connected", "multilevel", ((engine, "connect", as_it_is),)),
    *numbers("two-step", coreset_parents, {
        "FIRST_REGIONS": (1, 3, 5), "LINKS": (15.0, 60.0), "SETTLED": (1e-2, 1e-5),
    }),
    *numbers("two-step", in_memory, {"CRUMB": (0.0, 0.1), "MIN_RELATIVE_CHANGE": (0.005, 0.1)}),
    *numbers("two-step", shared_neighbors, {"MOST_NEIGHBORS": (1.0, 3.0, 1e9), "MOST_VISITORS": (4, 32)}),
    Change("sampling uniform", "two-step", options=(("sampling", "uniform"),)),
    Change("one round over pieces", "two-step", ((coreset_parents, "part_pieces", one_round),)),
    Change("any region may be the nearest", "two-step", ((in_memory, "extend_labels", to_any_region),)),
    Change("coreset linked as published", "two-step", ((in_memory, "link_coreset", one_step_graph),)),
]  # fmt: skip

# These follow from others, or only choose: which of two ways to the same labels is quicker, how many cores are made use
# of, what is round-off, and when work is given up that gains nothing. REGION_SIZES, FINEST, FINER and WORTH_A_CYCLE are
# for a free number of clusters; families are for high effort; REGION_SHARE and NODES_PER_CLUSTER for bounds on sizes.
# FEW, MOST and TURNS are for clusters that no edge links, LOWEST, HIGHEST, WIDE and FEWEST_NODES for levels. SKIPPED
# saves memory. LEFT_BY_JOINING, LITTLE_IN_COMMON, VERY_DENSE and PROBES choose a method before the engine is asked.
NOT_VARIED = {
    "FIRST", "FINEST", "LARGEST_SHARE", "MIN_RELATIVE_CHANGE", "WORTH_A_THREAD", "WORTH_A_CYCLE", "WORTH_THREADS",
    "FAMILY", "SPARE_ENTRIES", "ENTRIES_PER_CALL", "MANY", "VALUE_RTOL", "PATIENCE", "REGION_SIZES", "REGION",
    "NODES_PER_REGION", "MANY_NODES", "ZERO_LIKELIHOOD", "LEAST_SIGNAL", "WEIGHTS_AT_A_TIME",
    "CORESETS_IN_VAIN", "UNSETTLED", "CHUNK", "CHUNKS_PER_THREAD", "OPENED_PER_NODE", "FINER",
    "REGION_SHARE", "NODES_PER_CLUSTER", "AT_ONCE", "FEW", "MOST", "TURNS", "LOWEST", "HIGHEST", "WIDE", "FEWEST_NODES",
    "NODES_PER_BLOCK", "LONG_ROW", "SKIPPED", "LEFT_BY_JOINING", "LITTLE_IN_COMMON", "VERY_DENSE", "PROBES",
}  # fmt: skip

COARSE_PLANTED = ("20x1000:8:2", "20x1000:12:2:dc:unbalanced", "100x200:12:3", "20x2000:8:8")
CORESET_PLANTED = (
    "50x1000:20:4", "50x1000:8:2", "40x1000:30:3:dc:unbalanced", "20x5000:12:3", "60x10000:8:3", "50x20000:12:4:dc",
    "200x700:16:3:unbalanced",
)  # fmt: skip
MESHES, MESH_CLUSTERS = ("Delaunay, 20,000 points", "grid 100 x 100"), (5, 20)
TREE_CLUSTERS = (2, 5, 20)
WEIGHTED = ("fb100_Caltech36_dorm", "planetoid_pubmed")
REAL = (
    "email-Eu-core", "graphdata_amazon_photo", "planetoid_cora", "fb100_Caltech36_dorm", "karateclub_facebook",
    "planetoid_pubmed",
)  # fmt: skip


def few_large_ones() -> tuple[Any, np.ndarray]:
    """Two large blocks among sixty small ones, of which a node has 10 links inside and 9 outside."""
    sizes = np.array([1500, 1000, *[40] * 60])
    drawn = gc.stochastic_block_model(sizes.tolist(), (10 / sizes).tolist(), 9 / sizes.sum(), rng=1)
    return drawn.graph.to_scipy(), drawn.labels


class Case(NamedTuple):
    """truth : None where there are no clusters to agree with."""

    kind: str
    matrix: Any
    k: int
    truth: np.ndarray | None


def cases(method: str) -> Iterator[Case]:
    """The graphs that a method is tried on."""
    for spec in COARSE_PLANTED if method == "multilevel" else CORESET_PLANTED:
        matrix, truth = largest_component(*planted(spec))
        yield Case("planted", matrix, int(truth.max()) + 1, truth)
    if method == "multilevel":
        matrix, truth = largest_component(*few_large_ones())
        yield Case("planted", matrix, int(truth.max()) + 1, truth)
    matrix, truth = largest_component(*planted("20x1000:12:2"))
    for kind in ("exponential", "log-normal"):
        yield Case("weighted", with_random_weights(matrix, kind), 20, truth)
    if method == "multilevel":
        for name in REAL:
            matrix, truth = real(name)
            yield Case("real", matrix, int(truth.max()) + 1, truth)
            if name in WEIGHTED:
                for kind in ("exponential", "log-normal"):
                    yield Case("weighted", with_random_weights(matrix, kind), 20, None)
        for name in ("satellite", "pendigits"):
            distances, truth = largest_component(*nearest_neighbors(name, 15))
            yield Case("k-NN", (distances > 0).astype(np.float64), int(truth.max()) + 1, truth)
        for name, matrix in meshes():
            for k in MESH_CLUSTERS if name in MESHES else ():
                yield Case("mesh", matrix, k, None)
        for k in TREE_CLUSTERS:
            yield Case("tree", nx.to_scipy_sparse_array(nx.balanced_tree(3, 7), dtype=float, format="csr"), k, None)


class Run(NamedTuple):
    """Of one graph, objective and seed; lacking(labels) is what the labels lack of the best conceivable value."""

    seconds: float
    labels: np.ndarray
    lacking: Callable[[np.ndarray], float]


def run(case: Case, objective: str, change: Change, seed: int) -> Run:
    with ExitStack() as stack:
        for patch in change.patches:
            stack.enter_context(mock.patch.object(*patch))
        found = gc.coreset_sc(
            case.matrix, case.k, method=change.method, objective=objective, rng=seed, **dict(change.options)
        )
    seconds = sum(found.seconds.values())
    if objective == "normalized_cut":
        return Run(seconds, found.labels, lambda labels: gc.normalized_cut(case.matrix, labels))
    at = found.resolution
    return Run(seconds, found.labels, lambda labels: 1.0 - gc.modularity(case.matrix, labels, resolution=at))


def row_of(change: Change, method_cases: list[Case], as_is: dict[tuple, Run], repeats: int) -> list[str]:
    lost: dict[str, list[float]] = {kind: [] for kind in KINDS}
    agreement, ratios, spreads = [], [], []
    for place, case in enumerate(method_cases):
        for objective in OBJECTIVES:
            before = [as_is[change.method, place, objective, seed] for seed in range(repeats)]
            after = [run(case, objective, change, seed) for seed in range(repeats)]
            lacking = [one.lacking(one.labels) for one in before]
            changed = [one.lacking(other.labels) for one, other in zip(before, after, strict=True)]
            lost[case.kind].append(float(np.mean(changed) / np.mean(lacking) - 1.0))
            spreads.append(spread_over_seeds(np.divide(changed, lacking)))
            ratios.append(np.median([one.seconds for one in after]) / np.median([one.seconds for one in before]))
            if objective == "modularity" and case.truth is not None:
                pairs = ([gc.adjusted_rand_index(one.labels, case.truth) for one in runs] for runs in (after, before))
                new, old = (np.mean(values) for values in pairs)
                agreement.append(new - old)
    costs = [f"{100 * np.mean(lost[kind]):+.2f}" if lost[kind] else "" for kind in KINDS]
    times = f"{np.exp(np.log(ratios).mean()):.2f}"
    return [change.method, change.what, *costs, percent(np.mean(spreads), 1.0), f"{np.mean(agreement):+.3f}", times]


def read_rows() -> dict[str, list[str]]:
    """The rows measured so far, by method and change."""
    return json.loads(ROWS.read_text()) if ROWS.exists() else {}


def measure(changes: list[Change], repeats: int, end: float, keep: bool) -> None:
    """Measure the rows of changes, and keep each once it is there; none is begun after the end."""
    for method in dict.fromkeys(change.method for change in changes):
        if time.monotonic() > end:
            break
        unchanged = Change("as it is", method)
        method_cases = list(cases(method))
        run(method_cases[0], "modularity", unchanged, 0)  # compile
        run(method_cases[-1], "normalized_cut", unchanged, 0)
        as_is = {
            (method, place, objective, seed): run(case, objective, unchanged, seed)
            for place, case in enumerate(method_cases)
            for objective in OBJECTIVES
            for seed in range(repeats)
        }
        for change in (change for change in changes if change.method == method):
            if time.monotonic() > end:
                break
            row = shown(row_of(change, method_cases, as_is, repeats))
            if keep:
                ROWS.write_text(json.dumps(read_rows() | {f"{method}: {change.what}": row}, indent=1) + "\n")


def main() -> None:
    options = asked(__doc__, repeats=2, only=[], seconds=np.inf, beside_other_work=False)
    known, end = read_rows(), time.monotonic() + options.seconds
    as_it_is = [Change("as it is", method) for method in dict.fromkeys(change.method for change in CHANGES)]
    everything = sorted([*as_it_is, *CHANGES], key=lambda change: [one.method for one in as_it_is].index(change.method))
    wanted = [change for change in everything if is_wanted(change.what, options.only)]
    if not options.only:
        wanted = [change for change in wanted if f"{change.method}: {change.what}" not in known]
    measure(wanted, options.repeats, end, not options.only)
    rows, known = [], read_rows()
    for change in everything:
        rows += [known[name]] if (name := f"{change.method}: {change.what}") in known else []
    notes = (
        "A number stands before the arrow as it is, after it as it was tried. Seeds are the same in both; in the rows "
        "named as it is nothing was changed, so that what they differ by in time is noise. Spread is half the range of "
        f"the value lost over the {options.repeats} seeds, on average."
    )
    if options.beside_other_work:
        notes += " Other work ran beside: the times are not to be compared."
    header = ["method", "change", *(f"{kind}, value lost %" for kind in KINDS), "spread, %", "ARI", "times as it is"]
    write_table("ablation", "What each number and step is worth", header, rows, notes, len(rows) == len(everything))


if __name__ == "__main__":
    main()
