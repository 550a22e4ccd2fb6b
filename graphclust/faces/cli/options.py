"""What a command is, and the options that several share, and their use."""

import argparse
import difflib
import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any, NoReturn, get_args, get_type_hints

from graphclust.errors import ParameterError, escape_controls
from graphclust.faces.cli.terminal import as_file, in_the_shell, input_name, show, tell
from graphclust.io.atomic_write import check_not_input, check_target

if TYPE_CHECKING:
    from graphclust import Graph, LoadInfo
    from graphclust.graph.layers import LayeredGraph
    from graphclust.io.edges import Edges

WRONG_USE = 2  # the exit code
CONNECTIVITY = "well, or a number that the minimum cut inside each cluster is above; nodes in none are"
COLUMNS = ("source", "target", "weight", "header")
ROWS = ("format", "symmetrize", "weights", "bipartite", "missing", "duplicates", "constraint", "encoding")
LIMITS = ("memory_limit", "max_bytes")
SHARED: dict[str, dict[str, Any]] = {
    "--seed": {"type": int, "default": 0, "metavar": "S", "help": "of the random choices (0): same seed, same labels"},
    "--force": {"action": "store_true", "help": "replace an output file that is there"},
    "--report": {"choices": ("text", "json"), "default": "text", "help": "how to print the result (text)"},
    "--node-weight": {
        "metavar": "FILE",
        "help": "bounds count these weights of the nodes: a number a line, or a table of names and weights, "
        "FILE:COLUMN",
    },
}


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line that names the command, and whose examples keep their lines.

    No option may be shortened: another option would then change what a script means, as --k would be --kind.
    """

    def __init__(self, **options: Any):
        given: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
        super().__init__(**given | options)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does; each command itself refuses unknown arguments, and suggests the nearest option."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._meant(unknown)}")
        return options, unknown

    def _meant(self, unknown: list[str]) -> str:
        word = next((word.partition("=")[0] for word in unknown if word.startswith("-")), "")
        near = difflib.get_close_matches(word.replace("_", "-"), self._option_string_actions, 1, 0.7) if word else []
        return f", did you mean {near[0]}?" if near else ""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USE, f"{self.prog}: {escape_controls(message)} (see {self.prog} --help)\n")


Runner = Callable[[argparse.Namespace], None]


class Command:
    """A command: its summary in the help, what adds its arguments and returns what runs it, and examples to type.

    add_to : returns None where the command's actions are commands in turn.
    """

    def __init__(self, name: str, summary: str, add_to: Callable[[Parser], Runner | None], *examples: str):
        self.name, self.summary, self.add_to = name, summary, add_to
        self.examples = "examples:\n" + "\n".join(f"  {line}" for line in examples)


def everywhere() -> Parser:
    """Options of every command."""
    parser = Parser(add_help=False)
    loudness = parser.add_mutually_exclusive_group()
    loudness.add_argument("-q", "--quiet", action="store_true", help="no progress, no report but of what was assumed")
    loudness.add_argument("-v", "--verbose", action="store_true", help="say on stderr how long each stage took")
    parser.add_argument("--threads", type=int, metavar="N", help="how many to work on (all); labels stay the same")
    parser.add_argument("--debug", action="store_true", help="show where in the program an error arose")
    return parser


def add_shared(parser: argparse.ArgumentParser, *options: str) -> None:
    """Some of the options that several commands have."""
    for option in options:
        parser.add_argument(option, **SHARED[option])


def add_graph_file(file: argparse.ArgumentParser, flag: str | None = None) -> None:
    """A graph's file, and how to read it; flag : the option that names the file, which then may be left out."""
    from graphclust.io.load import CLASSIC
    from graphclust.io.read_file import FORMATS

    add = file.add_argument
    what = "a graph file, a store, - for standard input, a data set like suitesparse:SNAP/com-DBLP, or one of "
    what += ", ".join(CLASSIC)
    named: dict[str, Any] = {"dest": "file"} if flag else {}
    add(flag or "file", metavar="FILE", help=what, **named)
    known = f"what the file is, one of {', '.join(FORMATS)}; by default its content decides"
    add("--format", choices=FORMATS, metavar="FORMAT", help=known)
    add("--weights", choices=("file", "abs", "ignore"), help="take, make positive, or ignore its weights")
    add("--symmetrize", choices=("max", "sum"), default="max", help="how to join two directions of an edge (max)")
    add(
        "--bipartite", action=argparse.BooleanOptionalAction,
        help="make nodes of a matrix's rows, and of its columns; of an edge list's sources, and of its targets",
    )  # fmt: skip
    for end, what in (("source", "one end"), ("target", "the other end"), ("weight", "the weight")):
        add(f"--{end}", type=_column, metavar="COLUMN", help=f"{what} of an edge in a table: a name, or a place from 0")
    add("--header", action=argparse.BooleanOptionalAction, help="whether the first line of a table names its columns")
    add("--missing", choices=("error", "drop", "keep"), default="error", help="of rows without an id (error)")
    add("--duplicates", choices=("sum", "max", "error"), default="sum", help="which weights of an edge count (sum)")
    add("--constraint", type=int, metavar="I", help="which weight of the nodes of a METIS file, from 0")
    add("--encoding", metavar="NAME", help="of a text that is not UTF-8, such as cp1252")
    add("--memory-limit", type=int, metavar="BYTES", help="most that the header of the file may ask for")
    add("--max-bytes", type=int, metavar="BYTES", help="most that a compressed file may unpack to")
    add_shared(file, "--report")


def _column(text: str) -> str | int:
    return int(text) if text.isascii() and text.isdigit() else text


def add_kind(command: argparse.ArgumentParser) -> None:
    """The options that say what kind of graph a file, or each of several, holds."""
    from graphclust.io.kinds import KINDS

    add = command.add_argument
    add("more", nargs="*", metavar="FILE", help="more graphs on the same nodes: each is a layer")
    add("--kind", choices=KINDS, help="what the graph is (undirected): sources and targets, two sides, or signs count")
    add("--layer-weights", type=numbers, metavar="W,W,...", help="what the files count, in their order (1 each)")
    add(
        "--normalize", action=argparse.BooleanOptionalAction, default=True,
        help="of several files, whether all count alike, or each edge (--normalize)",
    )  # fmt: skip


def numbers(text: str) -> list[float]:
    """Numbers between commas."""
    return [float(part) for part in text.split(",")]


def load_kind(options: argparse.Namespace) -> "Graph | LayeredGraph":
    """The graph of one kind of a file, or of several files, by the options of `add_kind`."""
    from graphclust.graph.layers import LayeredGraph
    from graphclust.io.kinds import as_layered

    files = [options.file, *options.more]
    graphs: dict[Any, Any] = {name: _load_one(argparse.Namespace(**vars(options) | {"file": name})) for name in files}
    if len(graphs) < len(files):
        raise ParameterError("a file is named twice, expected different ones")
    of_layers = {"layer_weights": options.layer_weights, "normalize": options.normalize}
    graph = as_layered(graphs if options.more else graphs[options.file], options.kind, **of_layers)
    if isinstance(graph, LayeredGraph) and getattr(options, "html", None) is not None:
        raise ParameterError(f"--html shows undirected graphs only, and the graph is {graph.kind}; leave it out")
    return graph


def _load_one(options: argparse.Namespace) -> "Graph | Edges":
    """The graph of a file, or its edges where directions, sides or signs count."""
    from graphclust.io.columns import Columns
    from graphclust.io.load import CLASSIC, edges_of_file

    is_toy = options.file in CLASSIC and not os.path.exists(options.file)
    if options.kind in (None, "undirected") or is_toy:
        return load_input(options)[0]
    rows, columns = _given(options, ROWS), Columns(**_given(options, COLUMNS))
    del rows["symmetrize"]
    weights = rows.pop("weights")
    rows["bipartite"] = rows["bipartite"] or options.kind == "bipartite" or None
    with as_file(options.file) as path:
        signs = "signed" if options.kind == "signed" and weights in (None, "file") else weights
        return edges_of_file(path, signs, columns=columns, **rows)


def _given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names}


def reading_of(options: argparse.Namespace) -> dict[str, Any]:
    """How a file is read, as `load_graph` and `convert_to_store` take it."""
    return _given(options, (*ROWS, *COLUMNS, *LIMITS))


def as_output(name: str) -> str:
    """A name for an output; those of standard output mean the same as "-"."""
    return "-" if name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1") else name


def reading_options(options: argparse.Namespace) -> dict[str, Any]:
    """The options of reading that are not the defaults, for the record."""
    defaults = {"symmetrize": "max", "missing": "error", "duplicates": "sum"}
    return {
        name: value for name, value in _given(options, ROWS).items() if value not in (None, False, defaults.get(name))
    }


def reading_options_in_words(options: argparse.Namespace) -> str:
    """The options by which another command reads the file as this one did, but for those of direction."""
    words = []
    for name in ("format", "weights", "source", "target", "weight"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    if options.header is not None:
        words.append("--header" if options.header else "--no-header")
    return shlex.join(words)


def load_input(options: argparse.Namespace, of_pattern: bool = False) -> "tuple[Graph, LoadInfo | None]":
    """The graph of a file, standard input, a classic or a data set; of_pattern : a matrix has weights if asked for."""
    from graphclust.datasets.fetch import describe_download
    from graphclust.io.columns import Columns
    from graphclust.io.load import CLASSIC, classic_graph, load_graph
    from graphclust.io.read_file import holds_values_of_matrix, refuse_columns_of

    if not os.path.exists(options.file) and options.file in CLASSIC:
        refuse_columns_of(Columns(**_given(options, COLUMNS)), "a graph without columns", options.file)
        return replace(classic_graph(options.file)[0], file=options.file), None
    expected = describe_download(options.file, options.memory_limit)
    if expected is not None:
        tell(expected)
    with as_file(options.file) as path:
        of_pattern = of_pattern and options.weights is None and holds_values_of_matrix(path)
        if of_pattern:
            options.weights = "ignore"
        graph, info = load_graph(path, return_info=True, progress=options.progress, **reading_of(options))
        if of_pattern:
            remark = "the values of the matrix are not used; --weights file takes them"
            graph = replace(graph, remarks=(*graph.remarks, remark))
        name = input_name(options.file)
        if options.quiet and info.repairs:  # no report will say it
            tell(f"{name}: {'; '.join(info.repairs)}")
        return (graph, info) if path == options.file else (replace(graph, file=name), replace(info, path=name))


def add_outputs(command: argparse.ArgumentParser, what: str, labels: str, page: str | None = None) -> None:
    """The options that say where the result goes and, if there is one, the page, with the help of each."""
    command.add_argument("-o", "--output", metavar=what, type=as_output, help=labels)
    if page is not None:
        command.add_argument("--html", metavar="PAGE", help=page)


def check_outputs(options: argparse.Namespace, **named: str) -> dict[str, str]:
    """The files to write by what they hold, which is named by option; impossible ones are refused before any work."""
    files: dict[str, str] = {}
    for name, what in named.items():
        file = getattr(options, name)
        if file is None or (file == "-" and name in ("output", "permutation")):
            continue
        for never in (options.file, *getattr(options, "more", [])):
            check_output(file, options.force, never)
        if _place_of(file) in {*map(_place_of, files.values())}:
            raise ParameterError(f"two outputs are named {file}, expected different files")
        files[what] = file
    return files


def check_output(output: str, force: bool, never: str, of_store: bool = False) -> None:
    """Refuse a file that cannot or must not be written before work is done for it; never : the input.

    of_store : it is the folder of a store. What the system refuses is a ParameterError too: the request is at fault.
    """
    from graphclust.io.store.store import check_store_target

    if output == "-" and of_store:
        raise ParameterError("a store is a folder, which standard output cannot hold; name one, or choose another --to")
    if output == "-":
        raise ParameterError("only -o and --permutation write to standard output, which - stands for; name a file")
    try:
        check_not_input(output, never)
        if of_store:
            check_store_target(output, force)
        else:
            check_target(output, force)
    except OSError as problem:
        raise ParameterError(str(problem)) from None


def _place_of(output: str) -> str:
    """The folder, with all links resolved, and the name of a file."""
    return os.path.join(os.path.realpath(os.path.dirname(output)), os.path.basename(output))


def add_parameters(command: argparse.ArgumentParser, function: Callable[..., Any], **words: str) -> None:
    """An option for each parameter of a function that has words, its help; the signature has its default and type."""
    parameters, hints = signature(function).parameters, get_type_hints(function)
    for name, text in words.items():
        default, kinds = parameters[name].default, list(_plain_types(hints[name]))
        choices = [kind for kind in kinds if isinstance(kind, str)]
        how: dict[str, Any] = {"default": default}
        if name in OWN:
            how |= OWN[name]
        elif choices:
            how["choices"] = choices
        elif bool in kinds:
            how["action"] = "store_true"
        else:
            how["metavar"] = "N" if int in kinds else "auto|NUMBER" if str in kinds else "NUMBER"
            how["type"] = int if int in kinds else number_or("auto") if str in kinds else float
        shown = "" if default in (None, False) or "(" in text else f" ({default})"
        flag = how.pop("flag", f"--{name.replace('_', '-')}")
        command.add_argument(flag, dest=name, help=text + shown, **how)
    command.set_defaults(parameters=[*words])


def _plain_types(hint: Any) -> Iterator[Any]:
    """The types that a hint joins, and the words of its literals."""
    parts = get_args(hint)
    if not parts or hint in (str, float):
        yield hint
    for part in parts:
        yield from _plain_types(part)


def parameters_of(options: argparse.Namespace, graph: Any) -> dict[str, Any]:
    """The parameters that `add_parameters` has made options of, and what all functions take."""
    given = _given(options, options.parameters)
    if getattr(options, "node_weight", None) is not None:
        from graphclust.io.node_weights import read_node_weights

        given["node_weight"] = read_node_weights(options.node_weight, graph)
    return given | {"rng": options.seed, "progress": options.progress}


def number(text: str) -> float:
    """A number; whole ones stay whole, so that messages say 20 and not 20.0."""
    return int(text) if text.isascii() and text.isdigit() else float(text)


def number_or(word: str | None = None) -> Callable[[str], str | float]:
    """What reads a number or a word: this one, or any."""

    def read(text: str) -> str | float:
        try:
            return float(text)
        except ValueError:
            if word not in (None, text):
                raise argparse.ArgumentTypeError(f"{text!r} is neither {word!r} nor a number") from None
            return text

    return read


OWN: dict[str, dict[str, Any]] = {  # how options are given whose parameter's type does not say it
    "time_budget": {"metavar": "SECONDS", "type": float},
    "min_size": {"metavar": "NODES", "type": number},
    "max_size": {"metavar": "NODES", "type": number},
    "connectivity": {"metavar": "WELL", "type": number_or()},
    "max_imbalance": {"flag": "--imbalance", "metavar": "SHARE", "type": float},
    "min_imbalance": {"metavar": "SHARE", "type": number_or("same")},
    "target_weights": {"metavar": "WEIGHT", "type": float, "nargs": "+"},
}


def print_report(
    options: argparse.Namespace, result: Any, files: dict[str, str], facts: dict[str, Any] | None = None
) -> None:
    """Print the result and the files that were written, as text, or as JSON its report, or facts in place of that."""
    if options.quiet:
        return
    if options.report == "json":
        show(json.dumps(facts or result.report() | {"written": files}))
    else:
        show("\n".join([in_the_shell(str(result)), *(f"  {f'{what} in':16s} {name}" for what, name in files.items())]))
