"""`graphclust demo` and `graphclust compile`: what to type first on a new machine."""

import argparse
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphclust.faces.cli import options as shared
from graphclust.faces.cli.terminal import show

if TYPE_CHECKING:
    from graphclust import Clustering
    from graphclust.progress import Progress

BLOCKS, BLOCK_SIZE, P, Q = 50, 1_000, 0.09, 0.0002  # about 90 neighbors inside the block, 10 outside


def show_demo(command: shared.Parser) -> shared.Runner:
    """Print one page after the other."""
    shared.add_shared(command, "--seed")

    def run(options: argparse.Namespace) -> None:
        for page in demo(seed=options.seed, progress=options.progress):
            if not options.quiet:
                show(page)

    return run


DEMO = shared.Command(
    "demo", "cluster a planted graph, and a real one", show_demo,
    "graphclust demo           a planted graph of 50,000 nodes, and the karate club",
    "graphclust demo --seed 3  another planted graph",
)  # fmt: skip


def demo(seed: int, progress: "Progress") -> Iterator[str]:
    """Pages of text: each graph, its stages with times, sizes, normalized cut and ARI against the known labels."""
    from graphclust.generators import stochastic_block_model
    from graphclust.io.load import classic_graph
    from graphclust.partition.coreset_sc import coreset_sc
    from graphclust.progress import Progress

    yield f"A stochastic block model: {BLOCKS} blocks of {BLOCK_SIZE:,} nodes, p = {P}, q = {Q}\n"
    start = time.perf_counter()
    graph, planted_labels = stochastic_block_model([BLOCK_SIZE] * BLOCKS, P, Q, rng=seed)
    yield f"  planted in {time.perf_counter() - start:.2f} s"
    start = time.perf_counter()
    coreset_sc(graph, BLOCKS, rng=seed)
    yield f"  loops compiled in {time.perf_counter() - start:.2f} s, once; from now on they come from the cache"
    clustering = coreset_sc(graph, BLOCKS, rng=seed, progress=Progress(progress.listener))
    yield _page(clustering, planted_labels, "the planted blocks")

    yield "\nZachary's karate club, its ties without weights: 34 members and the two clubs they split into\n"
    graph, clubs = classic_graph("karate")
    clustering = coreset_sc(graph, 2, rng=seed, progress=Progress(progress.listener))
    yield _page(clustering, clubs, "the two clubs")


def _page(clustering: "Clustering", known_labels: Any, what: str) -> str:
    from graphclust.objective.agreement import adjusted_rand_index

    index = adjusted_rand_index(known_labels, clustering.labels)
    return f"{clustering}\n\n  ARI against {what}: {index:.4f}"


def compile_loops(command: shared.Parser) -> shared.Runner:
    """Compile, and say what was."""
    command.add_argument(
        "--into", metavar="DIR",
        help="keep the loops in DIR, for other users and read-only mounts: processes read them, and need not write, "
        "where the environment has GRAPHCLUST_LOOPS=DIR",
    )  # fmt: skip

    def run(options: argparse.Namespace) -> None:
        from graphclust.faces.precompile import compile_ahead  # not for the help: it imports all

        said = compile_ahead(options.progress, options.into)
        if not options.quiet:
            show(said)

    return run


COMPILE = shared.Command(
    "compile", "compile the loops of points and undirected graphs ahead, for images and slow first calls",
    compile_loops,
    "graphclust compile                     once on a new machine",
    "graphclust compile --into /opt/loops   as a step of building an image; read where GRAPHCLUST_LOOPS=/opt/loops",
)  # fmt: skip
