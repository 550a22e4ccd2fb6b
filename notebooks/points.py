"""Labeled points: the papers' data sets where $GRAPHCLUST_DATA has them, scikit-learn's digits everywhere.

`fetch_points` asks OpenML, by scikit-learn, for what is not there.
"""

import gzip
import os
import pathlib

import numpy as np
from provenance import note_data
from scipy import sparse

# The papers' data sets: name here -> name and version at OpenML; "rcv1" is fetched by scikit-learn's own fetcher.
OPENML = {
    "mnist_784": ("mnist_784", 1),
    "har": ("har", 1),
    "pendigits": ("pendigits", 1),
    "letter": ("letter", 1),
}


def available() -> list[str]:
    """Names that `points` knows here; "digits" always comes first."""
    folder = _folder()
    names = ["digits"]
    if folder is not None:
        names += [path.stem.removeprefix("feat_") for path in sorted(folder.glob("feat_*.npz"))]
        if (folder / "train-images-idx3-ubyte.gz").exists():
            names.append("mnist")
    return names


def points(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, d), float64, and their int64 classes (n,)."""
    X, classes = _points(name)
    note_data(name, X, classes)
    return X, classes


def fetch_points(name: str) -> tuple[np.ndarray | sparse.csr_array, np.ndarray]:
    """A data set of the papers: from $GRAPHCLUST_DATA where it is there, else from the network by scikit-learn.

    name : "mnist_784", "har", "pendigits", "letter", or "rcv1", whose points are sparse and whose classes are the
        first of each document's topics.

    Raises ValueError for another name, FileNotFoundError where the data are neither there nor to be had.
    """
    if name not in (*OPENML, "rcv1"):
        raise ValueError(f"name is {name!r}, expected one of {', '.join([*OPENML, 'rcv1'])}")
    here = {"mnist_784": "mnist"}.get(name, name)
    if here in available():
        return points(here)
    try:
        if name == "rcv1":
            from sklearn.datasets import fetch_rcv1

            found = fetch_rcv1(shuffle=False)
            X, classes = sparse.csr_array(found.data), np.asarray(found.target.argmax(axis=1)).ravel()
            note_data(name, X.data, X.indices, classes)
            return X, classes
        from sklearn.datasets import fetch_openml

        title, version = OPENML[name]
        found = fetch_openml(title, version=version, as_frame=False, parser="liac-arff")
    except OSError as problem:  # URLError, timeouts and refused connections are of this kind
        raise FileNotFoundError(
            f"points {name!r} are neither in $GRAPHCLUST_DATA nor to be had from the network ({problem}); "
            "set GRAPHCLUST_DATA to a folder whose features/ has them, or run this where there is a network"
        ) from problem
    X, classes = np.asarray(found.data, np.float64), np.unique(found.target, return_inverse=True)[1].astype(np.int64)
    note_data(name, X, classes)
    return X, classes


def _points(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "digits":
        from sklearn.datasets import load_digits

        return load_digits(return_X_y=True)
    folder = _folder()
    if folder is None or name not in available():
        raise FileNotFoundError(f"no points {name!r} here; set GRAPHCLUST_DATA to a folder with features/")
    if name == "mnist":
        images = [_idx(folder / f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784) for part in ("train", "t10k")]
        classes = [_idx(folder / f"{part}-labels-idx1-ubyte.gz", 8) for part in ("train", "t10k")]
        return np.concatenate(images).astype(np.float64), np.concatenate(classes).astype(np.int64)
    with np.load(folder / f"feat_{name}.npz", allow_pickle=False) as stored:
        return stored["X"].astype(np.float64), np.unique(stored["labels"], return_inverse=True)[1].astype(np.int64)


def _folder() -> pathlib.Path | None:
    folder = os.environ.get("GRAPHCLUST_DATA")
    return pathlib.Path(folder) / "features" if folder else None


def _idx(path: pathlib.Path, header: int) -> np.ndarray:
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)


def topics(n: int, n_words: int, n_topics: int, seed: int, own: float = 0.2) -> sparse.csr_array:
    """Documents as unit rows of tf-idf weights: words of Zipf frequency, a share `own` of them by the topic's ranking.

    It stands in for a corpus such as RCV1: about 50 different words a document.
    """
    rng = np.random.default_rng(seed)
    frequency = np.cumsum(1.0 / np.arange(1, n_words + 1))
    rows = np.repeat(np.arange(n), rng.poisson(72, n) + 1)
    ranks = np.searchsorted(frequency, rng.random(len(rows)) * frequency[-1])
    ranking = np.array([rng.permutation(n_words) for _ in range(n_topics)])
    of_topic = rng.random(len(rows)) < own
    words = np.where(of_topic, ranking[rng.integers(0, n_topics, n)[rows], ranks], ranks)
    X = sparse.csr_array((np.ones(len(rows)), (rows, words)), shape=(n, n_words))
    X.sum_duplicates()
    X.data = (1.0 + np.log(X.data)) * np.log(n / np.bincount(X.indices, minlength=n_words))[X.indices]
    X = sparse.diags_array(1.0 / np.sqrt(X.multiply(X).sum(axis=1))) @ X
    return sparse.csr_array(X.astype(np.float32))
