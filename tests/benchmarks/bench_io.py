"""Reading graph files: time beside numpy.loadtxt, pandas.read_csv and scipy.io.mmread.

    python bench_io.py [lines, 10 million by default]

A list of edges is read in the order of its sources, as SNAP's are, and in random order; each program reads it in turn,
five times, and the best time counts. "edges" is what the others do too: numbers in arrays. "graph" is all of
`load_graph`: symmetric sorted rows, checked; "... to graph" is what a user of the other reader does next, with NumPy
and SciPy and without any check, for the same rows.
"""

import pathlib
import sys
import tempfile
import warnings

import numpy as np
from harness import write_table
from scipy import io as scipy_io
from scipy import sparse
from tools import timed

from graphclust.io.formats.matrix_market import read_matrix_market
from graphclust.io.load import load_graph
from graphclust.io.text.byte_source import open_source
from graphclust.io.text.edge_lines import Reading
from graphclust.io.text.edge_list import read_edge_list
from graphclust.progress import Progress

SMALL = {".txt": "1 2\n", ".mtx": "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n"}  # of each kind


def write_files(folder: pathlib.Path, n_lines: int) -> dict[str, pathlib.Path]:
    """The same edges, sorted and not, and as matrices with and without values."""
    rng = np.random.default_rng(518)
    n = n_lines // 10
    sources = np.sort(rng.integers(0, n, n_lines))
    targets = (sources + rng.integers(1, 200, n_lines)) % n
    weights = rng.random(n_lines)
    paths = {name: folder / f"{name}.txt" for name in ("sorted list", "shuffled list")}
    paths |= {name: folder / f"{name}.mtx" for name in ("pattern matrix", "real matrix")}
    write_lines(paths["sorted list"], "# FromNodeId\tToNodeId\n", "\t", sources, targets)
    order = rng.permutation(n_lines)
    write_lines(paths["shuffled list"], "", "\t", sources[order], targets[order])
    for field, columns in (("pattern", []), ("real", [weights])):
        header = f"%%MatrixMarket matrix coordinate {field} general\n{n} {n} {n_lines}\n"
        write_lines(paths[f"{field} matrix"], header, " ", sources + 1, targets + 1, *columns)
    return paths


def write_lines(path: pathlib.Path, header: str, between: str, *columns: np.ndarray) -> None:
    with path.open("w") as file:
        file.write(header)
        for start in range(0, len(columns[0]), 1 << 18):
            rows = zip(*(column[start : start + (1 << 18)].tolist() for column in columns), strict=True)
            file.write("".join(between.join(map(repr, row)) + "\n" for row in rows))


def edges_of(path: pathlib.Path) -> None:
    with open_source(path) as source:
        if path.suffix == ".mtx":
            read_matrix_market(source, Reading(), Progress())
        else:
            read_edge_list(source, Reading(), Progress())


def best_times(path: pathlib.Path, readers: dict, rounds: int = 5) -> dict[str, float]:
    """The best time of each reader, the readers taking turns."""
    best = dict.fromkeys(readers, float("inf"))
    for _ in range(rounds):
        for name, read in readers.items():
            best[name] = min(best[name], timed(read, path)[0])
    return best


def readers_of(path: pathlib.Path) -> dict:
    ours = {"edges": edges_of, "graph": lambda path: load_graph(path, return_info=True)}
    if path.suffix == ".mtx":
        others = {"scipy.io.mmread": scipy_io.mmread}
        return ours | others | {"scipy.io.mmread to graph": lambda path: rows_of_matrix(scipy_io.mmread(path), path)}
    import pandas

    n_skipped = int(path.stem == "sorted list")  # the other begins with an edge
    others = {
        "numpy.loadtxt": lambda path: np.loadtxt(path, dtype=np.int64),
        "pandas.read_csv": lambda path: pandas.read_csv(path, sep="\t", comment="#", header=None),
        "pandas, no comments": lambda path: pandas.read_csv(path, sep="\t", skiprows=n_skipped, header=None),
    }
    return ours | others | {
        "numpy.loadtxt to graph": lambda path: rows_of_list(others["numpy.loadtxt"](path)),
        "pandas, no comments, to graph": lambda path: rows_of_list(others["pandas, no comments"](path).to_numpy()),
    }  # fmt: skip


def rows_of_list(ends: np.ndarray) -> sparse.csr_array:
    """Rows of a list of edges (m, 2); the ids have no gaps worth renumbering, so that this is the least to do."""
    n = int(ends.max()) + 1
    matrix = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()
    matrix.data[:] = 1.0
    return symmetric_rows(matrix)


def rows_of_matrix(matrix: sparse.coo_array, path: pathlib.Path) -> sparse.csr_array:
    matrix = sparse.csr_array(matrix)
    if path.stem == "pattern matrix":  # repeated entries are one
        matrix.data[:] = 1.0
    return symmetric_rows(matrix)


def symmetric_rows(matrix: sparse.csr_array) -> sparse.csr_array:
    """The larger of the two directions of each edge, in sorted rows."""
    matrix = matrix.maximum(matrix.T.tocsr()).tocsr()
    matrix.sort_indices()
    return matrix


def main() -> None:
    n_lines = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    warnings.simplefilter("ignore")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        paths = write_files(pathlib.Path(name), n_lines)
        for ending, text in SMALL.items():  # compile
            (small := pathlib.Path(name) / f"small{ending}").write_text(text)
            load_graph(small, return_info=True)
        for what, path in paths.items():
            best = best_times(path, readers_of(path))
            for reader, seconds in best.items():
                rows.append([
                    what, reader, f"{seconds:.3f}", f"{path.stat().st_size / seconds / 1e6:.0f}",
                    f"{seconds / best['edges']:.2f}", f"{seconds / best['graph']:.2f}",
                ])  # fmt: skip
    columns = ["file", "reader", "seconds", "MB/s", "times our edges", "times our graph"]
    write_table("io", f"Reading {n_lines:,} lines", columns, rows)


if __name__ == "__main__":
    main()
