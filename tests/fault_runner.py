"""Load files given on stdin, each in a process of its own with little memory and time, and say what came of it.

The parent compiles nothing but what small files need, and forks while its threads are idle: a new interpreter for each
of a hundred files would take minutes.
"""

import json
import os
import pathlib
import resource
import signal
import sys
import tempfile
import traceback
import warnings

from deaths import in_a_child

ADDRESS_SPACE, SECONDS = 3 << 30, 20
KILLED = {"error": "killed"}
sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the package beside it, whatever else is installed


def load(path: str, options: dict) -> dict:
    from graphclust.io.load import load_graph

    try:
        graph, info = load_graph(path, return_info=True, **options)
    except Exception as problem:
        inner = traceback.extract_tb(problem.__traceback__)[-1].filename
        return {
            "error": type(problem).__name__,
            "kinds": [kind.__name__ for kind in type(problem).__mro__],
            "message": str(problem),
            "ours": "graphclust" in inner or isinstance(problem, OSError),
            "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
        }
    return {
        "n_nodes": graph.n_nodes, "n_edges": graph.n_edges,
        "weights": None if graph.weights is None else graph.weights.tolist()[:20],
        "nodes": None if graph.nodes is None else [str(name) for name in graph.nodes[:20]], "format": info.format,
        "remarks": list(info.remarks), "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
    }  # fmt: skip


def in_a_process(path: str, options: dict) -> dict:
    def work() -> str:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        signal.alarm(SECONDS)
        return json.dumps(load(path, options))

    status, said = in_a_child(work)
    return json.loads(said) if status == 0 and said[:1] == "{" else KILLED | {"message": f"wait status {status}"}


def main() -> None:
    warnings.simplefilter("ignore")
    import networkx  # noqa: F401 - before any fork, like what is compiled here

    with tempfile.TemporaryDirectory() as folder:
        matrix = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n"
        for text in ("0 1\n", "0 1 2\n", "2 1\n2\n1\n", matrix):
            path = os.path.join(folder, "warm")
            with open(path, "w") as file:
                file.write(text)
            load(path, {})
        load(path, {"format": "metis"})
    for line in sys.stdin:
        print(json.dumps(in_a_process(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
