"""`graphclust info`, `convert` and `knn`: say what is in a graph, and write graphs, of files and of points."""

import argparse
import io
import json
import os
from typing import TYPE_CHECKING

from graphclust.errors import GraphClustError, GraphFormatError, GraphValidationError, ParameterError, amount
from graphclust.faces.cli import options as shared
from graphclust.faces.cli.terminal import (
    as_file,
    in_the_shell,
    input_name,
    show,
    standard_input,
    standard_output,
    tell,
    temporary_copy,
)

if TYPE_CHECKING:
    from graphclust import Graph

MOST_FAULTS = 10  # that are looked for: each takes another reading of the file
MOST_BYTES = 64 << 20  # of text; a larger file is not read again
BY_LINE = ("snap", "csv")  # formats of which a line can be left out without harm to the others
WHERE = ".mtx, .txt, .tsv, .csv, .graph, .graphml, .gml, .gexf (each also .gz), .npz; or - for standard output"
STORE = "store"
POINTS = "a row for each point: .npy, .npz, .csv, .tsv or .txt, or - for any of these from standard input"


def describe(command: shared.Parser) -> shared.Runner:
    """Say what is in a graph; of an edge list that cannot be read, tell all faults."""
    from graphclust.faces.describe import as_text, graph_facts, proposals_for

    shared.add_graph_file(command)

    def run(options: argparse.Namespace) -> None:
        """Load, describe and print."""
        try:
            graph, info = shared.load_input(options)
        except GraphFormatError as fault:
            *others, last = faults_of(options, fault)
            for other in others:
                tell(str(other))
            raise last from None
        facts = graph_facts(graph, info)
        facts["proposals"] = proposals_for(facts, shared.reading_options_in_words(options))
        show(json.dumps(facts) if options.report == "json" else in_the_shell(as_text(facts)))

    return run


INFO = shared.Command(
    "info", "say what to know of a graph before clustering it", describe,
    "graphclust info graph.mtx.gz          what is in it, and the memory that clustering needs",
    "graphclust info karate --report json  the same for programs",
)  # fmt: skip


def faults_of(options: argparse.Namespace, first: GraphFormatError) -> list[GraphClustError]:
    """The first fault of a file, and those that reading it without their lines shows; one of no line is the last."""
    from graphclust.io.read_file import recognize
    from graphclust.io.text.byte_source import open_source
    from graphclust.io.text.records import COMMENTS

    faults: list[GraphClustError] = [first]
    if first.line is None or not os.path.isfile(options.file):
        return faults
    with open_source(options.file, options.max_bytes) as source:
        if (options.format or recognize(source)) not in BY_LINE:
            return faults
        lines = b"".join(source.blocks(MOST_BYTES, options.progress)).split(b"\n")
    data = (i for i, text in enumerate(lines, 1) if text.strip() and not text.lstrip().startswith(COMMENTS))
    if sum(map(len, lines)) > MOST_BYTES or first.line <= next(data, 0):  # by its first edge a file is known
        return faults
    line: int | None = first.line
    while line is not None and len(faults) < MOST_FAULTS:
        lines[line - 1] = b""
        try:
            with temporary_copy(io.BytesIO(b"\n".join(lines)), options.file, ".txt") as path:
                shared.load_input(argparse.Namespace(**vars(options) | {"file": path, "quiet": False}))
            break  # what remains is a graph
        except GraphClustError as fault:
            after = getattr(fault, "line", None)
            if after is not None and after <= line:
                break
            faults.append(fault)
            line = after
    return faults


def convert(command: shared.Parser) -> shared.Runner:
    """Write a graph in another format, and say what was written."""
    shared.add_graph_file(command)
    command.add_argument("output", metavar="OUTPUT", type=shared.as_output, help=f"file to write: {WHERE}")
    add_format(command, STORE)
    shared.add_shared(command, "--force")

    def run(options: argparse.Namespace) -> None:
        """Load, save, and say what was written."""
        if options.to == STORE:
            if options.drop_loops or options.round_weights is not None:
                raise ParameterError("--drop-loops and --round-weights are for other formats than a store; omit them")
            shared.check_output(options.output, options.force, options.file, of_store=True)
            graph = _write_store(options)
        else:
            check_graph_output(options, never=options.file)
            graph, _ = shared.load_input(options)
            write_graph(options, graph)
        if not options.quiet and options.output != "-":
            show("\n".join([f"{options.output}: {graph}", *(f"  note: {remark}" for remark in graph.remarks)]))

    return run


def _write_store(options: argparse.Namespace) -> "Graph":
    """The graph as a store: of a file of any size, or of what has to be loaded first."""
    from graphclust.io.save import save_store
    from graphclust.io.store.convert import convert_to_store

    with as_file(options.file) as path:
        if os.path.isfile(path):
            given = shared.reading_of(options) | {"overwrite": options.force, "progress": options.progress}
            return convert_to_store(path, options.output, **given)
    graph, _ = shared.load_input(options)
    return save_store(options.output, graph, overwrite=options.force)


CONVERT = shared.Command(
    "convert", "write the graph of a file in another format", convert,
    "graphclust convert graph.tar.gz graph.npz              for quick loading from here on",
    "graphclust convert edges.csv graph.metis.gz --to metis",
    "graphclust convert calls.csv graph.npz --source caller --target callee --weight minutes",
    "graphclust convert graph.mtx graph.gexf                for Gephi; .graphml for Cytoscape and yEd",
    "graphclust convert huge.txt.gz huge.store --to store   a folder that is mapped, of a file larger than memory",
    "graphclust convert graph.mtx - | graphclust cluster - -k 4 -o -   in a pipe",
)  # fmt: skip


def join_neighbors(command: shared.Parser) -> shared.Runner:
    """Read points, join each with its nearest, write the graph and say how large it is."""
    from graphclust.io.text.points import points_of, read_points
    from graphclust.points.neighbors.graphs import RULES, WEIGHTS, knn_graph
    from graphclust.points.neighbors.search import METHODS, METRICS, SYNONYMS

    add = command.add_argument
    add("points", metavar="POINTS", help=POINTS)
    add("-k", type=int, default=15, metavar="K", help="neighbors of each point (15)")
    add("-o", "--output", required=True, metavar="GRAPH", type=shared.as_output, help=f"write the graph here: {WHERE}")
    add_format(command)
    add(
        "--metric", choices=(*METRICS, *SYNONYMS), default="euclidean",
        help="what is near (euclidean); precomputed: the rows are distances to all points",
    )  # fmt: skip
    add("--method", choices=METHODS, default="exact", help="how to search (exact)")
    add("--n-probes", type=int, default=16, metavar="N", help="lists an approximate search looks through (16)")
    add("--symmetrize", choices=RULES, default="union", help="which pairs to join (union)")
    add("--weights", choices=WEIGHTS, help="weights of the edges: by a scale for each point, or those of UMAP; else 1")
    shared.add_shared(command, "--seed", "--force")
    command.set_defaults(parameters=["metric", "method", "n_probes", "symmetrize", "weights"])

    def run(options: argparse.Namespace) -> None:
        check_graph_output(options, never=options.points, option="-o ")
        name = options.points
        points = points_of(standard_input(), input_name(name)) if name == "-" else read_points(name)
        graph = knn_graph(points, options.k, **shared.parameters_of(options, None))
        write_graph(options, graph)
        if not options.quiet and options.output != "-":
            show(f"{amount(graph.n_nodes, 'node')}, {amount(graph.n_edges, 'edge')} in {options.output}")

    return run


KNN = shared.Command(
    "knn", "join each point of a file with its nearest neighbors", join_neighbors,
    "graphclust knn points.npy -k 15 -o graph.mtx.gz             then: graphclust cluster graph.mtx.gz -k 10",
    "graphclust knn table.csv -k 15 --weights gaussian -o graph.mtx",
    "graphclust knn cells.npy -k 14 --metric cosine --weights umap -o graph.npz   as UMAP joins 15, itself included",
    "graphclust knn points.npy -k 15 --method approximate -o graph.mtx",
    "zcat table.csv.gz | graphclust knn - -o - | graphclust cluster - -k 10   in a pipe",
)  # fmt: skip


def add_format(parser: argparse.ArgumentParser, *others: str) -> None:
    """The option that says in which format; others : those that only this command knows."""
    from graphclust.io.save import PIPED, SAVED_FORMATS

    add = parser.add_argument
    add(
        "--to", choices=(*SAVED_FORMATS, *others),
        help=f"the format to write, whatever the ending is; by default {PIPED}, edges between tabs, into a pipe",
    )  # fmt: skip
    add("--drop-loops", action="store_true", help="leave self-loops out, as METIS needs it")
    add(
        "--round-weights", type=float, metavar="FACTOR",
        help="multiply weights by this and round them to whole numbers, at least 1, as METIS needs it",
    )  # fmt: skip


def check_graph_output(options: argparse.Namespace, never: str, option: str = "") -> None:
    """Settle the format, and refuse an impossible output; never : the input. option : the one that names the output."""
    from graphclust.io.save import PIPED, format_of

    if options.output == "-":
        options.to = options.to or PIPED
        return
    try:
        options.to = format_of(options.output, options.to)
    except ParameterError as problem:
        raise ParameterError(str(problem).replace("path=", option).replace("pass format=", "pass --to")) from None
    shared.check_output(options.output, options.force, never=never)


def write_graph(options: argparse.Namespace, graph: "Graph") -> None:
    """Write it as asked for, to standard output in place of a report."""
    from graphclust.io.save import content_of, fit_for_writing, save_graph

    try:
        graph, said = fit_for_writing(graph, options.to, options.drop_loops, options.round_weights)
        content = content_of(graph, options.to) if options.output == "-" else None
        if content is None:
            save_graph(options.output, graph, format=options.to, overwrite=options.force)
    except GraphValidationError as problem:
        raise GraphValidationError(str(problem).replace("format=", "to=")) from None
    if content is not None:
        with standard_output() as out:
            content.write(out.buffer)
    if said:
        tell("; ".join(said))
