"""The command line: `graphclust cluster FILE -k K`, `graphclust info FILE`, `graphclust demo`, `graphclust compile`.

Results go to stdout, errors to stderr, and so does progress where that is a terminal. What takes time to import is
imported where it is used, so that Ctrl-C is quiet at any time.
"""

import argparse
import json
import os
import re
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from graphclust.graph.container import Graph
    from graphclust.io.load import LoadInfo
    from graphclust.progress import Progress

FAILED, WRONG_USE, INTERRUPTED = 1, 2, 130
EXIT_CODES = """exit codes: 0 done, even when a reader such as `head` closes the pipe before the end of the report (that
cannot always be noticed); 1 failed; 2 asked for something impossible; 130 interrupted"""
CLUSTER_EXAMPLES = """examples: `graphclust cluster graph.mtx.gz -k 20 -o labels.tsv` for the groups that people
recognise; `graphclust cluster karate -k 4 --objective normalized_cut` for the smallest cut; `graphclust cluster karate
-k 4 --resolution 1` for the usual modularity"""
# How the library speaks, and how a shell does: `weights="abs"` is `--weights abs`, `bipartite=True` is `--bipartite`.
_KEYWORD = re.compile(
    r"\b(weights|format|symmetrize|bipartite|method|objective|resolution|effort|components|coreset_size|memory_limit"
    r"|max_bytes|rng)=(True\b|'[^']*'|\"[^\"]*\"|)|\b(memory_limit|max_bytes)\b"
)
IN_THE_SHELL = {"force overwriting it": "overwrite it with --force", "path=": "-o "}


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        return _run(arguments)
    except KeyboardInterrupt:  # while Python was still importing
        return _fail("interrupted", INTERRUPTED, debug=False)


def _run(arguments: list[str] | None) -> int:
    from graphclust.errors import ConvergenceWarning, GraphClustError, GraphWarning, ParameterError
    from graphclust.progress import Progress

    options = _parser().parse_args(arguments)
    line = ProgressLine()
    try:
        with warnings.catch_warnings():
            for category in (GraphWarning, ConvergenceWarning):  # the reports carry these sentences
                warnings.simplefilter("ignore", category)
            options.run(options, Progress(line))
        return 0
    except KeyboardInterrupt:
        line.clear()
        return _fail("interrupted", INTERRUPTED, options.debug)
    except BrokenPipeError:
        if sys.stdout is None:
            return FAILED
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that closing stdout is quiet too
        return 0
    except (ParameterError, FileExistsError) as problem:
        line.clear()
        return _fail(str(problem), WRONG_USE, options.debug)
    except (GraphClustError, OSError, ValueError, TypeError, ImportError, MemoryError) as problem:
        line.clear()
        return _fail(_sentence(problem), FAILED, options.debug)
    except Exception as problem:
        line.clear()
        sentence = f"{type(problem).__name__}: {_sentence(problem)}; this is a fault of graphclust, --debug shows where"
        return _fail(sentence, FAILED, options.debug)


def _cluster(options: argparse.Namespace, progress: "Progress") -> None:
    from graphclust.errors import ParameterError
    from graphclust.io.writing import check_target
    from graphclust.partition.label_files import kind_of, write_labels
    from graphclust.partition.pipeline import coreset_sc

    if options.k < 1:
        raise ParameterError(f"-k {options.k} is out of range, expected at least 1 cluster")
    if options.output is not None:
        kind_of(options.output)
        try:
            check_target(options.output, options.force, never=options.file)
        except OSError as problem:
            raise ParameterError(str(problem)) from None
    graph, _ = _load(options, progress)
    clustering = coreset_sc(
        graph, options.k, method=options.method, objective=options.objective, resolution=options.resolution,
        effort=options.effort, components=options.components, coreset_size=options.coreset_size, rng=options.seed,
        progress=progress,
    )  # fmt: skip
    _clear(progress)
    if options.output is not None:
        write_labels(options.output, clustering, overwrite=options.force)
    _print(json.dumps(clustering.report()) if options.report == "json" else _in_the_shell(str(clustering)))


def _info(options: argparse.Namespace, progress: "Progress") -> None:
    from graphclust.faces.describe import as_text, describe

    graph, info = _load(options, progress)
    facts = describe(graph, info)
    _clear(progress)
    _print(json.dumps(facts) if options.report == "json" else _in_the_shell(as_text(facts)))


def _demo(options: argparse.Namespace, progress: "Progress") -> None:
    from graphclust.faces.demo import demo

    for page in demo(seed=options.seed, progress=progress):
        _clear(progress)
        _print(page)


def _compile(options: argparse.Namespace, progress: "Progress") -> None:
    from graphclust.faces.compilation import compile_ahead

    said = compile_ahead(progress)
    _clear(progress)
    _print(said)


def _load(options: argparse.Namespace, progress: "Progress") -> "tuple[Graph, LoadInfo | None]":
    """The graph of a file; or a classic by its name, where no file has it."""
    from graphclust.io import classics
    from graphclust.io.load import load_graph

    if not os.path.exists(options.file) and options.file in classics.NAMES:
        return classics.classic_graph(options.file)[0], None
    return load_graph(
        options.file, format=options.format, symmetrize=options.symmetrize, weights=options.weights,
        bipartite=options.bipartite, memory_limit=options.memory_limit, max_bytes=options.max_bytes,
        return_info=True, progress=progress,
    )  # fmt: skip


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USE, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    from graphclust import __version__
    from graphclust.io import classics
    from graphclust.io.load import FORMATS
    from graphclust.objective.objective import OBJECTIVES
    from graphclust.partition.options import COMPONENTS, EFFORTS, METHODS

    parser = _Parser(prog="graphclust", description="Cluster large sparse graphs into k parts.", epilog=EXIT_CODES)
    parser.add_argument("--version", action="version", version=f"graphclust {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command", parser_class=_Parser)

    everywhere = _Parser(add_help=False)
    everywhere.add_argument("--debug", action="store_true", help="show where in the program an error arose")
    file = _Parser(add_help=False)
    file.add_argument("file", metavar="FILE", help=f"a graph file, or one of {', '.join(classics.NAMES)}")
    file.add_argument("--format", choices=FORMATS, help="what the file is; by default its content decides")
    file.add_argument("--weights", choices=("file", "abs", "ignore"), help="take, make positive, or ignore its weights")
    file.add_argument(
        "--symmetrize", choices=("max", "sum"), default="max", help="how to join two directions of an edge (max)"
    )
    file.add_argument("--bipartite", action="store_true", help="make nodes of a matrix's rows, and of its columns")
    file.add_argument("--memory-limit", type=int, metavar="BYTES", help="most that the header of the file may ask for")
    file.add_argument("--max-bytes", type=int, metavar="BYTES", help="most that a compressed file may unpack to")
    file.add_argument("--report", choices=("text", "json"), default="text", help="how to print the result (text)")

    cluster = commands.add_parser(
        "cluster", parents=[file, everywhere], help="cluster the graph of a file into K parts", epilog=CLUSTER_EXAMPLES
    )
    cluster.add_argument("-k", type=int, required=True, metavar="K", help="number of clusters")
    cluster.add_argument("-o", "--output", metavar="LABELS", help="write each node's label here: .tsv, .json or .npz")
    cluster.add_argument("--coreset-size", type=int, metavar="M", help="draws of the sample, where one is taken")
    cluster.add_argument("--method", choices=METHODS, default="auto", help="how to cluster (auto)")
    cluster.add_argument(
        "--objective",
        choices=OBJECTIVES,
        help="what to make the parts for (modularity; with --method paper normalized_cut)",
    )
    cluster.add_argument(
        "--resolution", type=_resolution, metavar="auto|NUMBER",
        help="of modularity and constant_potts, higher for smaller parts: a number > 0, or what suits K (auto)",
    )  # fmt: skip
    cluster.add_argument("--effort", choices=EFFORTS, help="how much to try again (normal)")
    cluster.add_argument("--components", choices=COMPONENTS, help="whether tiny components may be clusters (large)")
    cluster.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of the random choices (0): same seed, same labels"
    )
    cluster.add_argument("--force", action="store_true", help="replace an output file that is there")
    cluster.set_defaults(run=_cluster)

    info = commands.add_parser(
        "info", parents=[file, everywhere], help="say what to know of a graph before clustering it"
    )
    info.set_defaults(run=_info)

    demo = commands.add_parser("demo", parents=[everywhere], help="cluster a planted graph, and a real one")
    demo.add_argument("--seed", type=int, default=0, metavar="S", help="of the random choices (0)")
    demo.set_defaults(run=_demo)

    ahead = commands.add_parser(
        "compile", parents=[everywhere], help="compile all loops ahead of time, for images and slow first calls"
    )
    ahead.set_defaults(run=_compile)
    return parser


def _resolution(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is neither 'auto' nor a number") from None


class ProgressLine:
    """A line on stderr for work of more than a second, rewritten as it goes on; only where that is a terminal."""

    def __init__(self, stream: Any = None, clock: Any = time.monotonic):
        self.stream = sys.stderr if stream is None else stream
        self.clock = clock
        self.on_terminal = self.stream is not None and self.stream.isatty()
        self.due = clock() + 1.0
        self.shown = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = self.clock()
        if now < self.due or not self.on_terminal:
            return
        self.due = now + 0.1
        bar = "#" * int(24 * done / max(total, 1))
        text = f"{stage:24s}{done / max(total, 1):4.0%}  [{bar:24s}]"
        self.stream.write(f"\r{text:{self.shown}s}")
        self.shown = len(text)
        self.stream.flush()

    def clear(self) -> None:
        """Wipe the line, so that what follows starts on a clean one."""
        if self.shown:
            self.stream.write("\r" + " " * self.shown + "\r")
            self.stream.flush()
            self.shown = 0


def _clear(progress: "Progress") -> None:
    if isinstance(progress.listener, ProgressLine):
        progress.listener.clear()


def _print(text: str) -> None:
    """Print at once, so that a reader who has gone is noticed here, and every time."""
    if sys.stdout is None:
        raise BrokenPipeError
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise OSError(problem.errno, f"cannot write to standard output: {problem.strerror}") from problem


def _sentence(problem: BaseException) -> str:
    """One line; the system's errors come with a number that helps nobody."""
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.strerror}: {problem.filename}" if problem.filename else problem.strerror
    return " ".join(str(problem).split()) or type(problem).__name__


def _in_the_shell(text: str) -> str:
    """What the library calls by Python's names, by the names of the options here."""
    text = _KEYWORD.sub(_as_option, text)
    for python, shell in IN_THE_SHELL.items():
        text = text.replace(python, shell)
    return text


def _as_option(keyword: re.Match[str]) -> str:
    name, value = keyword[1] or keyword[3], keyword[2]
    option = "--seed" if name == "rng" else "--" + name.replace("_", "-")
    return option if value in (None, "True") else f"{option} {value[1:-1]}"


def _fail(sentence: str, code: int, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exc()
    if sys.stderr is not None:
        print(f"graphclust: {_in_the_shell(sentence)}", file=sys.stderr)
    return code
