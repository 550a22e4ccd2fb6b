"""Look for better cuts and modularities of public graphs, and keep those that beat datasets/records/.

    python bench_records.py [--seeds 5] [--seconds 200] [--only NAME ...] [--from-seed 0]

For every graph under 100,000 nodes that $GRAPHCLUST_DATA has: the smallest normalized cuts and ratio cuts into 2, 5, 20
and as many parts as there are classes, for normalized cuts 100 as well, and the highest modularity at resolution 1.
Ours at high effort; METIS for the cuts, igraph's Leiden until nothing changes for modularity, and both improved by
`refine_partition`. A record's seconds are those of the one run that found it. --seconds is when the search stops; with
--only and --from-seed it goes on elsewhere. Run it on one core.
"""

import pathlib
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
from harness import asked, is_wanted
from peers_data import graphs_folder, real_graph, real_names
from tools import LEIDEN, METIS, leiden, timed

import graphclust

RECORDS = pathlib.Path(__file__).parents[2] / "datasets" / "records"
sys.path.insert(0, str(RECORDS))
from check import Component, Refused, Table, largest_component, read_graph  # noqa: E402

KS, MOST_NODES = (2, 5, 20), 100_000
# Where the graphs are published, as repositories on GitHub.
SOURCES = {
    "altsoph": "altsoph/community_loglike", "email-Eu-core": "AashwinS05/Social-Network-Analysis",
    "fb100": "timpostuvan/link-prediction-facebook100", "graphchallenge": "graphchallenge/GraphChallenge",
    "graphdata": "EdisonLeeeee/GraphData", "heterophilous": "yandex-research/heterophilous-graphs",
    "karateclub": "benedekrozemberczki/karateclub", "livejournal": "feilong0309/EvaluationFramework",
    "metis_PGP": "networkit/networkit", "metis_delaunay": "KaHIP/KaHIP", "planetoid": "kimiyoung/planetoid",
    "sdcn": "bdy9527/SDCN", "snap": "JuliaGraphs/SNAPDatasets.jl",
}  # fmt: skip

Found = tuple[str, str, np.ndarray, float]  # tool, version, labels, seconds


def attempts(matrix, objective: str, k: int | None, seed: int) -> Iterator[Found]:
    """Partitions by every tool."""
    ours = version("graphclust")
    if k is None:
        seconds, found = timed(graphclust.communities, matrix, effort="high", rng=seed)
    else:
        options = {"objective": objective, "effort": "high", "rng": seed}
        seconds, found = timed(graphclust.coreset_sc, matrix, k, **options)
    yield "graphclust, high effort", ours, found.labels, seconds
    if k is None:
        tool, tool_version, (labels, seconds) = LEIDEN.name, version("igraph"), leiden(-1).run(matrix, 0, seed)
    else:
        tool, tool_version, (labels, seconds) = METIS.name, version("pymetis"), METIS.run(matrix, k, seed)
    yield tool, tool_version, labels, seconds
    if len(np.unique(labels)) == labels.max() + 1:
        options = {"objective": objective, "resolution": 1.0 if k is None else None, "rng": seed}
        more, better = timed(graphclust.refine_partition, matrix, labels, **options)
        yield f"{tool}, graphclust's refine_partition", f"{tool_version}, {ours}", better, seconds + more


def search(name: str, component: Component, n_classes: int, seed: int, table: Table) -> None:
    """One attempt by every tool at every record of a graph."""
    source = next(place for start, place in SOURCES.items() if name.startswith(start))
    wanted = sorted({*KS, n_classes} - {0, 1})
    tasks: list[tuple[str, int | None]] = [
        ("normalized_cut", k) for k in [*wanted, 100] if k < len(component.inside) / 4
    ]
    tasks += [("ratio_cut", k) for k in wanted if k < len(component.inside) / 4]
    tasks += [("modularity", None)]
    for objective, k in dict.fromkeys(tasks):
        for tool, tool_version, labels, seconds in attempts(component.matrix, objective, k, seed):
            parts = len(np.unique(labels))
            if k is not None and parts != k:
                continue
            submission: dict[str, Any] = {
                "graph": name, "objective": objective, "k": parts, "tool": tool, "version": tool_version,
                "seconds": round(seconds, 3), "date": time.strftime("%Y-%m-%d", time.gmtime()), "source": source,
            }  # fmt: skip
            try:
                value = table.keep(submission, np.unique(labels, return_inverse=True)[1], component)
            except Refused:
                continue
            print(f"{name} {objective} {k}: {value:.8g} by {tool}, seed {seed}", flush=True)


def main() -> None:
    options = asked(__doc__, seeds=5, from_seed=0, seconds=200.0, only=[])
    stop = time.perf_counter() + options.seconds
    table = Table()
    for name in real_names():
        if not is_wanted(name, options.only):
            continue
        component = largest_component(read_graph(name))
        if component.matrix.shape[0] > MOST_NODES:
            continue
        classes = real_graph(graphs_folder() / f"{name}.npz")[1][component.inside]
        n_classes = len(np.unique(classes[classes >= 0]))
        for seed in range(options.from_seed, options.from_seed + options.seeds):
            if time.perf_counter() > stop:
                sys.exit(f"stopped before {name}, seed {seed}")
            search(name, component, n_classes, seed, table)
    table.write_page()


if __name__ == "__main__":
    main()
