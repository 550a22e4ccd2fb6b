"""Kernel k-means: truncated mini-batches against full batch, plain and incremental; full batch against tslearn.

GRAPHCLUST_DATA=<folder> python tests/benchmarks/bench_kernel_kmeans.py [letter] [pendigits] [mnist] [tslearn]

All methods start from the same points for the same seed. tslearn is needed for its own comparison only.
"""

import pathlib
import sys
import time
import warnings
from collections.abc import Callable

import numba
import numpy as np
from peers_data import points as features
from scipy import sparse
from tables import write_table

from graphclust import (
    DenseKernel,
    GaussianKernel,
    PolynomialKernel,
    Progress,
    adjusted_rand_index,
    kernel_kmeans,
    normalized_mutual_information,
    truncated_kernel_kmeans,
)


def mnist() -> tuple[np.ndarray, np.ndarray]:
    images, classes = features("mnist")
    return images / 255, classes


class Trial:
    """Runs of one method, a seed each: iterations, seconds, of an iteration too, and quality."""

    def __init__(self, truth: np.ndarray, run: Callable, before: float = 0.0):
        self.truth, self.run_once, self.before = truth, run, before
        self.n_iter, self.seconds, self.by_iteration, self.ari, self.nmi = [], [], [], [], []

    def run(self, seed: int) -> None:
        progress = Progress()
        start = time.perf_counter()
        result = self.run_once(rng=seed, progress=progress)
        self.seconds.append(self.before + time.perf_counter() - start)
        self.n_iter.append(result.n_iter)
        self.by_iteration.append(progress.seconds["kernel k-means"] / max(1, result.n_iter))
        self.ari.append(adjusted_rand_index(result.labels, self.truth))
        self.nmi.append(normalized_mutual_information(result.labels, self.truth))

    def row(self, name: str) -> list[str]:
        return [name, f"{np.median(self.n_iter):.0f}", f"{np.median(self.seconds):.2f}",
                f"{1e3 * np.median(self.by_iteration):.1f}", f"{np.mean(self.ari):.3f} ± {np.std(self.ari):.3f}",
                f"{np.mean(self.nmi):.3f} ± {np.std(self.nmi):.3f}"]  # fmt: skip

    def less(self, other: "Trial") -> list[str]:
        """Mean differences of ARI and NMI, seed by seed, with standard errors."""
        pairs = (np.subtract(self.ari, other.ari), np.subtract(self.nmi, other.nmi))
        return [f"{pair.mean():+.3f} ± {pair.std(ddof=1) / np.sqrt(len(pair)):.3f}" for pair in pairs]


def gain_of_threads() -> float:
    """How many times as fast all threads are as one on sums that share nothing: virtual cores may have to share."""
    kernel = GaussianKernel(np.random.default_rng(0).normal(size=(8192, 16)).astype(np.float32))
    rows = np.arange(8192)
    votes = sparse.csc_array(np.ones((1, 8192)))

    def seconds() -> float:
        start = time.perf_counter()
        kernel.add_sums(votes, rows, slice(None), np.zeros((1, 8192)), Progress())
        return time.perf_counter() - start

    seconds()
    return float(np.median([on_one_thread(seconds)() / seconds() for _ in range(9)]))


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


# What is asked, its place among an iteration's ratio, three ratios of runs and the lesser difference, and how much.
GOALS = {
    "letter": [
        ("An iteration 30 times as fast as a plain one", 0, 30.0),
        ("A run 12 times as fast as the plain one", 1, 12.0),
        ("A run 4 times as fast as the incremental with stored matrix", 2, 4.0),
        ("A run no slower than the incremental on demand", 3, 1.0),
        ("ARI and NMI at most 0.01 less than full batch's", 4, -0.01),
    ],
    "pendigits": [
        ("A run no slower than the incremental with stored matrix", 2, 1.0),
        ("A run no slower than the incremental on demand", 3, 1.0),
        ("ARI and NMI at most 0.01 less than full batch's", 4, -0.01),
    ],
}


def against_full_batch(name: str, k: int, numbers: tuple[int, ...], n_plain: int, seeds: range) -> None:
    """Full batch on a stored matrix and with entries on demand; truncated, which never holds the matrix."""
    X, truth = features(name)
    kernel = GaussianKernel(X)
    for function in (truncated_kernel_kmeans, kernel_kmeans):
        function(kernel, k, max_iter=2, rng=0)
    start = time.perf_counter()
    K = kernel.block(slice(None), slice(None))
    made = time.perf_counter() - start
    stored = DenseKernel(K)
    checked = time.perf_counter() - start - made

    def truncated(tau: int, max_iter: int, function: Callable = truncated_kernel_kmeans) -> Trial:
        return Trial(truth, lambda **to: function(kernel, k, tau=tau, max_iter=max_iter, **to))

    trials = {f"truncated, tau = {tau}": truncated(tau, n) for n in numbers for tau in (200, 50)}
    if len(numbers) > 1:
        trials = {f"truncated, tau = {tau}, {n} iterations": truncated(tau, n) for n in numbers for tau in (200, 50)}
    first = next(iter(trials))
    trials[f"{first}, one thread"] = truncated(200, numbers[0], on_one_thread(truncated_kernel_kmeans))
    trials["full batch, incremental, entries on demand"] = on_demand = Trial(
        truth, lambda **to: kernel_kmeans(kernel, k, **to)
    )
    trials["full batch, incremental, stored matrix"] = Trial(
        truth, lambda **to: kernel_kmeans(stored, k, **to), before=made
    )
    plain = Trial(truth, lambda **to: kernel_kmeans(stored, k, max_iter=n_plain, incremental=False, **to), before=made)
    gains = [gain_of_threads()]
    in_turns(trials, seeds)
    gains.append(gain_of_threads())
    in_turns({"": plain}, range(2))
    by_iteration = float(np.median(plain.by_iteration))
    whole = made + by_iteration * float(np.median(on_demand.n_iter))
    rows = [[*trial.row(method), *trial.less(on_demand)] for method, trial in trials.items()]
    rows.append(["full batch, plain, stored matrix", f"{np.median(on_demand.n_iter):.0f}", f"{whole:.2f} *",
                 f"{1e3 * by_iteration:.1f}", "the same", "the same", "", ""])  # fmt: skip
    ratios, reached = [], {}
    for method, trial in trials.items():
        seconds = float(np.median(trial.seconds))
        demanded, with_matrix = (np.median(trials[other].seconds) for other in list(trials)[-2:])
        others = whole, with_matrix, with_matrix + checked, demanded
        times = ", ".join(f"{other / seconds:.1f}" for other in others)
        if method.startswith("truncated"):
            iteration = by_iteration / float(np.median(trial.by_iteration))
            ratios.append(f"{method}: an iteration {iteration:.0f}, a run {times}.")
            worst = min(np.subtract(trial.ari, on_demand.ari).mean(), np.subtract(trial.nmi, on_demand.nmi).mean())
            reached[method] = iteration, whole / seconds, with_matrix / seconds, demanded / seconds, worst
    goals = []
    for what, place, least in GOALS[name]:
        met = "; ".join(method.removeprefix("truncated, ") for method in reached if reached[method][place] >= least)
        goals.append(f"{what}: {met or 'none'}.")
    notes = (
        f"Gaussian, float32, kappa the mean squared distance; b = 1024; medians of seconds and means of quality over "
        f"{len(seeds)} seeds, methods in turns. Making the matrix took {made:.1f} s and is part of the seconds, "
        f"checking that it is symmetric {checked:.1f} s and is not. * An iteration, the median of {2 * n_plain}, times "
        "the iterations that the incremental one took, and the matrix. Two threads did "
        f"{gains[0]:.2f} times the work of one before the runs and {gains[1]:.2f} times after.\n\n"
        "Differences are those to full batch from the same points, mean and standard error.\n\n"
        "Times as fast as the plain iteration; as the plain run, the "
        "incremental with stored matrix, that with the check, the incremental on demand:\n\n- " + "\n- ".join(ratios)
        + "\n\nGoals, and the truncated runs that meet them:\n\n- " + "\n- ".join(goals)
    )  # fmt: skip
    header = [*HEADER, "ARI less full batch's", "NMI less full batch's"]
    write_table(f"kernel_kmeans_{name}", f"Kernel k-means on {name}, n = {len(X)}, k = {k}", header, rows, notes)


def peak_megabytes() -> float:
    """The peak of this process's memory (Linux)."""
    status = pathlib.Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in status if line.startswith("VmHWM"))) / 1024


def flat_in_n() -> None:
    """Truncated on MNIST: time an iteration from 10,000 to 70,000 points, and memory beyond the data."""
    X, truth = mnist()
    order = np.random.default_rng(0).permutation(len(X))
    X, truth = X[order], truth[order]
    truncated_kernel_kmeans(X[:3000], 10, max_iter=1, rng=0)
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak from here on
    data = peak_megabytes()
    trials, peaks = {}, {}
    for n in (10_000, 70_000):
        for tau in (50, 200):
            trials[n, tau] = Trial(
                truth[:n], lambda n=n, tau=tau, **to: truncated_kernel_kmeans(GaussianKernel(X[:n]), 10, tau=tau, **to)
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


def against_tslearn() -> None:
    """Full batch of both from the same random labels on 5,000 points; the cost each reports, and the true one."""
    warnings.simplefilter("ignore")
    from tslearn.clustering import KernelKMeans

    X, truth = (array[:5000] for array in features("pendigits"))
    X = X.astype(np.float64)
    gaussian = GaussianKernel(X)
    scale = 1.0 / float((X**2).sum(axis=1).mean())
    kernels = {"Gaussian": (gaussian, {"kernel": "rbf", "kernel_params": {"gamma": 1.0 / gaussian.kappa}}),
               "(x.y scaled + 1)^2": (PolynomialKernel(X, 2, scale), {
                   "kernel": "polynomial", "kernel_params": {"degree": 2, "gamma": scale, "coef0": 1.0}})}  # fmt: skip
    rows, ratios = [], []
    for name, (kernel, settings) in kernels.items():
        seconds = {}
        for seed in range(3):
            theirs = KernelKMeans(10, random_state=seed, **settings)
            start = time.perf_counter()
            theirs.fit(X)
            seconds.setdefault("tslearn", []).append(time.perf_counter() - start)
            init = np.random.RandomState(seed).randint(10, size=len(X))  # where theirs starts
            kernel_kmeans(kernel, 10, init=init, max_iter=1)
            start = time.perf_counter()
            ours = kernel_kmeans(
                type(kernel)(X, *((kernel.kappa,) if name == "Gaussian" else (2, scale))), 10, init=init
            )
            seconds.setdefault("graphclust", []).append(time.perf_counter() - start)
            true = kernel_kmeans(kernel, 10, init=theirs.labels_, max_iter=1).history
            for package, n_iter, labels, cost, right in (
                ("tslearn", theirs.n_iter_, theirs.labels_, theirs.inertia_, true[0] if len(true) else ours.cost),
                ("graphclust", ours.n_iter, ours.labels, ours.cost, ours.cost),
            ):
                rows.append([name, str(seed), package, str(n_iter), f"{seconds[package][-1]:.2f}",
                             f"{adjusted_rand_index(labels, truth):.3f}", f"{cost:.2f}", f"{right:.2f}"])  # fmt: skip
        ratio = np.median(np.divide(seconds["tslearn"], seconds["graphclust"]))
        ratios.append(f"{name}: {ratio:.1f} times as fast (median of three).")
    notes = (
        "float64; the same random labels to start from, 50 iterations at most for tslearn (its default); seconds with "
        "kernel entries. tslearn takes k(x, x) and |c|^2 for 1: where they are not, all points run together, it tries "
        "ten times, and returns what the last try left (0 iterations). " + " ".join(ratios)
    )
    header = ["kernel", "start", "package", "iterations", "seconds", "ARI", "cost reported", "its true cost"]
    title = "Full-batch kernel k-means on 5,000 points of PenDigits, k = 10"
    write_table("kernel_kmeans_tslearn", title, header, rows, notes)


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["letter", "pendigits", "mnist", "tslearn"]
    if "letter" in wanted:
        against_full_batch("letter", 26, (200,), 5, range(10))
    if "pendigits" in wanted:
        against_full_batch("pendigits", 10, (50, 200), 10, range(40))
    if "mnist" in wanted:
        flat_in_n()
    if "tslearn" in wanted:
        against_tslearn()
