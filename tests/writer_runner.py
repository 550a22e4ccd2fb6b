"""Write files and stores in processes that are killed as asked on stdin, and say how each ended.

The parent loads the package once, compiles what the writers need, and forks: a kill costs a fork, no import.

Asked for: {"writer": name, "folder": where, "new": whether to replace the old content by the new, "exchange": whether
two names can be exchanged in one step, "call": the number of the call of the file system in which to die, or "after":
the seconds after which to be killed}. Answered: {"status": of `wait`, and of an unharmed writer "calls": of the file
system that it made, "seconds": that it took}.
"""

import json
import os
import pathlib
import sys
import tempfile
import time
import warnings

from deaths import Calls, in_a_child

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))  # the package beside it, whatever else is installed

GRAPHS = (".mtx", ".mtx.gz", ".tsv", ".csv", ".graph", ".npz", ".graphml", ".gml", ".gexf")
LABELS = (".tsv", ".csv", ".json", ".npz", ".part", ".graphml", ".gexf")


def graphs():
    """The old and the new graph, each with its clustering, of sizes that tell them apart."""
    import graphclust

    pairs = [graphclust.stochastic_block_model([size] * 4, 0.1, 0.005, rng=0) for size in (250, 350)]
    return [(pair.graph, graphclust.coreset_sc(pair.graph, 4, rng=0)) for pair in pairs]


def writers(made) -> dict:
    """name -> write(folder, new)."""
    import graphclust
    from graphclust.faces.cli.main import main

    def graph(name):
        return lambda folder, new: graphclust.save_graph(folder / name, made[new][0], overwrite=True)

    def labels(name):
        return lambda folder, new: graphclust.write_labels(folder / name, made[new][1], overwrite=True)

    def command(*words):
        def write(folder, new):
            code = main([word.format(folder=folder, source=folder.parent / f"source{new}.tsv") for word in words])
            assert code == 0, code

        return write

    def fetch(folder, new):
        """A data set of the cache is not replaced: the old content is that nothing was there."""
        os.environ["GRAPHCLUST_CACHE"] = str(folder / "cache")
        if new:
            graphclust.fetch_suitesparse("Newman/karate")

    cluster = ("cluster", "{source}", "-k", "2", "-q", "--force", "-o")
    return {
        **{f"save_graph {ending}": graph(f"g{ending}") for ending in GRAPHS},
        **{f"write_labels {ending}": labels(f"l{ending}") for ending in LABELS},
        "save_store": lambda folder, new: graphclust.save_store(folder / "s", made[new][0], overwrite=True),
        "convert": lambda folder, new: graphclust.convert_to_store(
            folder.parent / f"source{new}.tsv", folder / "s", overwrite=True, memory_limit=60_000
        ),
        "convert an archive": lambda folder, new: graphclust.convert_to_store(
            folder.parent / f"source{new}.npz", folder / "s", overwrite=True
        ),
        "ClusterModel.save": lambda folder, new: made[new][1].model().save(folder / "m.npz", overwrite=True),
        "write_report": lambda folder, new: graphclust.write_report(folder / "p.html", made[new][1], overwrite=True),
        "fetch_suitesparse": fetch,
        "graphclust cluster -o": command(*cluster, "{folder}/l.json"),
        "graphclust convert": command("convert", "{source}", "{folder}/g.mtx", "-q", "--force"),
        "graphclust convert --to store": command("convert", "{source}", "{folder}/s", "--to", "store", "-q", "--force"),
        "graphclust knn": command("knn", "{folder}/../points.npy", "-k", "3", "-q", "--force", "-o", "{folder}/g.npz"),
    }  # fmt: skip


def warm_up(made, known: dict) -> None:
    """Import and load here what the children need: they are as many as the kills."""
    import filelock  # noqa: F401
    import numpy as np
    import platformdirs  # noqa: F401
    import requests  # noqa: F401

    import graphclust

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        graphclust.save_graph(folder / "sourceFalse.tsv", made[0][0])
        graphclust.save_graph(folder / "sourceFalse.npz", made[0][0])
        np.save(folder / "points.npy", np.random.default_rng(0).normal(size=(300, 3)))
        (folder / "out").mkdir()
        for write in known.values():
            write(folder / "out", False)


def main() -> None:
    warnings.simplefilter("ignore")
    made = graphs()
    known = writers(made)
    warm_up(made, known)
    print(json.dumps(list(known)), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("address"):
            os.environ["GRAPHCLUST_MIRROR"] = asked["address"]
        print(json.dumps(in_a_process(known[asked["writer"]], asked)), flush=True)


def in_a_process(write, asked: dict) -> dict:
    def work() -> str:
        if not asked.get("exchange", True):
            from graphclust.io import atomic_write

            atomic_write.exchange = lambda *_: False
        start, calls = time.perf_counter(), Calls(asked.get("call"))
        write(pathlib.Path(asked["folder"]), asked["new"])
        return json.dumps({"calls": calls.n, "seconds": time.perf_counter() - start})

    status, said = in_a_child(work, asked.get("after"))
    if status:
        print(said, file=sys.stderr)
    return {"status": status, **(json.loads(said) if status == 0 else {})}


if __name__ == "__main__":
    main()
