"""Kernel k-means: truncated mini-batches against full batch, plain and incremental, and on more and more points.

GRAPHCLUST_DATA=<folder> python tests/benchmarks/bench_kernel_kmeans.py [letter] [mnist]

All methods start from the same points for the same seed.
"""

import pathlib
import sys
from collections.abc import Callable

import numba
import numpy as np
from harness import write_table
from peers_data import points as features
from tools import timed

import graphclust as gc


def mnist() -> tuple[np.ndarray, np.ndarray]:
    images, classes = features("mnist")
    return images / 255, classes


class Trial:
    """Runs of one method, a seed each: iterations, seconds, of an iteration too, and quality."""

    def __init__(self, truth: np.ndarray, run: Callable, before: float = 0.0):
        self.truth, self.run_once, self.before = truth, run, before
        self.n_iter, self.seconds, self.by_iteration, self.ari, self.nmi = [], [], [], [], []

    def run(self, seed: int) -> None:
        progress = gc.Progress()
        seconds, result = timed(self.run_once, rng=seed, progress=progress)
        self.seconds.append(self.before + seconds)
        self.n_iter.append(result.n_iter)
        self.by_iteration.append(progress.seconds["kernel k-means"] / max(1, result.n_iter))
        self.ari.append(gc.adjusted_rand_index(result.labels, self.truth))
        self.nmi.append(gc.normalized_mutual_information(result.labels, self.truth))

    def row(self, name: str) -> list[str]:
        return [name, f"{np.median(self.n_iter):.0f}", f"{np.median(self.seconds):.2f}",
                f"{1e3 * np.median(self.by_iteration):.1f}", f"{np.mean(self.ari):.3f} ± {np.std(self.ari):.3f}",
                f"{np.mean(self.nmi):.3f} ± {np.std(self.nmi):.3f}"]  # fmt: skip

    def less(self, other: "Trial") -> list[str]:
        """Mean differences of ARI and NMI, seed by seed, with standard errors."""
        pairs = (np.subtract(self.ari, other.ari), np.subtract(self.nmi, other.nmi))
        return [f"{pair.mean():+.3f} ± {pair.std(ddof=1) / np.sqrt(len(pair)):.3f}" for pair in pairs]


HEADER = ["method", "iterations", "seconds", "ms an iteration", "ARI", "NMI"]


def in_turns(trials: dict[str, Trial], seeds: range) -> None:
    for seed in seeds:
        for trial in trials.values():
            trial.run(seed)


def on_one_thread(function: Callable) -> Callable:
    def run(*args, **settings):
        n_threads = numba.get_num_threads()
        numba.set_num_threads(1)
        try:
            return function(*args, **settings)
        finally:
            numba.set_num_threads(n_threads)

    return run


def against_full_batch(seeds: range = range(10), n_iter: int = 200, n_plain: int = 5) -> None:
    """On the letters: full batch on a stored matrix and with entries on demand; truncated, which never holds it."""
    X, truth = features("letter")
    k, kernel = 26, gc.GaussianKernel(X)
    for function in (gc.truncated_kernel_kmeans, gc.kernel_kmeans):
        function(kernel, k, max_iter=2, rng=0)
    made, K = timed(kernel.block, slice(None), slice(None))
    checked, stored = timed(gc.DenseKernel, K)

    def truncated(tau: int, function: Callable = gc.truncated_kernel_kmeans) -> Trial:
        return Trial(truth, lambda **to: function(kernel, k, tau=tau, max_iter=n_iter, **to))

    on_demand = Trial(truth, lambda **to: gc.kernel_kmeans(kernel, k, **to))
    with_matrix = Trial(truth, lambda **to: gc.kernel_kmeans(stored, k, **to), before=made)
    trials = {f"truncated, tau = {tau}": truncated(tau) for tau in (200, 50)}
    trials["truncated, tau = 200, one thread"] = truncated(200, on_one_thread(gc.truncated_kernel_kmeans))
    trials["full batch, incremental, entries on demand"] = on_demand
    trials["full batch, incremental, stored matrix"] = with_matrix
    plain = Trial(
        truth, lambda **to: gc.kernel_kmeans(stored, k, max_iter=n_plain, incremental=False, **to), before=made
    )
    in_turns(trials, seeds)
    in_turns({"": plain}, range(2))
    by_iteration = float(np.median(plain.by_iteration))
    whole = made + by_iteration * float(np.median(on_demand.n_iter))
    rows = [[*trial.row(method), *trial.less(on_demand)] for method, trial in trials.items()]
    rows.append(["full batch, plain, stored matrix", f"{np.median(on_demand.n_iter):.0f}", f"{whole:.2f} *",
                 f"{1e3 * by_iteration:.1f}", "the same", "the same", "", ""])  # fmt: skip
    ratios, demanded, taken = [], np.median(on_demand.seconds), np.median(with_matrix.seconds)
    for method, trial in trials.items():
        if method.startswith("truncated"):
            iteration = by_iteration / float(np.median(trial.by_iteration))
            others = whole, taken, taken + checked, demanded
            times = ", ".join(f"{other / np.median(trial.seconds):.1f}" for other in others)
            ratios.append(f"{method}: an iteration {iteration:.0f}, a run {times}.")
    notes = (
        f"Gaussian, float32, kappa the mean squared distance; b = 1024; medians of seconds and means of quality over "
        f"{len(seeds)} seeds, methods in turns. Making the matrix took {made:.1f} s and is part of the seconds, "
        f"checking that it is symmetric {checked:.1f} s and is not. * An iteration, the median of {2 * n_plain}, times "
        "the iterations that the incremental one took, and the matrix.\n\n"
        "Differences are those to full batch from the same points, mean and standard error.\n\n"
        "Times as fast as the plain iteration; as the plain run, the "
        "incremental with stored matrix, that with the check, the incremental on demand:\n\n- " + "\n- ".join(ratios)
    )  # fmt: skip
    header = [*HEADER, "ARI less full batch's", "NMI less full batch's"]
    write_table("kernel_kmeans_letter", f"Kernel k-means on letter, n = {len(X)}, k = {k}", header, rows, notes)


def peak_megabytes() -> float:
    """The peak of this process's memory (Linux)."""
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in status if line.startswith("VmHWM"))) / 1024


def flat_in_n() -> None:
    """Truncated on MNIST: time an iteration from 10,000 to 70,000 points, and memory beyond the data."""
    X, truth = mnist()
    order = np.random.default_rng(0).permutation(len(X))
    X, truth = X[order], truth[order]
    gc.truncated_kernel_kmeans(X[:3000], 10, max_iter=1, rng=0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    data = peak_megabytes()
    trials, peaks = {}, {}
    for n in (10_000, 70_000):
        for tau in (50, 200):
            trials[n, tau] = Trial(
                truth[:n],
                lambda n=n, tau=tau, **to: gc.truncated_kernel_kmeans(gc.GaussianKernel(X[:n]), 10, tau=tau, **to),
            )
            trials[n, tau].run(0)
            peaks[n, tau] = peak_megabytes() - data
    in_turns(trials, range(1, 3))
    by_iteration = {size: np.median(trial.by_iteration) for size, trial in trials.items()}
    flat = ", ".join(f"{by_iteration[70_000, tau] / by_iteration[10_000, tau]:.2f} at tau = {tau}" for tau in (50, 200))
    write_table("kernel_kmeans_mnist", "Truncated kernel k-means on MNIST, d = 784, k = 10, b = 1024",
                [*HEADER, "MB beyond the data"],
                [[*trial.row(f"n = {n}, tau = {tau}"), f"{peaks[n, tau]:.0f}"] for (n, tau), trial in trials.items()],
                f"Seconds with seeding and the labels of all points; three seeds. An iteration on 70,000 points takes "
                f"{flat} times what it takes on 10,000.")  # fmt: skip


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["letter", "mnist"]
    if "letter" in wanted:
        against_full_batch()
    if "mnist" in wanted:
        flat_in_n()
