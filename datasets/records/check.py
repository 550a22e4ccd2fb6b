"""Check partitions of public graphs against the best values known, and keep the better ones.

    python datasets/records/check.py                          # all that is kept, against the graphs
    python datasets/records/check.py SUBMISSION.json          # would this one be kept?
    python datasets/records/check.py SUBMISSION.json --keep   # keep it, and write README.md anew
    python datasets/records/check.py --pages                  # README.md from records.json alone

SUBMISSION.json holds an object, such as

    {"graph": "planetoid_cora", "objective": "normalized_cut", "k": 7, "labels": "cora.txt",
     "tool": "METIS", "version": "5.1.0", "seconds": 0.01, "date": "2026-11-27", "source": "..."}

labels : a text file beside it, plain or compressed by xz: a whole number a line for each node of the graph's file, in
its order; 0 to k - 1 inside the largest connected component, -1 outside. source : where the graph is published; needed
only for a graph that the table does not have. The value is recomputed from the labels and the graph: what a submission
says of it is not read.

A graph NAME is read from graphs/NAME.npz in the folder that $GRAPHCLUST_DATA names; a name such as
"suitesparse:SNAP/com-Amazon" is fetched.
"""

import argparse
import datetime
import hashlib
import json
import lzma
import os
import pathlib
import sys
import zipfile
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

HERE = pathlib.Path(__file__).parent
# Values differ by rounding in the last digits; a record is beaten by more than that.
LEAST_GAIN = 1e-9
TEXTS = ("graph", "objective", "labels", "tool", "version", "date")
NEEDED = (*TEXTS, "k", "seconds")
FEWER_IS_BETTER = {"normalized_cut": True, "ratio_cut": True, "modularity": False}
WORDS = {"normalized_cut": "Normalized cut", "ratio_cut": "Ratio cut", "modularity": "Modularity at resolution 1"}
BEGIN, END = "<!-- made by check.py -->\n", "<!-- end -->\n"

Record = dict[str, Any]


class Refused(Exception):
    """A submission that is not kept; the text says why, and what to do."""


class Component(NamedTuple):
    """The largest connected component of a graph: what every value is of.

    matrix : symmetric weights, shape (n, n). inside : which nodes of the graph are in it, bool, shape (n_nodes,).
    facts : what is kept of the graph: its sizes and its hash.
    """

    matrix: sparse.csr_matrix
    inside: np.ndarray
    facts: dict[str, Any]


def read_graph(name: str) -> sparse.csr_matrix:
    """The symmetric weights of a graph by its name; Refused where it is not at hand."""
    if ":" in name:
        from graphclust import load_graph

        try:
            return sparse.csr_matrix(load_graph(name).to_scipy())
        except (OSError, ValueError) as problem:
            raise Refused(f"graph {name!r} cannot be fetched: {problem}") from problem
    if pathlib.PurePath(name).name != name:
        raise Refused(f"graph {name!r} is a path, expected the name of a file of graphs/ without .npz")
    folder = os.environ.get("GRAPHCLUST_DATA")
    if not folder:
        raise Refused(f"graph {name!r}: set GRAPHCLUST_DATA to a folder that holds graphs/{name}.npz")
    file = pathlib.Path(folder) / "graphs" / f"{name}.npz"
    if not file.is_file():
        raise Refused(f"graph {name!r}: {file} is not there")
    try:
        with file.open("rb") as source, np.load(source, allow_pickle=False) as stored:
            n, indptr, indices = int(stored["n"]), stored["indptr"], stored["indices"]
        return sparse.csr_matrix((np.ones(len(indices)), indices, indptr), shape=(n, n))
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile) as problem:
        raise Refused(f"graph {name!r}: {file} does not hold indptr, indices and n of a graph: {problem}") from problem


def hash_of(matrix: sparse.csr_matrix) -> str:
    """SHA-256 of the number of nodes and the edges (u, v, weight) with u <= v in order, as little-endian 64-bit."""
    upper = sparse.triu(matrix, format="csr").tocoo()
    upper.sum_duplicates()
    order = np.lexsort((upper.col, upper.row))
    digest = hashlib.sha256(np.int64(matrix.shape[0]).astype("<i8").tobytes())
    for column, kind in ((upper.row, "<i8"), (upper.col, "<i8"), (upper.data, "<f8")):
        digest.update(column[order].astype(kind).tobytes())
    return digest.hexdigest()


def largest_component(matrix: sparse.csr_matrix) -> Component:
    """The largest component and the facts of the graph; of equal ones, that of the first node."""
    _, component = csgraph.connected_components(matrix, directed=False)
    inside = component == np.bincount(component).argmax()
    part = sparse.csr_matrix(matrix[inside][:, inside])
    facts = {
        "nodes": matrix.shape[0],
        "edges": int(sparse.triu(matrix).nnz),
        "component_nodes": part.shape[0],
        "component_edges": int(sparse.triu(part).nnz),
        "sha256": hash_of(matrix),
    }
    return Component(part, inside, facts)


def value_of(matrix: sparse.csr_matrix, labels: np.ndarray, objective: str) -> float:
    """The objective of a partition, by its definition.

    normalized_cut : sum over clusters of cut / volume. ratio_cut : sum of cut / number of nodes. modularity : sum of
    inside / total - (volume / total)^2, where inside counts every edge twice.
    """
    k = int(labels.max()) + 1
    edges = matrix.tocoo()
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    volumes = np.bincount(labels, degrees, k)
    within = labels[edges.row] == labels[edges.col]
    inside = np.bincount(labels[edges.row][within], edges.data[within], k)
    if objective == "modularity":
        return float(np.sum(inside / volumes.sum() - (volumes / volumes.sum()) ** 2))
    return float(np.sum((volumes - inside) / (volumes if objective == "normalized_cut" else np.bincount(labels))))


def read_labels(file: pathlib.Path, component: Component, k: int) -> np.ndarray:
    """The labels of the component's nodes, int64; Refused where they are not a partition of it into k clusters."""
    if not file.is_file():
        raise Refused(f"labels: {file} is not there")
    opener = lzma.open if file.suffix == ".xz" else open
    try:
        with opener(file, "rt") as lines:
            labels = np.array([int(line) for line in lines], dtype=np.int64)
    except (ValueError, OverflowError, lzma.LZMAError, EOFError, OSError) as problem:
        raise Refused(f"labels: {file.name} is not a whole number a line: {problem}") from problem
    n = len(component.inside)
    if len(labels) != n:
        raise Refused(f"labels: {file.name} has {len(labels)} lines, expected one for each of {n} nodes")
    if (labels[~component.inside] != -1).any():
        raise Refused("labels: nodes outside of the largest component have clusters, expected -1 there")
    labels = labels[component.inside]
    if k > len(labels):
        raise Refused(f"k is {k}, expected at most {len(labels)}, the nodes of the largest component")
    if labels.min() < 0 or labels.max() >= k:
        raise Refused(f"labels: from {labels.min()} to {labels.max()} in the largest component, expected 0 to {k - 1}")
    empty = np.flatnonzero(np.bincount(labels, minlength=k) == 0)
    if len(empty):
        raise Refused(f"labels: {len(empty)} of {k} clusters are empty, the first is {empty[0]}; expected none")
    return labels


def write_labels(file: pathlib.Path, component: Component, labels: np.ndarray) -> None:
    """Labels of all nodes of the graph, clusters numbered in the order of their first nodes, compressed by xz."""
    _, first, place = np.unique(labels, return_index=True, return_inverse=True)
    whole = np.full(len(component.inside), -1)
    whole[component.inside] = np.argsort(np.argsort(first))[place]
    text = "\n".join(map(str, whole.tolist())) + "\n"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def better(value: float, than: float, objective: str) -> bool:
    """Whether a value beats another by more than rounding."""
    gain = (than - value) if FEWER_IS_BETTER[objective] else (value - than)
    return gain > LEAST_GAIN * max(abs(than), 1.0 if objective == "modularity" else 0.0)


class Table:
    """The records that are kept in a folder: records.json, labels/ and the table of README.md."""

    def __init__(self, folder: pathlib.Path = HERE) -> None:
        self.folder = folder
        file = folder / "records.json"
        contents = json.loads(file.read_text()) if file.exists() else {"graphs": {}, "records": []}
        self.graphs: dict[str, dict[str, Any]] = contents["graphs"]
        self.records: list[Record] = contents["records"]

    def find(self, graph: str, objective: str, k: int) -> Record | None:
        """The record of a graph, an objective and a number of clusters; modularity has one for all numbers."""
        for record in self.records:
            same_k = objective == "modularity" or record["k"] == k
            if record["graph"] == graph and record["objective"] == objective and same_k:
                return record
        return None

    def value_if_better(self, submission: Record, labels: np.ndarray, component: Component) -> float:
        """The value of a partition of the component; Refused where the graph or the value is not what it has to be."""
        name, objective, k = submission["graph"], submission["objective"], submission["k"]
        known = self.graphs.get(name)
        if known is None and not submission.get("source"):
            raise Refused(f"graph {name!r} is new here, expected 'source': where it is published")
        if known is not None and known["sha256"] != component.facts["sha256"]:
            raise Refused(
                f"graph {name!r} is not the one of the table: SHA-256 {component.facts['sha256'][:12]}..., expected "
                f"{known['sha256'][:12]}..."
            )
        value, record = value_of(component.matrix, labels, objective), self.find(name, objective, k)
        if record is not None and not better(value, record["value"], objective):
            side = "below" if FEWER_IS_BETTER[objective] else "above"
            raise Refused(f"{objective} is {value:.10g}, expected {side} {record['value']:.10g}, which is kept")
        return value

    def keep(self, submission: Record, labels: np.ndarray, component: Component) -> float:
        """Put a better partition in the place of the record; Refused as by `value_if_better`."""
        value = self.value_if_better(submission, labels, component)
        name, objective, k = submission["graph"], submission["objective"], submission["k"]
        if name not in self.graphs:
            self.graphs[name] = {"source": submission["source"], **component.facts}
        stem = f"{name.replace(':', '.').replace('/', '.')}.{objective}"
        file = f"labels/{stem}.xz" if objective == "modularity" else f"labels/{stem}.{k}.xz"
        old = self.find(name, objective, k)
        if old is not None:
            self.records.remove(old)
        write_labels(self.folder / file, component, labels)
        facts = {key: submission[key] for key in ("tool", "version", "seconds", "date")}
        self.records.append({"graph": name, "objective": objective, "k": k, "value": value, "labels": file, **facts})
        self.write()
        return value

    def write(self) -> None:
        """records.json, a line a graph and a record, in the order of names."""
        order = {objective: place for place, objective in enumerate(FEWER_IS_BETTER)}
        self.records.sort(key=lambda record: (record["graph"], order[record["objective"]], record["k"]))
        graphs = ",\n".join(f"{json.dumps(name)}: {json.dumps(self.graphs[name])}" for name in sorted(self.graphs))
        records = ",\n".join(json.dumps(record) for record in self.records)
        text = f'{{"graphs": {{\n{graphs}\n}},\n"records": [\n{records}\n]}}\n'
        unfinished = self.folder / "records.json.part"
        unfinished.write_text(text)
        unfinished.replace(self.folder / "records.json")

    def page(self) -> str:
        """The tables of README.md: graphs, then the records of each objective."""
        lines = ["| graph | published in | nodes | edges | in the largest component | SHA-256 |", "|" + "---|" * 6]
        for name, facts in sorted(self.graphs.items()):
            inside = f"{facts['component_nodes']:,}, {facts['component_edges']:,}"
            cells = (f"`{name}`", facts["source"], f"{facts['nodes']:,}", f"{facts['edges']:,}", inside)
            lines.append("| " + " | ".join(cells) + f" | `{facts['sha256'][:12]}` |")
        for objective, words in WORDS.items():
            lines += ["", f"## {words}", ""]
            per_k = FEWER_IS_BETTER[objective]
            lines.append("| graph | k | value |" + (" value / k |" if per_k else "") + " tool | seconds | date |")
            lines.append("|" + "---|" * (7 if per_k else 6))
            for record in self.records:
                if record["objective"] == objective:
                    cells = [f"`{record['graph']}`", str(record["k"]), f"{record['value']:.8g}"]
                    cells += [f"{record['value'] / record['k']:.6g}"] if per_k else []
                    cells += [f"{record['tool']} {record['version']}", f"{record['seconds']:.3g}", record["date"]]
                    lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines) + "\n"

    def write_page(self) -> None:
        """README.md with its tables made anew."""
        readme = self.folder / "README.md"
        before, _, rest = readme.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        readme.write_text(before + BEGIN + "\n" + self.page() + "\n" + END + after)


def read_submission(file: pathlib.Path) -> Record:
    """The object of a submission; Refused where something is missing or is not what it should be."""
    try:
        submission = json.loads(file.read_text())
    except (OSError, ValueError, RecursionError) as problem:
        raise Refused(f"{file}: not a JSON object: {problem}") from problem
    if not isinstance(submission, dict):
        raise Refused(f"{file}: a {type(submission).__name__}, expected a JSON object")
    missing = [name for name in NEEDED if name not in submission]
    if missing:
        raise Refused(f"{file}: {', '.join(missing)} missing")
    for name in (*TEXTS, *(["source"] if submission.get("source") is not None else [])):
        text = submission[name]
        if not isinstance(text, str) or not text.strip() or not text.isprintable() or "|" in text:
            raise Refused(f"{name} is {text!r}, expected a line of text without '|'")
    try:
        datetime.datetime.strptime(submission["date"], "%Y-%m-%d")
    except ValueError as problem:
        raise Refused(f"date is {submission['date']!r}, expected one such as '2026-11-27'") from problem
    if submission["objective"] not in FEWER_IS_BETTER:
        raise Refused(f"objective is {submission['objective']!r}, expected one of {', '.join(FEWER_IS_BETTER)}")
    k, seconds = submission["k"], submission["seconds"]
    if type(k) is not int or k < 2:
        raise Refused(f"k is {k!r}, expected a whole number of at least 2")
    if type(seconds) not in (int, float) or not 0 <= seconds <= sys.float_info.max:
        raise Refused(f"seconds is {seconds!r}, expected a number of at least 0")
    return submission


def check_all(table: Table) -> list[str]:
    """What is wrong with the records that are kept, a sentence each; graphs that are not at hand count as wrong."""
    wrong, components = [], {}
    for record in table.records:
        name = record["graph"]
        where = f"{name}, {record['objective']}, k = {record['k']}"
        try:
            if name not in components:
                components = {name: largest_component(read_graph(name))}
            component = components[name]
            if component.facts != {key: table.graphs[name][key] for key in component.facts}:
                raise Refused("the graph is not the one of the table")
            labels = read_labels(table.folder / record["labels"], component, record["k"])
            value = value_of(component.matrix, labels, record["objective"])
            if abs(value - record["value"]) > LEAST_GAIN * max(abs(value), 1e-3):
                raise Refused(f"the labels have {value!r}, the table says {record['value']!r}")
        except Refused as problem:
            wrong.append(f"{where}: {problem}")
    return wrong


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("submission", nargs="?", type=pathlib.Path, metavar="SUBMISSION.json")
    parser.add_argument("--keep", action="store_true", help="put it into the table if it is better")
    parser.add_argument("--pages", action="store_true", help="only write README.md anew")
    options = parser.parse_args(arguments)
    table = Table()
    if options.pages:
        table.write_page()
        return
    if options.submission is None:
        wrong = check_all(table)
        sys.exit("\n".join(wrong) if wrong else print(f"{len(table.records)} records are what they say"))
    try:
        submission = read_submission(options.submission)
        component = largest_component(read_graph(submission["graph"]))
        labels = read_labels(options.submission.parent / submission["labels"], component, submission["k"])
        if options.keep:
            value = table.keep(submission, labels, component)
            table.write_page()
        else:
            value = table.value_if_better(submission, labels, component)
    except Refused as problem:
        sys.exit(f"refused: {problem}")
    print(f"{'kept' if options.keep else 'better'}: {submission['objective']} {value:.10g}")


if __name__ == "__main__":
    main()
