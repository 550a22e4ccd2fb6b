"""Kernel k-means: truncated mini-batches against full batch, plain and incremental; seconds beside ARI and NMI.

OPENBLAS_NUM_THREADS=1 GRAPHCLUST_DATA=<folder> python tests/benchmarks/bench_kernel_kmeans.py [letter] [pendigits] ...

Also mnist and rates. One BLAS thread for all methods: on a busy machine two wait for each other at every small product.
"""

import gzip
import os
import pathlib
import sys
import time

import numpy as np
from tables import write_table

from graphclust import (
    DenseKernel,
    GaussianKernel,
    Progress,
    adjusted_rand_index,
    kernel_kmeans,
    minibatch_kernel_kmeans,
    normalized_mutual_information,
    truncated_kernel_kmeans,
)

DATA = pathlib.Path(os.environ.get("GRAPHCLUST_DATA", "."))
SEEDS = range(3)


def features(name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(DATA / "features" / f"feat_{name}.npz") as stored:
        return stored["X"].astype(np.float32), stored["labels"].astype(np.int64)


def mnist() -> tuple[np.ndarray, np.ndarray]:
    def read(part: str, kind: str, header: int) -> np.ndarray:
        with gzip.open(DATA / "features" / f"{part}-{kind}-ubyte.gz") as stream:
            return np.frombuffer(stream.read(), np.uint8, offset=header)

    images = np.concatenate([read(part, "images-idx3", 16) for part in ("train", "t10k")]).reshape(-1, 784)
    labels = np.concatenate([read(part, "labels-idx1", 8) for part in ("train", "t10k")])
    return images.astype(np.float32) / 255, labels.astype(np.int64)


class Trial:
    """Runs of one method over seeds: median seconds, of the loop by iteration, and mean quality."""

    def __init__(self, truth: np.ndarray, run, seeds=SEEDS, before: float = 0.0):
        self.seconds, self.by_iteration, self.ari, self.nmi = [], [], [], []
        for seed in seeds:
            progress = Progress()
            start = time.perf_counter()
            result = run(rng=seed, progress=progress)
            self.seconds.append(before + time.perf_counter() - start)
            self.by_iteration.append(progress.seconds["kernel k-means"] / max(1, result.n_iter))
            self.ari.append(adjusted_rand_index(result.labels, truth))
            self.nmi.append(normalized_mutual_information(result.labels, truth))
        self.n_iter = result.n_iter

    def row(self, name: str) -> list[str]:
        return [name, str(self.n_iter), f"{np.median(self.seconds):.2f}", f"{1e3 * np.median(self.by_iteration):.1f}",
                f"{np.mean(self.ari):.3f} ± {np.std(self.ari):.3f}",
                f"{np.mean(self.nmi):.3f} ± {np.std(self.nmi):.3f}"]  # fmt: skip


HEADER = ["method", "iterations", "seconds", "ms an iteration", "ARI", "NMI"]


def against_full_batch(name: str, k: int, max_iter: int, n_plain: int) -> None:
    """Full batch on a stored matrix and with entries on demand; truncated, which never holds the matrix."""
    X, truth = features(name)
    kernel = GaussianKernel(X)
    truncated_kernel_kmeans(kernel, k, max_iter=2, rng=0)
    trials = {}
    for tau in (200, 50):
        trials[f"truncated, b = 1024, tau = {tau}"] = Trial(
            truth, lambda tau=tau, **to: truncated_kernel_kmeans(kernel, k, tau=tau, max_iter=max_iter, **to)
        )
    trials["full batch, incremental, entries on demand"] = Trial(
        truth, lambda **to: kernel_kmeans(kernel, k, max_iter=max_iter, **to)
    )
    start = time.perf_counter()
    stored = DenseKernel(kernel.block(slice(None), slice(None)))
    seconds = time.perf_counter() - start
    trials["full batch, incremental, stored matrix"] = Trial(
        truth, lambda **to: kernel_kmeans(stored, k, max_iter=max_iter, **to), before=seconds
    )
    trials[f"full batch, plain, stored matrix, {n_plain} iterations"] = Trial(
        truth, lambda **to: kernel_kmeans(stored, k, max_iter=n_plain, incremental=False, **to), [0], before=seconds
    )
    notes = (
        f"Gaussian, float32, kappa the mean squared distance. Making and checking the matrix takes {seconds:.1f} "
        f"s, and is part of the seconds. At most {max_iter} iterations; means over {len(SEEDS)} seeds. "
        f"BLAS threads: {os.environ.get('OPENBLAS_NUM_THREADS', 'all')}."
    )
    write_table(f"kernel_kmeans_{name}", f"Kernel k-means on {name}, n = {len(X)}, k = {k}", HEADER,
                [trial.row(method) for method, trial in trials.items()], notes)  # fmt: skip


def peak_megabytes() -> float:
    """The peak of this process's memory (Linux)."""
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in status if line.startswith("VmHWM"))) / 1024


def flat_in_n() -> None:
    """Truncated on MNIST: time an iteration from 10,000 to 70,000 points, and memory beyond the data."""
    X, truth = mnist()
    rows = []
    order = np.random.default_rng(0).permutation(len(X))
    X, truth = X[order], truth[order]
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    data = peak_megabytes()
    for n in (10_000, 70_000):
        start = time.perf_counter()
        kernel = GaussianKernel(X[:n])
        made = time.perf_counter() - start
        trial = Trial(truth[:n], lambda kernel=kernel, **to: truncated_kernel_kmeans(kernel, 10, **to), [0], made)
        rows.append([*trial.row(f"truncated, n = {n}"), f"{peak_megabytes() - data:.0f}"])
    write_table("kernel_kmeans_mnist", "Truncated kernel k-means on MNIST, d = 784, k = 10, b = 1024, tau = 200",
                [*HEADER, "MB beyond the data"], rows,
                "Seconds with seeding and the labels of all points.")  # fmt: skip


def rates() -> None:
    """Both rates, renormalised or not, on two small data sets."""
    rows = []
    for name, k in (("pendigits", 10), ("satellite", 6)):
        X, truth = features(name)
        kernel = GaussianKernel(X)
        for rate in ("sqrt", "count"):
            settings = {"rate": rate, "batch_size": 1024, "max_iter": 100}
            for tau in (50, 200):
                for renormalize in (True, False):
                    trial = Trial(
                        truth,
                        lambda tau=tau, renormalize=renormalize, kernel=kernel, k=k, settings=settings, **to: (
                            truncated_kernel_kmeans(kernel, k, tau=tau, renormalize=renormalize, **settings, **to)
                        ),
                    )
                    kept = "renormalised" if renormalize else "as printed"
                    rows.append(trial.row(f"{name}: {rate}, tau = {tau}, {kept}"))
            trial = Trial(
                truth,
                lambda kernel=kernel, k=k, settings=settings, **to: minibatch_kernel_kmeans(
                    kernel, k, **settings, **to
                ),
                [0],
            )
            rows.append(trial.row(f"{name}: {rate}, not truncated (one seed)"))
    write_table("kernel_kmeans_rates", "Rates and truncation, b = 1024, 100 iterations", HEADER, rows)


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["letter", "pendigits", "mnist", "rates"]
    if "letter" in wanted:
        against_full_batch("letter", 26, 200, 5)
    if "pendigits" in wanted:
        against_full_batch("pendigits", 10, 50, 10)
    if "mnist" in wanted:
        flat_in_n()
    if "rates" in wanted:
        rates()
