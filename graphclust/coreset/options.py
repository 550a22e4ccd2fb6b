"""What a method of `coreset_sc` is told of a coreset, and what it hands back.

`Coreset` is how a coreset is drawn, and how the published algorithm clusters it; one value, checked when it is made.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from graphclust.checks import as_choice, as_number, as_whole_number
from graphclust.compiled.graphs.objective import ClusterSums
from graphclust.coreset.sampling import SAMPLINGS, SECOND_TERMS, CoresetSample
from graphclust.objective.kernel import LOOP_POLICIES

EMBEDDINGS = ("auto", "eigsh", "power")
DEGREES = ("row_sums", "weights")


@dataclass(frozen=True, kw_only=True, repr=False)
class Coreset:
    """How `coreset_sc` draws a coreset and, from `loops` on, how method "paper" clusters it.

    size : draws of the importance sample, >= k, or a share of the nodes below 1. None (default) takes so many that each
        of them shares some 20 neighbors with others, at least 24 k; for "paper" a twentieth of the nodes, at least
        1,000 and 20 k. From the number of nodes on, the coreset is the whole graph.
    oversampling : > 0, seeds of D²-sampling, as a multiple of k.
    sampling : "tree" (default) or "naive" D²-sampling, see `d2_seeding`; "parallel", see `construct_coreset`, with
        which "two-step" works in steps over blocks of rows, as it does on a cluster of machines; or "uniform", a
        baseline without importance sampling.
    loops, shift : the diagonal of the kernel, see `NormalizedCutKernel`; implied loops never count in the quality.
    second_term, rounds : of the importance sampling, see `sampling_probabilities` and `construct_coreset`.
    embedding : of the coreset graph, "eigsh" (exact) or "power" (fast); "auto" (default) takes eigsh up to 64 clusters.
    degrees : D of the normalized coreset graph D^-1/2 A_H D^-1/2: the "row_sums" of A_H (default), as in the authors'
        code, or the coreset's "weights", as Algorithm 3 prints. They are equal in expectation alone.

    Raises ParameterError (a value out of range, an unknown word) and TypeError (of the wrong type).

    Source: Jourdan et al. 2025, Algorithms 3 to 5.

    >>> Coreset(size=0.05, sampling="naive")
    Coreset(size=0.05, sampling='naive')
    """

    size: float | None = None
    oversampling: float = 2.0
    sampling: str = "tree"
    loops: str = "implied"
    shift: float = 0.0
    second_term: str = "seed_weight"
    rounds: int = 1
    embedding: str = "auto"
    degrees: str = "row_sums"

    def __post_init__(self) -> None:
        """Keep each value as its check returns it."""
        checked = {
            "size": self.size if self.size is None else _as_size(self.size),
            "oversampling": as_number(self.oversampling, "oversampling", above=0.0),
            "sampling": as_choice(self.sampling, "sampling", SAMPLINGS),
            "loops": as_choice(self.loops, "loops", LOOP_POLICIES),
            "shift": as_number(self.shift, "shift", at_least=0.0),
            "second_term": as_choice(self.second_term, "second_term", SECOND_TERMS),
            "rounds": as_whole_number(self.rounds, "rounds", at_least=1),
            "embedding": as_choice(self.embedding, "embedding", EMBEDDINGS),
            "degrees": as_choice(self.degrees, "degrees", DEGREES),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Coreset({', '.join(f'{name}={value!r}' for name, value in self.given().items())})"

    @property
    def draws(self) -> int | None:
        """The size, where it is given and no share."""
        return None if self.size is None else int(self.size)

    def given(self) -> dict[str, object]:
        """What differs from the defaults."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}


def _as_size(value: object) -> int | float:
    if isinstance(value, float):
        return as_number(value, "size", above=0.0, below=1.0)
    return as_whole_number(value, "size", at_least=1, why=", or a share of the nodes below 1")


@dataclass(frozen=True, eq=False)
class CoresetClustering:
    """The coreset a clustering came from.

    nodes : int64, shape (m,), rows of the graph, increasing.
    weights : float64, shape (m,).
    labels : int64, shape (m,), their clusters in the numbering of `Clustering.labels`: in the published algorithm those
        they had before the labels were extended, which may differ; otherwise the final ones.
    """

    nodes: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int64]

    def __repr__(self) -> str:
        return f"CoresetClustering(nodes={len(self.nodes)}, weight={self.weights.sum():.6g})"


@dataclass(frozen=True)
class Outcome:
    """Labels of all nodes of the graph that was clustered, and how they came about.

    decided : stage -> share of the nodes that got their first label there, for methods that label step by step.
    doubtful : whether a look at more of the graph is likely to find better clusters.
    remarks : what the reader of the labels should know, one sentence each.
    sums : of the clusters, by the terms of the objective, where the method has them and none was estimated.
    """

    labels: np.ndarray
    coreset: CoresetSample | None = None
    coreset_labels: np.ndarray | None = None
    undecided: np.ndarray | None = None
    entries_read: dict[str, int] = field(default_factory=dict)
    decided: dict[str, float] = field(default_factory=dict)
    doubtful: bool = False
    remarks: tuple[str, ...] = ()
    sums: ClusterSums | None = None
