"""`graphclust path FILE`: the partition into every k at once, and which k the graph shows."""

import argparse
import json
from math import isnan
from typing import TYPE_CHECKING, Any

from graphclust.errors import ParameterError
from graphclust.faces.cli import options as shared
from graphclust.faces.cli.terminal import in_the_shell, show

if TYPE_CHECKING:
    from graphclust import ClusterPath
    from graphclust.profile.path import PathRow
    from graphclust.profile.select_k import Suggestion

ROWS_SHOWN = 20


def add_to(command: shared.Parser) -> None:
    """Add its arguments."""
    from graphclust.profile.path_builder import cluster_path

    shared.add_graph_file(command)
    command.add_argument("--from", dest="least", type=int, default=1, metavar="K", help="smallest number of parts (1)")
    most = "largest (3 sqrt(nodes), 1000 at most, or more for many small parts)"
    command.add_argument("--to", dest="most", type=int, metavar="K", help=most)
    share = "how much more than the average cluster one may hold, such as 0.03 for 3 %%"
    command.add_argument("--imbalance", dest="max_imbalance", type=float, metavar="SHARE", help=share)
    command.set_defaults(parameters=["max_imbalance"])
    shared.add_parameters(
        command,
        cluster_path,
        objective="what to make the parts for",
        components="which are searched",
        min_size="the least nodes of a cluster",
        max_size="the most nodes of a cluster",
        time_budget="after so long only finish, with the best so far",
    )
    shared.add_node_weight(command)
    shared.add_seed(command)


def run(options: argparse.Namespace) -> None:
    """Make the path, and print its rows, the suggestion and why."""
    from graphclust.profile.path_builder import cluster_path, default_ks

    if options.least < 1:
        raise ParameterError(f"--from {options.least} is out of range, expected at least 1")
    graph, _ = shared.load_input(options)
    ks = None
    if options.most is not None or options.least > 1:
        most = options.most if options.most is not None else max(options.least, default_ks(graph)[-1])
        if most < options.least:
            raise ParameterError(f"--to {most} is less than --from {options.least}")
        ks = range(options.least, most + 1)
    path = cluster_path(graph, ks, **shared.parameters_of(options, graph))
    suggestion = path.suggest(progress=options.progress)
    show(json.dumps(as_data(path, suggestion)) if options.report == "json" else as_text(path, suggestion))


def as_data(path: "ClusterPath", suggestion: "Suggestion") -> dict[str, Any]:
    """Rows and suggestion as plain values; infinite resolutions, and what there was no time for, are null."""
    rows = [
        row._asdict() | {"sizes": row.sizes.tolist(), "best_range": _finite(row.best_range)} for row in path.table()
    ]
    candidates = [
        one._asdict() | {"best_range": _finite(one.best_range), "stability": _known(one.stability)}
        for one in suggestion.candidates
    ]
    found = {"k": suggestion.k, "clear": suggestion.clear, "reasons": list(suggestion.reasons)}
    found |= {"candidates": candidates, "nats_saved": _known(suggestion.nats_saved)}
    return path.origin | {
        "objective": path.objective, "rows": rows, "suggestion": found, "seconds": dict(path.seconds)
    }  # fmt: skip


def as_text(path: "ClusterPath", suggestion: "Suggestion") -> str:
    """A page for the terminal: rows of the widest ranges, the suggestion with its reasons, and what it came from."""
    from graphclust.results.report import origin_in_lines

    rows = path.table()
    widest = sorted(rows, key=_width, reverse=True)[:ROWS_SHOWN]
    shown = {row.k for row in widest} | {suggestion.k}
    lines = [f"{path.graph.n_nodes:,} nodes, k from {path.ks[0]} to {path.ks[-1]}"]
    if path.sizes is not None:  # rows are of the unions; only clusters asked for are brought within the bounds
        lines[0] += " within the bounds, with the figures of the clusters without them"
    if len(rows) > len(shown):
        lines[0] += f"; the {len(shown)} with the widest ranges of resolution:"
    lines.append("       k   normalized cut   modularity   largest   smallest   best at resolution")
    for row in rows:
        if row.k in shown:
            low, high = row.best_range
            best = f"{low:.3g} to {high:.3g}" if low < high else "none"
            lines.append(
                f"{row.k:8d} {row.normalized_cut:16.4f} {row.modularity:12.4f} {row.sizes[0]:9,d} {row.sizes[-1]:10,d}"
                f"   {best}"
            )
    reasons = [f"  {in_the_shell(reason)}" for reason in suggestion.reasons]
    return "\n".join([*lines, "", f"suggestion: {suggestion.k}", *reasons, "", *origin_in_lines(path.origin)])


def _width(row: "PathRow") -> float:
    low, high = row.best_range
    return (high - low) / high if 0.0 < high < float("inf") else float(high > low)


def _finite(bounds: tuple[float, float]) -> list[float | None]:
    return [bound if bound < float("inf") else None for bound in bounds]


def _known(value: float) -> float | None:
    return None if isnan(value) else value


PATH = shared.Command(
    "path", "cluster into every number of parts at once", add_to, run,
    "graphclust path karate                                     the k that the graph shows, and why",
    "graphclust path graph.mtx --from 2 --to 50 --report json   the figures of every k in between",
    "graphclust path graph.mtx --min-size 30                    only the k that clusters of 30 nodes allow",
)  # fmt: skip
