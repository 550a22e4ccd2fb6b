"""Three of scikit-learn's own examples, their code but for the drawing, given the classes to use: theirs or ours.

plot_kmeans_digits.py, plot_mini_batch_kmeans.py and plot_cluster_comparison.py of scikit-learn 1.5, by its authors
(BSD-3-Clause). Each returns what it scores, higher being better.
"""

import warnings
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def kmeans_digits(cluster: Any, random_state: int = 0) -> dict[str, float]:
    """A demo of k-means clustering on the handwritten digits data."""
    data, labels = datasets.load_digits(return_X_y=True)
    kmeans = cluster.KMeans(init="k-means++", n_clusters=np.unique(labels).size, n_init=4, random_state=random_state)
    estimator = make_pipeline(StandardScaler(), kmeans).fit(data)[-1]
    return {"- inertia / 69,000": -estimator.inertia_ / 69_000, "ARI": adjusted_rand_score(labels, estimator.labels_)}


def mini_batch_kmeans(cluster: Any, random_state: int = 0) -> dict[str, float]:
    """Comparison of the k-means and mini-batch k-means clustering algorithms."""
    np_random_state = 0
    centers = [[1, 1], [-1, -1], [1, -1]]
    X, labels_true = datasets.make_blobs(n_samples=3000, centers=centers, cluster_std=0.7, random_state=np_random_state)
    mbk = cluster.MiniBatchKMeans(
        init="k-means++",
        n_clusters=3,
        batch_size=45,
        n_init=10,
        max_no_improvement=10,
        verbose=0,
        random_state=random_state,
    )
    mbk.fit(X)
    return {"- inertia / 2,500": -mbk.inertia_ / 2_500, "ARI": adjusted_rand_score(labels_true, mbk.labels_)}


def cluster_comparison(cluster: Any, random_state: int = 42) -> dict[str, float]:
    """Comparing different clustering algorithms on toy datasets: its spectral clustering."""
    n_samples, seed = 500, 30
    blobs = datasets.make_blobs(n_samples=n_samples, random_state=seed)
    X, y = datasets.make_blobs(n_samples=n_samples, random_state=170)
    toys = {
        "circles": (datasets.make_circles(n_samples=n_samples, factor=0.5, noise=0.05, random_state=seed), 2),
        "moons": (datasets.make_moons(n_samples=n_samples, noise=0.05, random_state=seed), 2),
        "varied": (datasets.make_blobs(n_samples=n_samples, cluster_std=[1.0, 2.5, 0.5], random_state=170), 3),
        "stretched": ((np.dot(X, [[0.6, -0.6], [-0.4, 0.8]]), y), 3),
        "blobs": (blobs, 3),
    }
    found = {}
    for name, ((X, y), n_clusters) in toys.items():
        X = StandardScaler().fit_transform(X)
        spectral = cluster.SpectralClustering(
            n_clusters=n_clusters, eigen_solver="arpack", affinity="nearest_neighbors", random_state=random_state
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Graph is not fully connected", category=UserWarning)
            spectral.fit(X)
        found[f"ARI of {name}"] = adjusted_rand_score(y, spectral.labels_)
    return found


EXAMPLES = {"plot_kmeans_digits": kmeans_digits, "plot_mini_batch_kmeans": mini_batch_kmeans,
            "plot_cluster_comparison": cluster_comparison}  # fmt: skip
