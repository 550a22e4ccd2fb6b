"""`graphclust cluster`, `communities`, `hierarchy` and `path`: cluster the graph of a file."""

import argparse
import json
import os
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any

from graphclust.errors import Interrupted, ParameterError
from graphclust.faces.cli import options as shared
from graphclust.faces.cli.terminal import in_the_shell, input_name, show, show_data

if TYPE_CHECKING:
    from graphclust import Clustering, ClusterPath
    from graphclust.profile.path import PathRow
    from graphclust.profile.select_k import SuggestedK, Suggestion

LABELS = (
    "write each node's label here: .tsv, .csv, .json, .npz, .part.K (as of METIS), .graphml or .gexf (the graph with "
    "its clusters), or - for standard output, in place of the report"
)
PAGE = "write a report for the browser here; takes some more clusterings"
LEVELS = (
    "write the clusters here: .json, .csv or .tsv (a row for each node and cluster), .nwk (Newick), or - for JSON on "
    "standard output, in place of the report"
)
BOUNDS = {"min_size": "the least nodes of a cluster", "max_size": "the most nodes of a cluster"}
REPEATS = 3  # clusterings without a tenth of the edges, for the stability of each cluster
BEYOND, AT_LEAST = 2, 20  # the path of a page goes to twice the k asked for, and to 20
ROWS_SHOWN = 20  # of a path


def cluster(command: shared.Parser) -> shared.Runner:
    """Into k parts."""
    from graphclust.coreset.options import Coreset
    from graphclust.partition.coreset_sc import coreset_sc

    shared.add_graph_file(command)
    command.add_argument("-k", type=int, metavar="K", help="number of clusters; by default what the graph shows")
    shared.add_outputs(command, "LABELS", LABELS, PAGE)
    command.add_argument("--coreset-size", type=int, metavar="M", help="draws of the sample, where one is taken")
    shared.add_parameters(
        command,
        coreset_sc,
        method="how to cluster",
        objective="what to make the parts for (modularity; with --method paper normalized_cut)",
        resolution="of all objectives but the cuts, higher for smaller parts: > 0, or what suits K (auto)",
        effort="how much to try again (normal); high takes 4 times as long, up to 14 times",
        components="which are searched: those that are worth a cluster (large), or others",
        **BOUNDS,
        time_budget="use so long to find a better partition",
    )
    shared.add_shared(command, "--node-weight")
    shared.add_kind(command)
    shared.add_shared(command, "--seed", "--force")

    def run(options: argparse.Namespace) -> None:
        if options.k is not None and options.k < 1:
            raise ParameterError(f"-k {options.k} is out of range, expected at least 1 cluster")
        coreset = None if options.coreset_size is None else Coreset(size=options.coreset_size)
        cluster_file(options, coreset_sc, k=options.k, coreset=coreset)

    return run


CLUSTER = shared.Command(
    "cluster", "cluster the graph of a file into K parts", cluster,
    "graphclust cluster graph.mtx.gz -k 20 -o labels.tsv        the groups that people recognize",
    "graphclust cluster karate                                  as many as the graph shows",
    "graphclust cluster karate -k 4 --objective normalized_cut  the smallest cut",
    "graphclust cluster karate -k 4 --resolution 1              the usual modularity",
    "graphclust cluster graph.txt -k 9 --min-size 30            none smaller; partition makes equal parts",
    "graphclust cluster graph.txt -k 9 --html report.html       with a page for the browser",
    "graphclust cluster big.mtx -k 500 --time-budget 60         what a minute can do",
    "zcat edges.gz | graphclust cluster - -k 8 -o - | sort -k 2n  in a pipe",
)  # fmt: skip


def cluster_at_resolution(command: shared.Parser) -> shared.Runner:
    """Into as many parts as a resolution makes."""
    from graphclust.partition.communities import communities

    shared.add_graph_file(command)
    command.add_argument(
        "--resolution", type=_resolutions, default=1.0, metavar="NUMBER",
        help="> 0, higher for smaller parts (1); of several files one, or one for each between commas",
    )  # fmt: skip
    shared.add_parameters(
        command,
        communities,
        objective="what to optimize",
        effort="how much to try",
        components="the largest leaves the nodes of others out",
        **BOUNDS,
        small="unite clusters below --min-size with others, or leave them out",
        connectivity=f"{shared.CONNECTIVITY} labeled -1",
        time_budget="use so long to find a better partition",
    )
    shared.add_shared(command, "--node-weight")
    shared.add_kind(command)
    shared.add_outputs(command, "LABELS", LABELS, PAGE)
    shared.add_shared(command, "--seed", "--force")
    return lambda options: cluster_file(options, communities, resolution=options.resolution)


def _resolutions(text: str) -> float | list[float]:
    """A number, or several between commas."""
    first, *others = shared.numbers(text)
    return [first, *others] if others else first


COMMUNITIES = shared.Command(
    "communities", "cluster the graph of a file at a resolution, into as many parts as that makes",
    cluster_at_resolution,
    "graphclust communities graph.mtx.gz -o labels.tsv          the communities of the usual modularity",
    "graphclust communities graph.txt --resolution 5            more and smaller ones",
    "graphclust communities graph.txt --effort high             close to the best partition known",
    "graphclust communities graph.txt --min-size 5 --max-size 100  none outside of these",
    "graphclust communities graph.txt --connectivity well       none that a few edges part: minimum cuts above log10 n",
    "graphclust communities calls.csv --kind directed           sources and targets, by directed modularity",
    "graphclust communities sales.csv --kind bipartite          customers with what they buy",
    "graphclust communities calls.csv mails.csv                 two graphs on the same nodes",
    "graphclust communities graph.txt --time-budget 60          the best that a minute finds",
)  # fmt: skip


def cluster_file(options: argparse.Namespace, function: Callable[..., "Clustering"], **more: Any) -> None:
    """Load the graph, cluster it by the function, write labels and page where asked to, and print the report."""
    from graphclust.results.label_files import kind_of, print_labels, write_labels

    if options.output not in (None, "-"):
        kind_of(options.output)
    written = shared.check_outputs(options, output="labels", html="page")
    graph = shared.load_kind(options)
    try:
        clustering = function(graph, **more, **shared.parameters_of(options, graph))
    except Interrupted as stop:
        if "labels" not in written:
            raise
        write_labels(options.output, stop.best, overwrite=options.force)
        raise KeyboardInterrupt(f"the best labels so far are in {options.output}") from None
    clustering.parameters.update(shared.reading_options(options))
    if "labels" in written:
        write_labels(options.output, clustering, overwrite=options.force)
    if options.html is not None:
        _write_page(options, clustering, **_beside(options, clustering))
    if options.output == "-":
        print_labels(clustering, show_data)
    else:
        shared.print_report(options, clustering, written)


def _beside(options: argparse.Namespace, clustering: "Clustering") -> dict[str, Any]:
    """How stable the clusters are and the path of k, for the page, unless the time budget is used up."""
    from graphclust.profile.path_builder import cluster_path

    beside: dict[str, Any] = {}
    common: dict[str, Any] = {"rng": options.seed, "progress": options.progress}
    if not options.progress.out_of_time():
        beside["certainty"] = clustering.certainty(n_repeats=REPEATS, **common)
    n_connected = int((~clustering.isolated).sum())
    if not options.progress.out_of_time():
        most = min(max(BEYOND * clustering.k, AT_LEAST), n_connected)
        ks = range(1, most + 1)
        beside["path"] = cluster_path(clustering.graph, ks, **common | {"objective": clustering.objective})
    return beside


def _write_page(options: argparse.Namespace, clustering: "Clustering", **beside: Any) -> None:
    from graphclust.faces.html.document import write_report

    beside |= {"title": os.path.basename(input_name(options.file)), "command": options.typed}
    write_report(options.html, clustering, overwrite=options.force, **beside)


def nest(command: shared.Parser) -> shared.Runner:
    """Into levels."""
    from graphclust.partition.hierarchy import hierarchy
    from graphclust.results.report import writer_for

    shared.add_graph_file(command)
    shared.add_parameters(
        command,
        hierarchy,
        max_size="most that a cluster of the last level holds",
        min_size="clusters of less join a sibling",
        resolution="of the coarsest level, > 0 (what the graph shows, or 1)",
        levels="at most so many",
        connectivity=f"{shared.CONNECTIVITY} alone",
        objective="what to optimize",
        effort="how much to try for the first level",
        time_budget="after so long only finish, with the levels so far",
    )
    shared.add_outputs(command, "LEVELS", LEVELS, "write a report for the browser here, with a picture of the levels")
    shared.add_kind(command)
    shared.add_shared(command, "--seed", "--force")

    def run(options: argparse.Namespace) -> None:
        """Cluster into levels, write them where asked to, and print the report."""
        if options.output not in (None, "-"):
            writer_for(options.output)
        files = shared.check_outputs(options, output="levels", html="page")
        graph: Any = shared.load_kind(options)
        levels = hierarchy(graph, **shared.parameters_of(options, graph))
        levels.parameters.update(shared.reading_options(options))
        if "levels" in files:
            levels.save(options.output, overwrite=options.force)
        if options.html is not None:  # of the coarsest level, with a section on all
            _write_page(options, levels.cut(len(levels.ids[0])), hierarchy=levels)
        if options.output == "-":
            show_data(levels.to_json())
            return
        sizes = [levels.sizes_on(level).tolist() for level in range(len(levels.levels))]
        facts = {**levels.origin, "sizes": sizes, "remarks": list(levels.remarks), "written": files.get("levels")}
        facts |= {} if options.html is None else {"page": options.html}
        shared.print_report(options, levels, files, facts)

    return run


HIERARCHY = shared.Command(
    "hierarchy", "cluster the graph of a file into nested levels", nest,
    "graphclust hierarchy edges.csv --max-size 10 -o levels.json   down to clusters of 10 nodes",
    "graphclust hierarchy edges.csv -o levels.csv                  the levels that the graph shows",
    "graphclust hierarchy edges.csv --max-size 10 -o tree.nwk      for a viewer of trees",
    "graphclust hierarchy edges.csv --max-size 10 --html page.html with a page for the browser",
    "graphclust hierarchy calls.csv --max-size 10 --kind directed  sources and targets",
)  # fmt: skip


def cluster_for_every_k(command: shared.Parser) -> shared.Runner:
    """Into every number of parts of a range."""
    from graphclust.profile.path_builder import cluster_path, default_ks

    shared.add_graph_file(command)
    command.add_argument("--from", dest="least", type=int, default=1, metavar="K", help="smallest number of parts (1)")
    most = "largest (3 sqrt(nodes), 1000 at most, or more for many small parts)"
    command.add_argument("--to", dest="most", type=int, metavar="K", help=most)
    shared.add_parameters(
        command,
        cluster_path,
        max_imbalance="how much more than the average cluster one may hold, such as 0.03 for 3 %%",
        objective="what to make the parts for",
        components="which are searched",
        **BOUNDS,
        time_budget="after so long only finish, with the best so far",
    )
    shared.add_shared(command, "--node-weight", "--seed")

    def run(options: argparse.Namespace) -> None:
        """Make the path, and print its rows, the suggestion and why."""
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
        found = path, path.suggest(progress=options.progress)
        show(json.dumps(_path_as_data(*found)) if options.report == "json" else _path_as_text(*found))

    return run


def _path_as_data(path: "ClusterPath", suggestion: "Suggestion") -> dict[str, Any]:
    """Rows and suggestion as plain values; infinite resolutions, and what there was no time for, are null."""

    def known(value: float) -> float | None:
        return value if isfinite(value) else None

    def as_data(row: "PathRow | SuggestedK") -> dict[str, Any]:
        return row._asdict() | {"best_range": [*map(known, row.best_range)]}

    rows = [as_data(row) | {"sizes": row.sizes.tolist()} for row in path.table()]
    candidates = [as_data(one) | {"stability": known(one.stability)} for one in suggestion.candidates]
    said = {"k": suggestion.k, "clear": suggestion.clear, "reasons": list(suggestion.reasons)}
    said |= {"candidates": candidates, "nats_saved": known(suggestion.nats_saved)}
    return path.origin | {"objective": path.objective, "rows": rows, "suggestion": said, "seconds": dict(path.seconds)}


def _path_as_text(path: "ClusterPath", suggestion: "Suggestion") -> str:
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


PATH = shared.Command(
    "path", "cluster into every number of parts at once", cluster_for_every_k,
    "graphclust path karate                                     the k that the graph shows, and why",
    "graphclust path graph.mtx --from 2 --to 50 --report json   the figures of every k in between",
    "graphclust path graph.mtx --min-size 30                    only the k that clusters of 30 nodes allow",
)  # fmt: skip
