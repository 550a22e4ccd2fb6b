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

ADDRESS_SPACE, SECONDS = 3 << 30, 20
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
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "weights": None if graph.weights is None else graph.weights.tolist()[:20],
        "nodes": None if graph.nodes is None else [str(name) for name in graph.nodes[:20]],
        "format": info.format,
        "remarks": list(info.remarks),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
    }


def in_a_child(path: str, options: dict) -> dict:
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        signal.alarm(SECONDS)
        answer = load(path, options)
        with os.fdopen(send, "w") as file:
            json.dump(answer, file)
        os._exit(0)
    os.close(send)
    with os.fdopen(receive) as file:
        answer = file.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(answer) if answer and status == 0 else {"error": "killed", "message": f"wait status {status}"}


def main() -> None:
    warnings.simplefilter("ignore")
    import networkx  # noqa: F401 - before any fork, like what is compiled here

    with tempfile.TemporaryDirectory() as folder:
        for text in (
            "0 1\n",
            "0 1 2\n",
            "2 1\n2\n1\n",
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n",
        ):
            path = os.path.join(folder, "warm")
            with open(path, "w") as file:
                file.write(text)
            load(path, {})
        load(path, {"format": "metis"})
    for line in sys.stdin:
        print(json.dumps(in_a_child(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
