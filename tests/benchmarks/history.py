"""Speed over time: ten questions on ten graphs, for a list of commits, and their drawing.

    python tests/benchmarks/history.py --last 5               # HEAD, and four commits evenly back to the first
    python tests/benchmarks/history.py COMMIT ... HEAD        # these, the oldest first
    python tests/benchmarks/history.py --check main HEAD      # ends with 1 where a question takes a tenth more

The sources of each commit are taken from the repository's own history into --keep, with loops that are compiled once.
Their processes take turns, question by question, so that a busy machine slows all; what counts is processor time of one
thread, the median of --repeats, so that other processes count for little. Commits that cannot do something, or not yet,
have a gap there; a star beside milliseconds says that the labels are not those of the commit before. One run is kept in
results/history.json and drawn to docs/development/history.png: figures of two runs cannot be compared. Without commits
what is kept is drawn.
"""

import contextlib
import io
import itertools
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tarfile
from typing import Any

from harness import RESULTS, asked

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = RESULTS / "history.json"
PICTURE = ROOT / "docs" / "development" / "history.png"
MORE = 1.1  # a question that takes so much longer than before is told
TICKS = (0.125, 0.25, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 4, 8, 16)
LEAST = 0.002  # seconds; questions that take less say nothing

# Runs in each commit: needs nothing of this folder, and makes graphs without the package's generators, which change.
WORKER = r"""
import hashlib, json, sys, time, warnings
warnings.filterwarnings("ignore")
sys.path.insert(0, sys.argv[1])
import numpy as np
from scipy import sparse
import graphclust as gc

def planted(blocks, size, inside, outside, heavy, seed):
    # Degrees of a power law where heavy; edges are drawn with repetition, and joined.
    rng = np.random.default_rng(seed)
    n = blocks * size
    share = np.minimum(rng.pareto(2.5, n) + 1, n ** 0.5) if heavy else np.ones(n)
    ends = [(b * size + rng.choice(size, (2, size * inside // 2), p=(part := share[b * size:][:size]) / part.sum()))
            for b in range(blocks)]
    ends.append(rng.choice(n, (2, n * outside // 2), p=share / share.sum()))
    u, v = np.concatenate(ends, axis=1)
    A = sparse.coo_array((np.ones(len(u)), (u, v)), shape=(n, n)).tocsr()
    A = sparse.csr_array(A + A.T - 2 * sparse.diags_array(A.diagonal()))
    A.eliminate_zeros()
    A.data[:] = 1.0
    return A, blocks

def points(n, k, seed):
    # Ten nearest neighbors on a line of blobs, weighted.
    from scipy.spatial import cKDTree
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) + 3.0 * rng.normal(size=(k, 5))[np.arange(n) % k]
    far, near = cKDTree(X).query(X, 11)
    A = sparse.csr_array((np.exp(-far[:, 1:].ravel()), near[:, 1:].ravel(), np.arange(0, 10 * n + 1, 10)), shape=(n, n))
    return sparse.csr_array(A.maximum(A.T)), k

def grid(side):
    line = sparse.diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1])
    return sparse.csr_array(sparse.kronsum(line, line)), 16

GRAPHS = {
    "blocks": lambda: planted(20, 250, 12, 3, False, 1), "heavy blocks": lambda: planted(30, 200, 10, 4, True, 2),
    "many blocks": lambda: planted(300, 20, 8, 2, False, 3), "few blocks": lambda: planted(4, 1500, 14, 4, False, 4),
    "faint blocks": lambda: planted(10, 400, 10, 8, False, 5), "sparse blocks": lambda: planted(15, 400, 3, 1, True, 6),
    "dense blocks": lambda: planted(10, 150, 60, 30, False, 7), "points": lambda: points(5000, 12, 8),
    "grid": lambda: grid(70), "large": lambda: planted(40, 1000, 10, 3, True, 9),
}

def edited(A, k, rng):
    found = gc.communities(A, rng=0)
    pairs = np.random.default_rng(0).integers(0, A.shape[0], (20, 2)).tolist()
    added = [(u, v) for u, v in pairs if u != v and not A[u, v]]
    start = time.process_time()
    return found.update(added=added, rng=rng), start

ASKS = {
    "exactly k": lambda A, k, rng: gc.coreset_sc(A, k, rng=rng),
    "normalized cut": lambda A, k, rng: gc.coreset_sc(A, k, objective="normalized_cut", rng=rng),
    "two steps": lambda A, k, rng: gc.coreset_sc(A, k, method="two-step", rng=rng),
    "communities": lambda A, k, rng: gc.communities(A, rng=rng),
    "bounded": lambda A, k, rng: gc.communities(A, max_size=A.shape[0] // k, rng=rng),
    "well-connected": lambda A, k, rng: gc.communities(A, connectivity="well", rng=rng),
    "equal parts": lambda A, k, rng: gc.balanced_partition(A, 8, rng=rng),
    "levels": lambda A, k, rng: gc.hierarchy(A, max_size=20, rng=rng),
    "every k": lambda A, k, rng: gc.cluster_path(A, range(1, k + 1), rng=rng),
    "update": edited,
}

def digest(found):
    # Of all labels: of some k of a path, each of which is a search, and of each level of a hierarchy.
    parts = [found[k] for k in found.ks[::20]] if hasattr(found, "ks") else [found]
    labels = [getattr(part, "levels" if hasattr(part, "levels") else "labels") for part in parts]
    return hashlib.sha256(np.concatenate([np.ravel(one) for one in labels]).astype(int).tobytes()).hexdigest()

print(json.dumps(gc.__file__), flush=True)
made = {}
for line in sys.stdin:
    task = json.loads(line)
    made = made if task["graph"] in made else {task["graph"]: GRAPHS[task["graph"]]()}
    try:
        start = time.process_time()
        found = ASKS[task["ask"]](*made[task["graph"]], task["seed"])
        found, start = found if isinstance(found, tuple) else (found, start)
        seconds = time.process_time() - start
        print(json.dumps([seconds, digest(found)]), flush=True)
    except Exception as problem:
        print(json.dumps(f"{type(problem).__name__}: {problem}"[:200]), flush=True)
"""
GRAPHS, ASKS = (
    re.findall(r'"([\w -]+)": (?:lambda|edited)', part) for part in WORKER.split("GRAPHS = ")[1].split("ASKS = ")
)


def git(*words: str) -> str:
    """What git says."""
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout.strip()


def evenly(n: int) -> list[str]:
    """HEAD and commits before it, evenly back to the first that has the package."""
    line = git("rev-list", "--first-parent", "HEAD", "--", "graphclust").split()
    return [line[round(at * (len(line) - 1) / max(n - 1, 1))] for at in reversed(range(n))]


def start_worker(commit: str, keep: pathlib.Path) -> subprocess.Popen:
    """A process in which the package is that of a commit."""
    folder = keep / commit[:12]
    if not folder.exists():
        packed = subprocess.run(["git", "-C", ROOT, "archive", commit, "graphclust"], capture_output=True, check=True)
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # from Python 3.11.4 on
            archive.extractall(folder / "source")
    environment = os.environ | {
        "GRAPHCLUST_COMPILE": "always",
        "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", str(keep / "loops")),
        "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(folder / "source")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, env=environment, cwd=folder,
    )  # fmt: skip
    imported = process.stdout.readline()
    if imported and str(folder) not in imported:
        raise SystemExit(f"{commit}: {imported} was imported, expected the package in {folder}")
    return process


def measure(commits: list[str], arguments: Any) -> dict[str, Any]:
    """commit -> what is known of it: its day and subject, and the seconds of each question of each graph."""
    workers = {commit: start_worker(commit, arguments.keep) for commit in commits}
    found: dict[str, Any] = {
        commit: {"day": git("log", "-1", "--format=%cs", commit), "subject": git("log", "-1", "--format=%s", commit),
                 "seconds": {ask: {} for ask in ASKS}}
        for commit in commits
    }  # fmt: skip

    def answer(commit: str, graph: str, ask: str, seed: int) -> list | str:
        """Seconds and a hash of the labels, or why there are none."""
        process = workers[commit]
        with contextlib.suppress(BrokenPipeError):  # what died is a gap
            process.stdin.write(json.dumps({"graph": graph, "ask": ask, "seed": seed}) + "\n")
            process.stdin.flush()
        return json.loads(process.stdout.readline() or '"died"')

    for graph in arguments.graphs:
        for ask in ASKS:
            able = [commit for commit in commits if isinstance(answer(commit, graph, ask, 0), list)]  # and compiled
            seen: dict[str, list] = {commit: [] for commit in able}
            for seed in range(arguments.repeats):
                for commit in able:
                    seen[commit].append(answer(commit, graph, ask, seed))
            cells, before = [], None
            for commit, answers in seen.items():
                seconds, labels = zip(*answers, strict=True)
                found[commit]["seconds"][ask][graph] = statistics.median(seconds)
                changed = "*" if before not in (None, labels) else " "
                cells, before = [*cells, f"{1e3 * statistics.median(seconds):9.1f}{changed}"], labels
            print(f"{graph:14} {ask:16}", *cells, flush=True)
    for process in workers.values():
        process.stdin.close()
        process.wait()
    return found


def ratio(after: dict[str, Any], before: dict[str, Any], ask: str) -> float | None:
    """The geometric mean over graphs of the seconds of a question, over those of another commit."""
    one, other = after["seconds"][ask], before["seconds"][ask]
    shared = [one[graph] / other[graph] for graph in one if other.get(graph, 0.0) > LEAST]
    return statistics.geometric_mean(shared) if shared else None


def draw(known: dict[str, Any]) -> None:
    """A line for each question: seconds as a multiple of those of the last commit."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    commits = [one for one in git("rev-list", "--first-parent", "--reverse", "HEAD").split() if one in known]
    figure, ax = plt.subplots(figsize=(9, 4.5))
    for number, ask in enumerate(ASKS):
        ratios = [ratio(known[commit], known[commits[-1]], ask) for commit in commits]
        places = [at for at, value in enumerate(ratios) if value is not None]
        style = ("-", "--")[number // 5]
        ax.plot(places, [ratios[at] for at in places], style, marker="o", color=f"C{number % 5}", label=ask)
    ax.set_yscale("log", base=2)
    low, high = ax.get_ylim()
    ax.set_yticks([tick for tick in TICKS if low < tick < high])
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    ax.axhline(1.0, color="0.8", zorder=0)
    ax.set_xticks(range(len(commits)), [f"{known[commit]['day'][5:]}\n{commit[:7]}" for commit in commits], fontsize=8)
    ax.set_ylabel("seconds, as a multiple of the last commit's")
    ax.legend(ncols=2, fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=100, metadata={"Software": None})


def main() -> int:
    """Read the arguments, measure, draw, and tell what became slower."""
    arguments = asked(
        __doc__, {"commits": {"nargs": "*"}}, last=0, check=False, repeats=3,
        graphs={"nargs": "+", "default": GRAPHS, "choices": GRAPHS},
        keep=pathlib.Path.home() / ".cache" / "graphclust-history",
    )  # fmt: skip
    commits = evenly(arguments.last) if arguments.last else [git("rev-parse", commit) for commit in arguments.commits]
    known: dict[str, Any] = measure(commits, arguments) if commits else json.loads(KEPT.read_text())
    slower = []
    for before, after in itertools.pairwise(commits):
        for ask in ASKS:
            value = ratio(known[after], known[before], ask)
            print(f"{before[:7]} -> {after[:7]} {ask:16}", "    -" if value is None else f"x{value:.2f}")
            slower += [ask] if value is not None and value > MORE else []
    if arguments.check:
        return int(bool(slower))
    KEPT.write_text(json.dumps(known, indent=1) + "\n")
    draw(known)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
